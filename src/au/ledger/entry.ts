// The format of a ledger's entries: `claim`, `done` and `release`, and of the mark that names the cycle of a job.

import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { damagedLedger } from './damage.ts';
import { MAX_ENTRY_BYTES } from './objects.ts';

/** The version of new entries. Entries of version 1, whose keys have another salt, are still read. */
const VERSION = 2;

const text = z.string().check(z.maxLength(1000));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const time = text.check(z.refine((at) => !Number.isNaN(Date.parse(at))));
const count = z.int().check(z.nonnegative());

/** The members of every entry. */
const COMMON = {
  version: z.literal([1, VERSION]),
  /** The SHA-256 of the previous entry; null in the first. */
  previous: z.nullable(sha256),
  at: text,
  by: z.looseObject({ host: text, user: text, version: text, claimed: z.optional(text) }),
};

const job = text.check(z.minLength(1));

/**
 * The salt of the keys in an entry's sets: `keys: 2` means the tenant. Entries of version 1 have the salt of their ledger, or
 * `salt` if they were copied from another ledger.
 */
const KEYS = { keys: z.optional(z.literal(2)), salt: z.optional(sha256) };

/** Gives rows to a job. At most one claim of a job stands. */
const CLAIM = {
  kind: z.literal('claim'),
  job,
  ...KEYS,
  /** The times of the job, as the service gave them. */
  created_at: time,
  expires_at: z.nullable(time),
  /** The name of the set of rows; null if the rows are unknown, so that the claim may have any row. */
  row_set: z.nullable(sha256),
  rows: count,
  /** The number of the job within its file, in the order of the rows. */
  part: count,
  /** The file that was submitted. `row_sets` names the sets of its rows that had no job, if there were rows for several jobs. */
  file: z.looseObject({ name: text, sha256, rows: count, row_sets: z.optional(z.array(sha256)) }),
  bytes: count,
  sha256,
};

const results = z.looseObject({
  bytes: count,
  sha256,
  rows: count,
  codes: z.array(z.looseObject({ code: text, rows: count })),
});

/**
 * Records that somebody read the results of a job. `born` names the set of new tokens; null if they are unknown or an earlier
 * entry names the set. `closed` names the set of closed accounts. `results` describes the results file. `delivered` is false if
 * the results were read only for their tokens. A later reading that finds other results adds another entry.
 */
const DONE = {
  kind: z.literal('done'),
  job,
  ...KEYS,
  born: z.nullable(sha256),
  closed: z.optional(sha256),
  results: z.optional(results),
  delivered: z.optional(z.boolean()),
};

/** Frees the rows of a job's claim, `refused` because another cycle has them. `proof` is the reason in words. */
const RELEASE = {
  kind: z.literal('release'),
  job,
  why: z.enum(['failed', 'gone', 'refused', 'operator']),
  proof: text,
};

/** Records that the operator left rows out of the cycle that no job has. They belong to the file of a job's claim. */
const LEFT_OUT = { kind: z.literal('left_out'), job, ...KEYS, row_set: sha256 };

const entrySchema = z.discriminatedUnion('kind', [
  z.looseObject({ ...COMMON, ...CLAIM }),
  z.looseObject({ ...COMMON, ...DONE }),
  z.looseObject({ ...COMMON, ...RELEASE }),
  z.looseObject({ ...COMMON, ...LEFT_OUT }),
]);

const claimBody = z.object(CLAIM);
const doneBody = z.object(DONE);
const releaseBody = z.object(RELEASE);
const leftOutBody = z.object(LEFT_OUT);

/** An entry of a cycle. Unknown members are kept. */
export type Entry = z.infer<typeof entrySchema>;
export type ClaimEntry = Extract<Entry, { kind: 'claim' }>;
export type DoneEntry = Extract<Entry, { kind: 'done' }>;
export type Keys = Pick<ClaimEntry, 'keys' | 'salt'>;
export type Who = ClaimEntry['by'];

/** The body of an entry that follows a claim. */
export type EndBody = z.infer<typeof doneBody> | z.infer<typeof releaseBody> | z.infer<typeof leftOutBody>;
export type EntryBody = z.infer<typeof claimBody> | EndBody;

/** Returns the body of an entry, without its author and time. */
export function bodyOf(entry: Entry): EntryBody {
  if (entry.kind === 'claim') return claimBody.parse(entry);
  if (entry.kind === 'left_out') return leftOutBody.parse(entry);
  return entry.kind === 'done' ? doneBody.parse(entry) : releaseBody.parse(entry);
}

/** Returns the bytes of an entry. @throws SvcError `config` for an entry that could not be read again */
export function entryBytes(
  body: EntryBody,
  common: { readonly previous: string | null; readonly at: string; readonly by: Who },
): Uint8Array {
  const entry = { version: VERSION, ...common, ...body };
  const [issue] = entrySchema.safeParse(entry).error?.issues ?? [];
  if (issue === undefined) return Buffer.from(`${JSON.stringify(entry)}\n`);
  throw new SvcError('config', `the ledger takes no ${body.kind} with this ${issue.path.join('.')}; nothing was sent`, {
    hint: 'Contact support with the job id.',
    facts: { job: body.job },
  });
}

/** Returns the name of an entry in the folder of its cycle. */
export function entryName(number: number): string {
  return `${String(number).padStart(8, '0')}.json`;
}

/** Tells whether bytes are an entry of this version or a newer one. */
export function isEntry(bytes: Uint8Array): boolean {
  const value = parsedJson(Buffer.from(bytes).toString());
  return z.looseObject({ version: z.number(), previous: z.nullable(sha256) }).safeParse(value).success;
}

/** Reads an entry. `name` is its place in messages. @throws SvcError `config` for a damaged entry or one of a newer version */
export function parseEntry(bytes: Uint8Array, name: string): Entry {
  if (bytes.byteLength > MAX_ENTRY_BYTES) throw damagedLedger(name, `it has ${bytes.byteLength} bytes`);
  const value = parsedJson(Buffer.from(bytes).toString());
  refuseNewer(value, VERSION, name);
  const result = entrySchema.safeParse(value);
  if (!result.success) throw damagedLedger(name, 'it is no entry of a ledger');
  return result.data;
}

const markSchema = z.union([z.object({ cycle: z.string() }), z.object({ ignored_at: z.string() })]);

/** The mark of a job: the cycle that it belongs to, or the time at which the operator ignored it. */
type Mark = z.infer<typeof markSchema>;

/** Returns the mark of a job of a cycle. */
export function markBytes(cycle: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version: 1, cycle })}\n`);
}

/** Reads a mark. `place` is its name in messages. @throws SvcError `config` for an empty or cut mark */
export function parseMark(bytes: Uint8Array, place: string): Mark {
  const mark = markSchema.safeParse(parsedJson(Buffer.from(bytes).toString()));
  if (!mark.success) throw damagedLedger(place, 'it is no mark of a job');
  return mark.data;
}
