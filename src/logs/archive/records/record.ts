// The format of an archive's records, and the names of its files.

import * as z from 'zod/mini';
import { type ErrorCode, type SvcError, isSvcError, refuseNewer } from '../../../base/errors.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import { parseTime } from '../../../cli/output/time.ts';
import { damagedFile } from '../../../client/store/store-errors.ts';
import type { Store, StoreContent, StoredFile } from '../../../client/store/store.ts';
import { positionSchema } from '../../position.ts';
import { parsedJson } from '../../../schema/json-value.ts';
import type { Log } from '../../../schema/log.ts';

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());
const time = z.iso.datetime();
const day = z.iso.date();

/** What a record says of a signed review. Members are in the order in which they are written. */
const reviewSchema = z.looseObject({
  /** What was reviewed: the entries of a `day`, or the `access` of all actors. A newer svc may know more. */
  of: z.string().check(z.minLength(1)),
  /** The first and the last reviewed day, UTC. */
  from: day,
  to: day,
  /** The number of entries of these days that the archive had. */
  entries: count,
  /** The times of these days that the archive did not cover, and why. */
  missing: z.array(z.looseObject({ from: time, to: time, reason: z.string() })),
  /**
   * The number of findings of each kind: of deletions and changes the groups of entries, otherwise actors or operations. Null
   * for a kind that could not be judged.
   */
  findings: z.record(z.string(), z.nullable(count)),
  /** The number of log entries of each kind. Reviews of access do not have it. */
  findings_entries: z.optional(z.record(z.string(), z.nullable(count))),
  /** The hash of the reviewed object: the printed one, without its location, counts, signatures and record. */
  sha256,
  /** The hash of the page that was written for the review, if there was one. */
  page_sha256: z.optional(sha256),
  /** The newest record at the time of the review, and its hash: together they identify the reviewed archive. */
  record: count,
  record_sha256: sha256,
  /** Who signed: a typed name, or the user and host. */
  by: z.string().check(z.minLength(1)),
  /** The user and host that ran the command. */
  account: z.string().check(z.minLength(1)),
  note: z.optional(z.string()),
});

/** What a record says of a signed review. */
export type ReviewContent = z.infer<typeof reviewSchema>;

const SEGMENT_PATH = /^tenant=[^/]+\/date=(\d{4}-\d\d-\d\d|unknown)\/part-\d{8,}-[0-9a-f]{12}\.(jsonl|raw)\.gz$/;

const segmentSchema = z.looseObject({
  path: z.string().check(z.regex(SEGMENT_PATH)),
  entries: count.check(z.positive()),
  /** The size of the compressed file. */
  bytes: count.check(z.positive()),
  /** The hash of the compressed file. */
  sha256,
  /** The earliest created_at; null if no entry has a readable time. */
  first: z.nullable(time),
  last: z.nullable(time),
  /** Whether the entries arrived late, in a time range that an earlier commit had already covered. */
  supplementary: z.boolean(),
});

const monthSchema = z.looseObject({
  month: z.string().check(z.regex(/^\d{4}-\d\d$/)),
  segments: count,
  entries: count,
  bytes: count,
});

const SIDE_FILE = /^_manifest\/(?:position|checkpoint)-(\d{8,})-[0-9a-f]{12}\.json$/;
const sideFileSchema = z.looseObject({ path: z.string().check(z.regex(SIDE_FILE)), sha256 });

/** The version of records. */
export const VERSION = 2;

const linkSchema = z.looseObject({
  version: z.literal(VERSION),
  sequence: count,
  previous: z.nullable(sha256),
  /** Where the next run continues. A long list of `passed` entries is in a separate file, which only the next writer reads. */
  position: z.extend(positionSchema, { passed: z.union([positionSchema.shape.passed, sideFileSchema]) }),
  /** The newest file with a copy of all records' content so far. */
  checkpoint: z.optional(sideFileSchema),
});

/** What every record says of its writing. */
const written = {
  /** By the service's clock; in a signed review, for which no request is sent, by the machine's. */
  written_at: time,
  /** Milliseconds by which the writing machine's clock was ahead of the service's, where that was more than two seconds. */
  clock_ahead_ms: z.optional(z.int()),
};

