import { countText, utcTime } from '../../cli/output/time.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { doubtEnd, isForgotten, isMissing, isUnsent, nextAct, type Part, type ResultsFile } from './part.ts';

/** A run, with everything needed to resume it on this or another machine. */
export interface RunRecord {
  readonly version: 2;
  readonly id: string;
  readonly created_at: string;
  /** The profile of the last submission before anything was sent. */
  readonly profile: string;
  readonly base_url: string;
  /** Other base URLs at which the run's tenant was recognized. */
  readonly also_at?: readonly string[] | undefined;
  /** The tenant of the run's jobs. Set when the first job is created or the key's tenant is proven. */
  readonly tenant_id?: string | undefined;
  /** The operator's name for this refresh, such as `2026-12`. A file has one run per cycle. */
  readonly cycle?: string | undefined;
  /** The request file. */
  readonly input: {
    /** The name that the operator typed. */
    readonly name: string;
    /** The original path; undefined for standard input, which cannot be read again. */
    readonly path?: string | undefined;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly header_bytes: number;
    /** The hash of the submitted file, if it repeats rows. The run's copy does not contain the repeated rows. */
    readonly submitted_sha256?: string | undefined;
  };
  /** The absolute path for the merged results. */
  readonly out?: string | undefined;
  readonly parts: readonly Part[];
  /**
   * Merged results that are about to get their final name or to be replaced, so that the file is recognized as the
   * run's.
   */
  readonly writing?: ResultsFile | undefined;
  /** The merged results, after they are written. */
  readonly results?: ResultsFile | undefined;
  /** The number of result rows by class, for a comparison with the next cycle. */
  readonly counts?: ResultCounts | undefined;
  /** How many of the rows that were left out have an error as their result in the job of another run, at most. */
  readonly left_out_errors?: number | undefined;
  /**
   * Jobs that had no record when the upload began. Another system or a newer copy of the state directory created them.
   */
  readonly unrecorded_jobs?: readonly string[] | undefined;
  /** Whether no other system uses the key. If so, jobs without a record stop the upload. */
  readonly no_unrecorded_jobs?: boolean | undefined;
  /** Jobs of this key that belong to another system, as the operator told an earlier version. */
  readonly other_jobs?: readonly string[] | undefined;
  /** When the operator abandoned the run. The service processes its jobs regardless. */
  readonly abandoned_at?: string | undefined;
  /** When the run's results were removed. A pruned run is no longer listed. */
  readonly pruned_at?: string | undefined;
}

/** The numbers of rows that were updated, or ended in a warning or an error. */
export interface ResultCounts {
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
}

export type RunStatus = 'open' | 'failed' | 'completed' | 'abandoned';

/**
 * Returns the status of a run: `failed` only if nothing else is left to do, and `completed` if the results of every
 * part are downloaded.
 */
export function statusOf({ parts, abandoned_at }: Pick<RunRecord, 'parts' | 'abandoned_at'>): RunStatus {
  if (parts.every(({ state }) => state === 'downloaded')) return 'completed';
  if (abandoned_at !== undefined) return 'abandoned';
  return parts.every(({ state }) => state === 'downloaded' || state === 'failed') ? 'failed' : 'open';
}

/** Tells whether a run has work left: to upload, poll or download, or to write the results. */
export function isOpen(record: Pick<RunRecord, 'parts' | 'abandoned_at' | 'results'>): boolean {
  if (record.abandoned_at !== undefined) return false;
  return statusOf(record) === 'open' || (statusOf(record) === 'completed' && record.results === undefined);
}

/** Returns the time of the newest fact that a run's record states about the service. */
export function recordedAt({ parts, created_at: created }: Pick<RunRecord, 'parts' | 'created_at'>): string {
  const times = parts.flatMap((part) => [part.seen_at, part.missing_since, part.done_at, part.sent_at]);
  return times.reduce<string>((newest, at = newest) => (at > newest ? at : newest), created);
}

