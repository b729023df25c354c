import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { damagedLedger } from './damage.ts';
import { MAX_ENTRY_BYTES } from './objects.ts';

/** The version of what is written. Entries of version 1 are read: their keys have another salt. */
const VERSION = 2;

const text = z.string().check(z.maxLength(1000));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const time = text.check(z.refine((at) => !Number.isNaN(Date.parse(at))));
const count = z.int().check(z.nonnegative());

/** The members that every entry gets when it is appended. */
const COMMON = {
  version: z.literal([1, VERSION]),
  /** The SHA-256 of the entry before, and null in the first. */
  previous: z.nullable(sha256),
  at: text,
  by: z.looseObject({ host: text, user: text, version: text, claimed: z.optional(text) }),
};

const job = text.check(z.minLength(1));

/**
 * How the keys of an entry's sets are salted: 2 stands for the tenant. Entries of version 1 have a salt of their own ledger,
 * which `salt` names where such an entry was copied from another ledger.
 */
const KEYS = { keys: z.optional(z.literal(2)), salt: z.optional(sha256) };

/** These rows belong to this job. At most one claim of a job stands. */
const CLAIM = {
  kind: z.literal('claim'),
  job,
  ...KEYS,
  /** The times of the job, as the service gave them. */
  created_at: time,
  expires_at: z.nullable(time),
  /** The name of the set of rows, or null if the rows are unknown: then the claim may have any row. */
  row_set: z.nullable(sha256),
  rows: count,
  /** The number of the job among those of its file, in the order of the rows. */
  part: count,
  file: z.looseObject({ name: text, sha256, rows: count }),
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
 * Somebody read the results of the job. `born` names the set of new tokens, and is null if they are unknown or an earlier
 * entry names it; `closed` names that of closed accounts. `results` says what was read. `delivered` is false if the results
 * were read only to know these tokens; without the member, they were delivered. If a later reading finds other results,
 * another such entry follows.
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

/** The rows of the job's claim are free. `proof` says what was read. */
const RELEASE = { kind: z.literal('release'), job, why: z.enum(['failed', 'gone', 'operator']), proof: text };

const entrySchema = z.discriminatedUnion('kind', [
  z.looseObject({ ...COMMON, ...CLAIM }),
  z.looseObject({ ...COMMON, ...DONE }),
  z.looseObject({ ...COMMON, ...RELEASE }),
]);

const claimBody = z.object(CLAIM);
const doneBody = z.object(DONE);
const releaseBody = z.object(RELEASE);

/** An entry of a cycle. Members that this version does not know are kept. */
export type Entry = z.infer<typeof entrySchema>;
export type ClaimEntry = Extract<Entry, { kind: 'claim' }>;
export type DoneEntry = Extract<Entry, { kind: 'done' }>;
export type Keys = Pick<ClaimEntry, 'keys' | 'salt'>;
export type Who = ClaimEntry['by'];

/** What ends a claim, or adds to it. */
export type EndBody = z.infer<typeof doneBody> | z.infer<typeof releaseBody>;
export type EntryBody = z.infer<typeof claimBody> | EndBody;

/** Returns what an entry says, without who made it and when. */
export function bodyOf(entry: Entry): EntryBody {
  if (entry.kind === 'claim') return claimBody.parse(entry);
  return entry.kind === 'done' ? doneBody.parse(entry) : releaseBody.parse(entry);
}

/** Returns the bytes of an entry. @throws SvcError `config` for one that no machine could read again */
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

/** Returns the name of an entry below its cycle. */
export function entryName(number: number): string {
  return `${String(number).padStart(8, '0')}.json`;
}

/** Tells whether bytes are an entry, of this version or a newer one. */
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

/** What the ledger knows of a job: the cycle that it belongs to, or that another system created it. */
type Mark = z.infer<typeof markSchema>;

/** Returns the bytes of the mark of a job of a cycle. */
export function markBytes(cycle: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version: 1, cycle })}\n`);
}

/** Reads a mark. `place` is its name in messages. @throws SvcError `config` for one that is empty or cut */
export function parseMark(bytes: Uint8Array, place: string): Mark {
  const mark = markSchema.safeParse(parsedJson(Buffer.from(bytes).toString()));
  if (!mark.success) throw damagedLedger(place, 'it is no mark of a job');
  return mark.data;
}