/** The content of a record, without its place in the chain. */
export const contentSchema = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('begin'),
    ...written,
    service: z.string(),
    tenant_id: z.string(),
    /** The requested beginning. Without one, the archive begins with everything that the service still had. */
    since: z.nullish(time),
  }),
  z.looseObject({
    kind: z.literal('segments'),
    ...written,
    segments: z.array(segmentSchema),
    read_from: time,
    read_to: time,
    /** A signed review. Such a record lists no segment and covers no time. */
    review: z.optional(reviewSchema),
  }),
  z.looseObject({ kind: z.literal('gap'), ...written, from: time, to: time }),
  /** Months dropped by retention: all segments in earlier records with days before `before`. */
  z.looseObject({ kind: z.literal('dropped'), ...written, before: time, months: z.array(monthSchema), by: z.string() }),
]);

const recordSchema = z.intersection(contentSchema, linkSchema);

/** A complete file of entries. Times are RFC 3339, UTC, with milliseconds. */
export type Segment = z.infer<typeof segmentSchema>;

/** A file beside the records, proven by its hash in a record. */
export type SideFile = z.infer<typeof sideFileSchema>;

/** The content of a record, without its place in the chain. */
export type RecordContent = z.infer<typeof contentSchema>;

/** A record in an archive's chain. Creating it commits all files that it names. */
export type ArchiveRecord = z.infer<typeof recordSchema>;

/** The number of segments, entries and bytes dropped with one month. */
export type DroppedMonth = z.infer<typeof monthSchema>;

/** A record of dropped months: which, when and by whom. */
export type DropRecord = Extract<RecordContent, { kind: 'dropped' }>;

/** A record of a signed review. */
export type ReviewRecord = Extract<RecordContent, { kind: 'segments' }> & { readonly review: ReviewContent };

/** The first record, which names the service and the tenant. */
export type BeginRecord = Extract<RecordContent, { kind: 'begin' }>;

/** A record with the hash of its bytes, which the next record names. */
export interface Link {
  readonly record: ArchiveRecord;
  readonly path: string;
  readonly sha256: string;
}

/** Returns the file name of a segment. Raw segments have another extension, because some JSON readers would reject them. */
export function segmentName(sequence: number, sha256: string, isRaw: boolean): string {
  return `part-${String(sequence).padStart(8, '0')}-${sha256.slice(0, 12)}.${isRaw ? 'raw' : 'jsonl'}.gz`;
}

/** Whether a file has a name that segments have. */
export function isSegmentPath(path: string): boolean {
  return SEGMENT_PATH.test(path);
}

/** Returns the record number in the path of a segment; NaN if there is none. */
export function partNumber(path: string): number {
  return Number(/\/part-(\d+)-/.exec(path)?.[1] ?? Number.NaN);
}

/** Returns the day in the path of a segment. `unknown` sorts after all dates. */
export function dayIn(path: string): string {
  return /\/date=([^/]+)\//.exec(path)?.[1] ?? UNKNOWN_DAY;
}

/** Whether a record is a signed review. */
export function isReview(record: RecordContent): record is ReviewRecord {
  return record.kind === 'segments' && record.review !== undefined;
}

/** Whether a record of entries covers no time: it is a signed review, or adds only what killed runs left. */
export function coversNothing(record: RecordContent): boolean {
  return record.kind === 'segments' && record.read_from === record.read_to;
}

/** Whether a record drops the segment at a path, provided that an earlier record lists it. */
export function isDroppedBy({ before }: Pick<DropRecord, 'before'>, path: string): boolean {
  return dayIn(path) < before.slice(0, 10);
}

/** Whether a file contains entries that some JSON readers reject. */
export function isRawSegment({ path }: Pick<Segment, 'path'>): boolean {
  return path.endsWith('.raw.gz');
}

/** The folder of all records, and the file that names the newest one. */
export const MANIFEST = '_manifest/';
export const HEAD = `${MANIFEST}head.json`;

/** Whether a file is ignored, because its name or the name of one of its folders begins with a dot. */
export function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

export function recordPath(sequence: number): string {
  return `${MANIFEST}${String(sequence).padStart(8, '0')}.json`;
}

/** Returns the number of the record at a path; undefined for any other file. */
export function sequenceOf(path: string): number | undefined {
  const digits = /^_manifest\/(\d{8,})\.json$/.exec(path)?.[1];
  return digits === undefined || recordPath(Number(digits)) !== path ? undefined : Number(digits);
}

/** Returns the path of a file beside the records that belongs to the record with this number. */
export function sidePath(kind: 'position' | 'checkpoint', sequence: number, sha256: string): string {
  return `${MANIFEST}${kind}-${String(sequence).padStart(8, '0')}-${sha256.slice(0, 12)}.json`;
}

/** Returns the number of the record that a file beside the records belongs to; NaN for any other file. */
export function sideNumber(path: string): number {
  return Number(SIDE_FILE.exec(path)?.[1] ?? Number.NaN);
}