/** Tells whether all downloaded results were compared with the tokens of the request. */
export function areCompared({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.every(({ state, results }) => state !== 'downloaded' || results?.compared === true);
}

/** Tells whether a run waits only for jobs that the service has forgotten after their results were read. */
export function isForgottenRun({ parts }: Pick<RunRecord, 'parts'>): boolean {
  const left = parts.filter(isUnfinished);
  return left.length > 0 && left.every(isForgotten);
}

/** Tells whether a run is one of the embedded sandbox, where nothing is billed. */
export function isOfSandbox({ base_url: address }: Pick<RunRecord, 'base_url'>): boolean {
  return address === 'sandbox';
}

/** Tells whether a run is one of a service: it began there, or its tenant was recognized there. */
export function isAt({ base_url: address, also_at: others = [] }: RunRecord, service: string): boolean {
  return address === service || others.includes(service);
}

/** Tells whether a part has yet to be uploaded, so that the input file is needed. */
export function needsFile({ parts }: { readonly parts: readonly Pick<Part, 'state'>[] }): boolean {
  return parts.some((part) => ['create', 'upload', 'settle'].includes(nextAct(part)));
}

/**
 * Tells whether no part of a run ever had a job. Such a run cost nothing, blocks no other run, and can be taken over. A
 * request without a clear response left at most a job without a file, which is deleted within an hour.
 */
export function isUntouched({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.every(isUnsent);
}

/** Tells whether it is unknown for some part whether the service has its file. */
export function hasUnknown({ parts }: { readonly parts: readonly Pick<Part, 'state'>[] }): boolean {
  return parts.some(({ state }) => state === 'unknown');
}

/**
 * Describes the progress of a run: the status of a single job in the service's words, or the counts of several jobs by
 * step.
 */
export function progressOf({ parts }: Pick<RunRecord, 'parts'>): string {
  // A job that several parts wait for is done when all of them are.
  const jobs = partsByJob(parts).map((own) => own.find(isUnfinished) ?? own[0]);
  const [only] = jobs;
  if (jobs.length === 1 && only) return only.state === 'unknown' ? unknownWord(parts) : (seenWord(only) ?? only.state);
  const open = jobs.filter(isUnfinished);
  const others = new Map<string, number>();
  for (const part of open) {
    const { state } = part;
    const own = state === 'unknown' ? unknownWord(parts) : state;
    const word = state === 'uploaded' ? (seenWord(part) ?? state) : own;
    others.set(word, (others.get(word) ?? 0) + 1);
  }
  const counted = [...others].map(([word, count]) => `, ${count} ${word}`);
  return `${jobs.length - open.length} of ${countText(jobs.length, 'job')} done${counted.join('')}`;
}

function isUnfinished({ state }: Part): boolean {
  return state !== 'completed' && state !== 'downloaded';
}

function seenWord(part: Part): string | undefined {
  return part.state === 'uploaded' && isMissing(part) ? 'not found' : part.seen;
}

/** Tells whether the last poll did not find a job that has its file and whose results nobody received. */
export function isMissingUpload(part: Part): boolean {
  return part.state === 'uploaded' && isMissing(part) && !isForgotten(part);
}

/** Describes how long it may remain unknown whether the service has the file of a part, if that has an end. */
function unknownWord(parts: readonly Part[]): string {
  const ends = parts.filter(({ state }) => state === 'unknown').map(doubtEnd);
  return ends.every((end) => end !== undefined) ? `unknown until ${doubtTime(Math.max(...ends))}` : 'unknown';
}

export function doubtTime(end: number): string {
  return utcTime(end);
}

/** The parts of a run that have the results of one job: a single one, or all that wait for the same job of another run. */
export type PartsOfJob = readonly [Part, ...Part[]];

/**
 * Groups parts by their jobs. A run has several parts for one job of another run where its rows were divided at different
 * times.
 */
export function partsByJob(parts: readonly Part[]): readonly PartsOfJob[] {
  const groups = new Map<string | Part, [Part, ...Part[]]>();
  for (const part of parts) {
    const key = part.joined === undefined ? part : (part.job ?? part);
    const known = groups.get(key);
    if (known) known.push(part);
    else groups.set(key, [part]);
  }
  return [...groups.values()];
}

/** Names some parts by their numbers, such as `parts 5 and 7`. */
export function partNames(parts: readonly Pick<Part, 'number'>[]): string {
  return `${parts.length === 1 ? 'part' : 'parts'} ${parts.map(({ number }) => number).join(' and ')}`;
}

/** Returns the number of rows of some parts. */
export function rowsIn(parts: readonly Pick<Part, 'rows'>[]): number {
  return parts.reduce((sum, { rows }) => sum + rows, 0);
}

/** Returns the parts of a checked file before anything is done. `first` is the number of the first one. */
export function plannedParts(
  check: Pick<RequestFileCheck, 'parts'>,
  first = 1,
  rowsFile?: string,
): Extract<Part, { readonly state: 'planned' }>[] {
  return check.parts.map(({ firstRow, rows, start, end, bytes, sha256 }, index) => ({
    number: first + index,
    first_row: firstRow,
    rows,
    ...(rowsFile === undefined ? {} : { rows_file: rowsFile }),
    start,
    end,
    bytes,
    sha256,
    state: 'planned',
  }));
}

export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}
