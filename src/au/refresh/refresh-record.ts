import * as z from 'zod/mini';
import { refuseNewer } from '../../base/errors.ts';
import { readEarlierRecord } from './earlier-record.ts';
import { SQL_DIALECTS } from './update-sql.ts';

const VERSION = 3;

const recordSchema = z.looseObject({
  version: z.literal(VERSION),
  cycle: z.string(),
  /** The exports whose rows are in the request, the newest last. `form` is what exports of the same columns have in common. */
  exports: z.array(
    z.looseObject({ name: z.string(), sha256: z.string(), options: z.array(z.string()), form: z.optional(z.string()) }),
  ),
  /** The SHA-256 of each file as the refresh wrote it, and behind that as it is about to write it; none if any content may go. */
  files: z.record(z.string(), z.array(z.string())),
  /** The number of rows of the newest export that are not in the request, by the reason. */
  dropped: z.optional(z.record(z.string(), z.int())),
  /** The SHA-256 of the request whose rows were claimed last. */
  claimed: z.optional(z.string()),
  /** The number of tokens on the list of exclusions, and when they were counted. */
  excluded: z.optional(z.looseObject({ tokens: z.int(), at: z.string() })),
  /** What was made of the results, and of which: the rows that the next cycle leaves out, and those of the next request. */
  made: z.optional(z.looseObject({ of: z.string(), left_out: z.optional(z.int()), next_rows: z.optional(z.int()) })),
  /** Set once all files have the results of the request. */
  finished: z.optional(z.literal(true)),
  /** The database for which `update.sql` is written. */
  sql: z.optional(z.enum(SQL_DIALECTS)),
  /** The files of the requests of an earlier build, until they are one. */
  requests: z.optional(z.array(z.looseObject({ request: z.string(), keep: z.string() }))),
});

/** What a cycle's directory records: the exports that were read, and the files that the refresh wrote. */
export type RefreshRecord = z.infer<typeof recordSchema>;

/** Returns the record of a cycle that has not begun. Its members keep their order, so that a file changes only with them. */
export function newRecord(cycle: string): RefreshRecord {
  const later = { dropped: undefined, claimed: undefined, excluded: undefined, made: undefined };
  return { version: VERSION, cycle, exports: [], files: {}, ...later, finished: undefined, sql: undefined };
}

/** Returns a record from the content of its file; undefined if it is damaged. @throws SvcError `config` for a newer one */
export function readRecord(content: unknown, file: string): RefreshRecord | undefined {
  refuseNewer(content, VERSION, file);
  const { data } = recordSchema.safeParse(content);
  const known = data ?? readEarlierRecord(content);
  return known && { ...newRecord(known.cycle), ...known, version: VERSION };
}
