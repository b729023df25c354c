import { countText, utcTime } from '../../cli/output/time.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { doubtEnd, isUnsent, type Part, type PartFile, type ResultsFile, todo } from './part.ts';

/** A run: everything needed to resume it, on this machine or another. */
export interface RunRecord {
  readonly version: 1;
  readonly id: string;
  readonly created_at: string;
  /** The profile of the last submission before anything was sent. */
  readonly profile: string;
  readonly base_url: string;
  /** Other base URLs at which its tenant was recognized. */
  readonly also_at?: readonly string[] | undefined;
  /** The tenant of its jobs, once the first was created or the key was proven to belong to it. */
  readonly tenant_id?: string | undefined;
  /** The operator's name for this refresh of the file, such as `2026-12`: a file has one run for each cycle. */
  readonly cycle?: string | undefined;
  /** The request file. */
  readonly input: {
    /** As the operator called it. */
    readonly name: string;
    /** Where it was; undefined for standard input, which cannot be read again. */
    readonly path?: string | undefined;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly header_bytes: number;
    /** Of the file that was given, where only its new rows are submitted: the copy is then not of the whole file. */
    readonly source_sha256?: string | undefined;
  };
  /** Runs of its cycle whose rows it may submit again, as the operator said. */
  readonly repeats?: readonly string[] | undefined;
  /** Where the merged results go: an absolute path. */
  readonly out?: string | undefined;
  readonly parts: readonly Part[];
  /** Merged results that are about to get their name or to be replaced, so that the file is known as the run's own. */
  readonly writing?: ResultsFile | undefined;
  /** The merged results, once they are written. */
  readonly results?: ResultsFile | undefined;
  /** How many rows of the results are in each class: the next cycle is compared with them. */
  readonly counts?: ResultCounts | undefined;
  /** `due` from the completion of the run until the command of `--exec` has succeeded. */
  readonly exec?: 'due' | undefined;
  /** Jobs without a record when the upload began: of another system, or of a newer copy of the state directory. */
  readonly unrecorded_jobs?: readonly string[] | undefined;
  /** Set where no other system uses the key: then nothing is uploaded while there are jobs without a record. */
  readonly no_unrecorded_jobs?: boolean | undefined;
  /** Jobs of this key that the operator said are of another system. */
  readonly other_jobs?: readonly string[] | undefined;
  /** When the operator abandoned it; the service processes its jobs all the same. */
  readonly abandoned_at?: string | undefined;
  /** When the results that it kept were removed; it is no longer listed. */
  readonly pruned_at?: string | undefined;
}

/** How many rows of a request were updated, or ended in a warning or an error. */
export interface ResultCounts {
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
}

export type RunStatus = 'open' | 'failed' | 'completed' | 'abandoned';

/** Returns `failed` only when nothing else is left to do, and `completed` when the results of every part are here. */
export function statusOf({ parts, abandoned_at }: Pick<RunRecord, 'parts' | 'abandoned_at'>): RunStatus {
  if (parts.every(({ state }) => state === 'downloaded')) return 'completed';
  if (abandoned_at !== undefined) return 'abandoned';
  return parts.every(({ state }) => state === 'downloaded' || state === 'failed') ? 'failed' : 'open';
}

/** Whether something is left to do that a sync does: to upload, to poll, to download, or to write the results. */
export function isOpen(record: Pick<RunRecord, 'parts' | 'abandoned_at' | 'results'>): boolean {
  if (record.abandoned_at !== undefined) return false;
  return statusOf(record) === 'open' || (statusOf(record) === 'completed' && record.results === undefined);
}

/** Since when an open run is under way, in epoch milliseconds: since the oldest upload whose results are not here. */
export function openSince({ parts, created_at: created }: Pick<RunRecord, 'parts' | 'created_at'>): number {
  const open = parts.filter(({ state }) => state !== 'downloaded');
  return Math.min(...open.map(({ sent_at: at = created }) => Date.parse(at)));
}

/** Whether all results that are here were compared with the tokens of the request. */
export function areCompared({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.every(({ state, results }) => state !== 'downloaded' || results?.compared === true);
}

/** Whether any part still has to be uploaded, so that the input file is needed. */
export function needsFile({ parts }: { readonly parts: readonly Pick<Part, 'state'>[] }): boolean {
  return parts.some((part) => ['create', 'upload', 'settle'].includes(todo(part)));
}

/**
 * Whether no part of a run ever had a job. Such a run cost nothing: it blocks no other run and belongs to nobody. A
 * creation without a clear response left at most a job without a file, which is deleted within the hour.
 */
export function isUntouched({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.every(isUnsent);
}

/** Tells whether the service may have the file of some part, and nothing says so. */
export function hasUnknown({ parts }: { readonly parts: readonly Pick<Part, 'state'>[] }): boolean {
  return parts.some(({ state }) => state === 'unknown');
}

/** Whether results are those of a part's present job. Of those that do not say, results of a failed job are doubted. */
export function isOfPresentJob({ job, earlier_jobs: earlier = [] }: Part, results: PartFile | undefined): boolean {
  if (results?.job !== undefined) return results.job === job;
  return !earlier.some(({ ended }) => ended === 'failed');
}

/** How far a run is: one job's status in the service's word, or how many of several are done and what the others do. */
export function progressOf({ parts }: Pick<RunRecord, 'parts'>): string {
  const [only] = parts;
  if (parts.length === 1 && only) return only.state === 'unknown' ? unknownWord(parts) : (only.seen ?? only.state);
  const open = parts.filter(({ state }) => state !== 'completed' && state !== 'downloaded');
  const others = new Map<string, number>();
  for (const { state, seen } of open) {
    const own = state === 'unknown' ? unknownWord(parts) : state;
    const word = state === 'uploaded' ? (seen ?? state) : own;
    others.set(word, (others.get(word) ?? 0) + 1);
  }
  const counted = [...others].map(([word, count]) => `, ${count} ${word}`);
  return `${parts.length - open.length} of ${countText(parts.length, 'job')} done${counted.join('')}`;
}

/** Until when it may be unknown whether the service has the file of a part, where that has an end. */
function unknownWord(parts: readonly Part[]): string {
  const ends = parts.filter(({ state }) => state === 'unknown').map(doubtEnd);
  return ends.every((end) => end !== undefined) ? `unknown until ${doubtTime(Math.max(...ends))}` : 'unknown';
}

export function doubtTime(end: number): string {
  return utcTime(end);
}

/** The parts of a checked file, with nothing done yet. */
export function plannedParts(check: Pick<RequestFileCheck, 'parts'>): Part[] {
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

export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}
