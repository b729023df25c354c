import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../errors.ts';
import { isObject, parsedJson } from '../schema/guards.ts';
import type { Proof } from '../transfer/receive.ts';
import type { RequestFileCheck } from './request-file.ts';
import { countText } from '../output/time.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());
const maybe = z.exactOptional;

const resultsFile = z.object({ file: text, bytes: count, sha256: text });

const partSchema = z.object({
  /** Counted from 1. */
  number: count,
  first_row: count,
  rows: count,
  /** Offsets in the input file, in bytes; the header is not in between. */
  start: count,
  end: count,
  /** Of the upload, header included. */
  bytes: count,
  sha256: text,
  // The service may have the file of an unknown part, and nothing says so: a later response or the operator settles it.
  state: z.enum([
    'planned',
    'creating',
    'created',
    'uploading',
    'uploaded',
    'completed',
    'downloaded',
    'failed',
    'unknown',
  ]),
  job: maybe(text),
  /** When the request that creates the job was sent, in the service's time, as all times of a part are. */
  creating_since: maybe(text),
  /** When the upload began. */
  sent_at: maybe(text),
  /** Written before each step is taken; older records have none: see `sentOf`. */
  sent: maybe(z.custom<Sent>(isText)),
  /** When the upload address of its job expires. */
  expires_at: maybe(text),
  /** Since when every poll has found its job missing. */
  missing_since: maybe(text),
  /** When its job was first seen completed. */
  done_at: maybe(text),
  /** Jobs that it went to before, the latest last: deleted, as one without a file is after an hour, or failed. */
  earlier_jobs: maybe(
    z.array(
      z.object({
        job: text,
        ended: z.custom<'gone' | 'failed'>(() => true),
        /** When its upload began, of a job that is gone although all of its file was sent. */
        sent_at: maybe(text),
      }),
    ),
  ),
  /** The job's status at the last poll, as the service says it. */
  seen: maybe(text),
  /** The service's reasons of a failed job. */
  errors: maybe(z.array(text)),
  /** The results as they came, in the run's directory. Those of earlier versions do not say what proved them. */
  results: maybe(z.extend(resultsFile, { proof: maybe(z.custom<Proof | 'content' | 'operator'>(() => true)) })),
  /** Results that came the same each time and are not proven whole: kept for the operator to judge. */
  unproven: maybe(resultsFile),
});

const recordSchema = z.object({
  version: z.literal(1),
  id: text,
  created_at: text,
  profile: text,
  base_url: text,
  /** Other base URLs at which its tenant was recognized. */
  also_at: maybe(z.array(text)),
  /** The tenant of its jobs, once the first was created or the key was proven to belong to it. */
  tenant_id: maybe(text),
  /** What the operator calls this refresh of the file, such as `2026-12`: a file has one run for each. */
  cycle: maybe(text),
  /** The request file. */
  input: z.object({
    /** As the operator called it. */
    name: text,
    /** Where it was; undefined for standard input, which cannot be read again. */
    path: maybe(text),
    rows: count,
    bytes: count,
    sha256: text,
    header_bytes: count,
  }),
  /** Where the merged results go: an absolute path. */
  out: maybe(text),
  /** Uploads: slices of the input file below the header, each with the job that it goes to. */
  parts: z.array(partSchema).check(z.minLength(1)),
  /** Merged results that are about to get their name, or to be replaced: the file is known as the run's own. */
  writing: maybe(resultsFile),
  /** The merged results, once they are written. */
  results: maybe(resultsFile),
  /** `due` from the completion of the run until the command of `--exec` has succeeded. */
  exec: maybe(z.custom<'due'>(() => true)),
  /** When the operator abandoned it; the service processes its jobs all the same. */
  abandoned_at: maybe(text),
  /** When the results that it kept were removed; it is no longer listed. */
  pruned_at: maybe(text),
});

/** A run: everything needed to resume it, on this machine or another. Members of later versions are kept. */
export type RunRecord = z.infer<typeof recordSchema>;

/** One upload of a run. */
export type RunPart = z.infer<typeof partSchema>;

/** How far a part has come. An `…ing` state is recorded before the act: after a crash it says what to look into. */
export type PartState = RunPart['state'];

/** How far a part's file got: not whole, whole (the store may have it), or surely stored. */
export type Sent = 'some' | 'all' | 'stored';

