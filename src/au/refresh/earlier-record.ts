// Reads the records of builds before the first release, whose cycles had a request file for each export. This file can go after
// the first release.
import * as z from 'zod/mini';
import { SQL_DIALECTS } from './update-sql.ts';

const earlierSchema = z.looseObject({
  version: z.literal(2),
  cycle: z.string(),
  files: z.optional(z.record(z.string(), z.array(z.string()))),
  own: z.optional(z.array(z.string())),
  writing: z.optional(z.literal(true)),
  sql: z.optional(z.enum(SQL_DIALECTS)),
  requests: z.array(
    z.looseObject({
      export: z.string(),
      export_sha256: z.string(),
      options: z.array(z.string()),
      form: z.optional(z.string()),
      request_sha256: z.string(),
      dropped: z.optional(z.record(z.string(), z.int())),
      excluded_tokens: z.optional(z.int()),
      excluded_at: z.optional(z.string()),
      submitted: z.optional(z.literal(true)),
      run: z.optional(z.string()),
      report_of: z.optional(z.string()),
    }),
  ),
});

/** Returns the file names of a request by the index of its export. */
function namesOf(place: number): { readonly request: string; readonly keep: string } {
  const number = place === 0 ? '' : `-${place + 1}`;
  return { request: `request${number}.csv`, keep: `request${number}.keep.csv` };
}

/** Converts the record of an earlier build to today's members; undefined for any other file. */
export function readEarlierRecord(content: unknown) {
  const { data } = earlierSchema.safeParse(content);
  if (data === undefined) return undefined;
  const { cycle, own = [], sql, writing } = data;
  const sent = data.requests.flatMap((request, place) =>
    request.submitted || request.run !== undefined ? [{ ...request, ...namesOf(place) }] : [],
  );
  const last = sent.at(-1);
  const counted = data.requests.flatMap(({ excluded_tokens: tokens, excluded_at: at = '' }) =>
    tokens === undefined ? [] : [{ tokens, at }],
  );
  const isFinished = last !== undefined && !writing && sent.every(({ report_of: of }) => of !== undefined);
  return {
    cycle,
    exports: sent.map(({ export: name, export_sha256: sha256, options, form }) => ({ name, sha256, options, form })),
    files: {
      ...Object.fromEntries(own.map((name) => [name, []])),
      ...data.files,
      ...Object.fromEntries(
        data.requests.map(({ request_sha256: sha256 }, place) => [namesOf(place).request, [sha256]]),
      ),
    } as Record<string, string[]>,
    dropped: last?.dropped,
    claimed: last?.request_sha256,
    excluded: counted.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1),
    finished: isFinished ? (true as const) : undefined,
    sql,
    /** The files of the requests that are joined into one. */
    requests: sent.length > 1 ? sent.map(({ request, keep }) => ({ request, keep })) : undefined,
  };
}
