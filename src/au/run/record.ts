import { countText } from '../../cli/output/time.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { isUnsent, type Part, type PartFile, type ResultsFile, todo } from './part.ts';

/** A run: everything needed to resume it, on this machine or another. */
export interface RunRecord {
  readonly version: 1;
  readonly id: string;
  readonly created_at: string;
  /** Those of whoever takes over a run that sent nothing. */
  profile: string;
  base_url: string;
  /** Other base URLs at which its tenant was recognized. */
  also_at?: string[];
  /** The tenant of its jobs, once the first was created or the key was proven to belong to it. */
  tenant_id?: string;
  /** What the operator calls this refresh of the file, such as `2026-12`: a file has one run for each. */
  cycle?: string;
  /** The request file. */
  input: {
    /** As the operator called it. */
    readonly name: string;
    /** Where it was; undefined for standard input, which cannot be read again. */
    readonly path?: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly header_bytes: number;
  };
  /** Where the merged results go: an absolute path. */
  out?: string;
  readonly parts: readonly Part[];
  /** Merged results that are about to get their name, or to be replaced: the file is known as the run's own. */
  writing?: ResultsFile;
  /** The merged results, once they are written. */
  results?: ResultsFile;
  /** `due` from the completion of the run until the command of `--exec` has succeeded. */
  exec?: 'due';
  /** Jobs that no record named when it began to upload: another system's, or of a newer copy of the state directory. */
  unrecorded_jobs?: string[];
  /** Nothing is uploaded while there are such jobs, since this system alone uses its key. */
  no_unrecorded_jobs?: boolean;
  /** Jobs of this key that the operator said are of another system. */
  other_jobs?: string[];
  /** When the operator abandoned it; the service processes its jobs all the same. */
  abandoned_at?: string;
  /** When the results that it kept were removed; it is no longer listed. */
  pruned_at?: string;
}

export type RunStatus = 'open' | 'failed' | 'completed' | 'abandoned';

/** `failed` only when nothing else is left to do; `completed` when every part's results are here. */
export function statusOf({ parts, abandoned_at }: Pick<RunRecord, 'parts' | 'abandoned_at'>): RunStatus {
  if (parts.every(({ state }) => state === 'downloaded')) return 'completed';
  if (abandoned_at !== undefined) return 'abandoned';
  return parts.every(({ state }) => state === 'downloaded' || state === 'failed') ? 'failed' : 'open';
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

/** Whether it is unknown of some part whether the service has its file. */
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