/** A file of results: its name or path, its size in bytes, and its hexadecimal hash. */
export type ResultsFile = z.infer<typeof resultsFile>;

/** The results of a part, and what proved them. */
export type PartResults = NonNullable<RunPart['results']>;

/** A job that a part had before. */
export type EarlierJob = NonNullable<RunPart['earlier_jobs']>[number];

/** What the parts of a run come to. */
export type RunStatus = 'open' | 'failed' | 'completed' | 'abandoned';

/** `failed` only when nothing else is left to do; `completed` when every part's results are here. */
export function statusOf({ parts, abandoned_at }: Pick<RunRecord, 'parts' | 'abandoned_at'>): RunStatus {
  if (parts.every(({ state }) => state === 'downloaded')) return 'completed';
  if (abandoned_at !== undefined) return 'abandoned';
  return parts.every(({ state }) => state === 'downloaded' || state === 'failed') ? 'failed' : 'open';
}

/** Whether any part still has to be uploaded, so that the input file is needed. */
export function needsFile({ parts }: { readonly parts: readonly Pick<RunPart, 'state'>[] }): boolean {
  return parts.some(({ state }) => ['planned', 'creating', 'created', 'uploading'].includes(state));
}

/** Whether it is unknown of some part whether the service has its file. */
export function hasUnknown({ parts }: { readonly parts: readonly Pick<RunPart, 'state'>[] }): boolean {
  return parts.some(({ state }) => state === 'unknown');
}

/** How far a run is: one job's status in the service's word, or how many of several are done and what the others do. */
export function progressOf({ parts }: Pick<RunRecord, 'parts'>): string {
  const [only] = parts;
  if (parts.length === 1 && only) return only.state === 'unknown' ? only.state : (only.seen ?? only.state);
  const open = parts.filter(({ state }) => state !== 'completed' && state !== 'downloaded');
  const others = new Map<string, number>();
  for (const { state, seen } of open) {
    const word = state === 'uploaded' ? (seen ?? state) : state;
    others.set(word, (others.get(word) ?? 0) + 1);
  }
  const counted = [...others].map(([word, count]) => `, ${count} ${word}`);
  return `${parts.length - open.length} of ${countText(parts.length, 'job')} done${counted.join('')}`;
}

/** How far a part's file got. Where an older record does not say, the store is assumed to have what it may have. */
export function sentOf({ state, sent, sent_at: sentAt }: Pick<RunPart, 'state' | 'sent' | 'sent_at'>): Sent {
  if (state === 'planned' || state === 'creating') return 'some';
  if (sent !== undefined) return sent === 'some' || sent === 'all' ? sent : 'stored';
  if (state === 'uploading') return 'all';
  if (state === 'created') return sentAt === undefined ? 'some' : 'all';
  return 'stored';
}

/** The parts of a checked file, with nothing done yet. */
export function plannedParts(check: Pick<RequestFileCheck, 'parts'>): RunPart[] {
  return check.parts.map(({ firstRow, rows, start, end, bytes, sha256 }, index) => ({
    number: index + 1,
    first_row: firstRow,
    rows,
    start,
    end,
    bytes,
    sha256,
    state: 'planned',
  }));
}

/** The text of a record, as it is stored. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Reads the text of a record. @throws SvcError `config` for one that is damaged or of a newer version */
export function parseRecord(content: string, file: string): RunRecord {
  const value = parsedJson(content);
  refuseNewer(value, 1, file);
  const problem = problemOf(value);
  if (problem === undefined) return value as RunRecord;
  throw new SvcError('config', `${file} is damaged: ${problem}`, {
    hint: 'It was left unchanged. The jobs themselves are safe, and their results can be downloaded by job.',
    next: ['au', 'jobs'],
    facts: { file },
  });
}

function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'not a JSON object';
  const { error, data } = recordSchema.safeParse(value);
  const [member, at] = error?.issues[0]?.path ?? [];
  const isInPart = member === 'parts' && typeof at === 'number';
  if (error && !isInPart) return `${String(member)} is missing or malformed`;
  const bad = isInPart ? at : (data?.parts.findIndex((part) => !isConsistent(part)) ?? -1);
  return bad === -1 ? undefined : `part ${bad + 1} is malformed`;
}

function isConsistent({ state, job, results }: RunPart): boolean {
  if (state === 'downloaded' && results === undefined) return false;
  return state === 'planned' || state === 'creating' || job !== undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
