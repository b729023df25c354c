import { refuseNewer, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import {
  isUnsent,
  type Part,
  type PartFile,
  PART_STATES,
  partOf,
  type RecordedPart,
  type ResultsFile,
  todo,
} from './part.ts';

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

/** Reads the text of a record. @throws SvcError `config` for one that is damaged or of a newer version */
export function parseRecord(text: string, file: string): RunRecord {
  const value = parsedJson(text);
  refuseNewer(value, 1, file);
  const problem = problemOf(value);
  if (problem === undefined) {
    const record = value as Omit<RunRecord, 'parts'> & { readonly parts: readonly RecordedPart[] };
    return { ...record, parts: record.parts.map(partOf) };
  }
  throw new SvcError('config', `${file} is damaged: ${problem}`, {
    hint: 'It was left unchanged. The jobs themselves are safe, and their results can be downloaded by job.',
    next: ['au', 'jobs'],
    facts: { file },
  });
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every((item: unknown) => check(item));
}

function shape(members: Readonly<Record<string, Check>>): Check {
  return (value) => isObject(value) && Object.entries(members).every(([name, isRight]) => isRight(value[name]));
}

function each(names: string, check: Check): Readonly<Record<string, Check>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, check]));
}

const isResults = shape({ file: isText, sha256: isText, bytes: isCount });

const PART: Readonly<Record<string, Check>> = {
  ...each('number first_row rows start end bytes', isCount),
  ...each('creating_since sent sent_at expires_at missing_since done_at seen job', optional(isText)),
  sha256: isText,
  state: (value) => PART_STATES.has(value),
  results: optional(isResults),
  unproven: optional(isResults),
  errors: optional(listOf(isText)),
  earlier_jobs: optional(listOf(shape({ job: isText, sent_at: optional(isText) }))),
};

function isPart(value: unknown): boolean {
  if (!isObject(value) || !shape(PART)(value)) return false;
  const { state, job, results } = value;
  if (state === 'downloaded' && results === undefined) return false;
  return state === 'planned' || state === 'creating' || job !== undefined;
}

const RECORD: Readonly<Record<string, Check>> = {
  version: (value) => value === 1,
  ...each('id created_at profile base_url', isText),
  input: shape({ ...each('name sha256', isText), path: optional(isText), ...each('rows bytes header_bytes', isCount) }),
  ...each('out tenant_id cycle abandoned_at pruned_at', optional(isText)),
  ...each('also_at unrecorded_jobs other_jobs', optional(listOf(isText))),
  no_unrecorded_jobs: optional((value) => typeof value === 'boolean'),
  results: optional(isResults),
  writing: optional(isResults),
  parts: (value) => Array.isArray(value) && value.length > 0,
};

function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'not a JSON object';
  const wrong = Object.entries(RECORD).find(([name, isRight]) => !isRight(value[name]));
  if (wrong) return `${wrong[0]} is missing or malformed`;
  const parts = value['parts'] as unknown[];
  const bad = parts.findIndex((part) => !isPart(part));
  return bad === -1 ? undefined : `part ${bad + 1} is malformed`;
}