export function recordText(record: ArchiveRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * Parses the text of a record.
 * @throws SvcError `checksum_mismatch` for a damaged record, `config` for one of a newer version
 */
export function parseRecord(text: string, path: string): Link {
  const value = parsedJson(text);
  if (value === undefined) throw damaged(path, text === '' ? 'it is empty' : 'it is not JSON');
  refuseNewer(value, VERSION, path);
  const result = recordSchema.safeParse(value);
  if (!result.success) {
    const where = result.error.issues[0]?.path.join('.') ?? '';
    throw damaged(path, where === '' ? 'it is not a record' : `${where} is not valid`);
  }
  return { record: result.data, path, sha256: sha256Of(text) };
}

/** The problem of a file that is gone. */
export const MISSING = 'it is missing';

export function damaged(path: string, problem: string): SvcError {
  return damagedFile(path, problem, ARCHIVE);
}

/** What the store of an archive contains. */
export const ARCHIVE: StoreContent = {
  noun: 'archive',
  writers: 'one',
  damageHint:
    'Nothing was overwritten. Verify the archive to see all problems; restore the file from a backup, and archive to another directory until then, because the service forgets its logs.',
};

/** The day of entries without a readable time. */
export const UNKNOWN_DAY = 'unknown';

const MAX_NAME_LENGTH = 200;
const EARLIEST = Date.parse('0000-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Returns an entry's time in epoch milliseconds; undefined if it is unreadable or its year does not have four digits. */
export function entryTime({ created_at }: Pick<Log, 'created_at'>): number | undefined {
  return withinYears(parseTime(created_at));
}

export function withinYears(at: number | undefined): number | undefined {
  return at === undefined || at < EARLIEST || at > LATEST ? undefined : at;
}

export function dayOf(at: number | undefined): string {
  return at === undefined ? UNKNOWN_DAY : new Date(at).toISOString().slice(0, 10);
}

/** Returns the folder of a tenant's entries. An id that makes no good file name is replaced by its hash. */
export function tenantFolder(tenantId: string): string {
  // `encodeURIComponent` throws for half of a surrogate pair.
  const name = /\p{Cs}/u.test(tenantId) ? '' : encodeURIComponent(tenantId);
  const isGood = name !== '' && name.length <= MAX_NAME_LENGTH;
  return `tenant=${isGood ? name : sha256Of(tenantId)}`;
}

/** The prefix of all paths of segments. */
export const SEGMENTS = 'tenant=';

/** The part of a record that names files. */
type Naming = RecordContent & Pick<ArchiveRecord, 'position' | 'checkpoint'>;

/** The files that a record names, by kind. */
interface NamedFiles {
  readonly segments: readonly { readonly path: string }[];
  /** The files beside the records. */
  readonly side: readonly SideFile[];
}

/** Returns every file that a record names. Whoever lists, checks or removes files of an archive asks this function. */
export function filesNamedBy(record: Naming): NamedFiles {
  const { passed } = record.position;
  const side = [Array.isArray(passed) ? undefined : passed, record.checkpoint].filter((file) => file !== undefined);
  if (record.kind !== 'segments') return { segments: [], side };
  return { segments: record.segments, side };
}

/** Returns the paths of all files that a record names. */
export function pathsNamedBy(record: Naming): string[] {
  const { segments, side } = filesNamedBy(record);
  return [...segments, ...side].map(({ path }) => path);
}

/**
 * Lists the files of the kinds that records name: segments, and files beside the records. With a day (UTC), segments only
 * from that day on.
 */
export async function* namedKinds(store: Store, day?: string): AsyncGenerator<StoredFile> {
  if (day === undefined) yield* store.list(SEGMENTS);
  else
    for (const name of await store.names())
      if (name.startsWith(SEGMENTS)) yield* store.list(name, `${name}date=${day}`);
  for await (const file of store.list(MANIFEST, `${MANIFEST}a`)) if (!Number.isNaN(sideNumber(file.path))) yield file;
}

/** Returns the number of the record that a file was written for; NaN for any other file. */
export function writtenFor(path: string): number {
  return path.startsWith(SEGMENTS) ? partNumber(path) : sideNumber(path);
}

/**
 * Resolves to the result of work; undefined if a file is damaged or missing, which some buckets report as forbidden. Work
 * that only reads may add the code `local` for unreadable files. Failed writes must stay errors.
 * @throws any other error
 */
export async function unlessDamaged<T>(work: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isSvcError(error, 'not_found', 'checksum_mismatch', 'forbidden', ...codes)) return undefined;
    throw error;
  }
}
