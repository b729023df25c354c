import { SvcError } from '../errors.ts';
import { isObject } from '../schema/guards.ts';
import type { Proof } from '../transfer/receive.ts';
import type { RequestFileCheck } from './request-file.ts';

/** How far a part has come. An `…ing` state is recorded before the act: after a crash it says what to look into. */
export type PartState =
  | 'planned'
  | 'creating'
  | 'created'
  | 'uploading'
  | 'uploaded'
  | 'completed'
  | 'downloaded'
  | 'failed'
  /** The service may have its file, and nothing says so: only a later response or the operator settles it. */
  | 'unknown';

/** How far a part's file got: not whole, whole (the store may have it), or surely stored. */
export type Sent = 'some' | 'all' | 'stored';

/** One upload of a run: a stretch of the input file with the header in front, and the job that it goes to. */
export interface RunPart {
  /** Counted from 1. */
  readonly number: number;
  readonly first_row: number;
  readonly rows: number;
  /** Offsets in the input file, in bytes; the header is not in between. */
  readonly start: number;
  readonly end: number;
  /** Of the upload, header included. */
  readonly bytes: number;
  readonly sha256: string;
  state: PartState;
  /** The job that it goes to now. */
  job?: string;
  /** When the request that creates the job went out, in the service's time. */
  creating_since?: string;
  /** When its file began to go out, in the service's time. */
  sent_at?: string;
  /** Written before each step is taken; older records have none: see `sentOf`. */
  sent?: Sent;
  /** When the upload address of its job expires, in the service's time. */
  expires_at?: string;
  /** Since when every poll has found its job missing, in the service's time. */
  missing_since?: string;
  /** When its job was first seen completed, in the service's time. */
  done_at?: string;
  /** Jobs that it went to before, the latest last. */
  earlier_jobs?: EarlierJob[];
  /** The job's status when it was last looked at, in the service's word. */
  seen?: string;
  /** What the service said of a failed job. */
  errors?: string[];
  /** The results as they came, in the run's directory. */
  results?: PartResults;
  /** Results that came the same each time and are not proven whole: kept for the operator to judge. */
  unproven?: ResultsFile;
}

/** The results of a part. Those of earlier versions do not tell what proved them, and are checked once. */
export interface PartResults extends ResultsFile {
  /** What showed that they are whole. */
  proof?: Proof | 'content' | 'operator';
}

/** A file of results: its name or path, its size in bytes, and its hexadecimal hash. */
export interface ResultsFile {
  file: string;
  bytes: number;
  sha256: string;
}

/** A job that a part had before: it was gone, as one without a file is after an hour, or it failed. */
export interface EarlierJob {
  readonly job: string;
  readonly ended: 'gone' | 'failed';
}

/** A run: everything that must be known to go on with it, on this machine or another. */
export interface RunRecord {
  readonly version: 1;
  readonly id: string;
  readonly created_at: string;
  readonly profile: string;
  readonly base_url: string;
  /** Other base URLs at which its tenant was recognized. */
  also_at?: string[];
  /** The tenant that its jobs belong to, once the first was created or the key was proven to be of it. */
  tenant_id?: string;
  /** What the operator calls this refresh of the file, such as `2026-12`: a file has one run for each. */
  cycle?: string;
  input: RunInput;
  /** Where the merged results go: an absolute path. */
  out?: string;
  readonly parts: RunPart[];
  /** Merged results that are about to get their name, or to be replaced: the file is known as the run's own. */
  writing?: ResultsFile;
  /** The merged results, once they are written. */
  results?: ResultsFile;
  /** `due` from the completion of the run until the command of `svc au sync --exec` went well. */
  exec?: 'due';
  /** When the operator gave it up; what the service does with its jobs goes on all the same. */
  abandoned_at?: string;
}

/** The request file of a run. */
export interface RunInput {
  /** As the operator called it. */
  readonly name: string;
  /** Where it was; undefined for standard input, which cannot be read again. */
  readonly path?: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly header_bytes: number;
}

/** What a run in short comes to. */
export type RunStatus = 'open' | 'failed' | 'completed' | 'abandoned';

/** `failed` only when nothing else is left to do; `completed` when every part's results are here. */
export function statusOf({
  parts,
  abandoned_at: abandoned,
}: Pick<RunRecord, 'parts' | 'abandoned_at'>): RunStatus {
  if (parts.every(({ state }) => state === 'downloaded')) return 'completed';
  if (abandoned !== undefined) return 'abandoned';
  return parts.every(({ state }) => state === 'downloaded' || state === 'failed') ? 'failed' : 'open';
}

/** How far a part's file got. Where an older record does not say, the store is taken to have what it may have. */
export function sentOf({ state, sent, sent_at: sentAt }: Pick<RunPart, 'state' | 'sent' | 'sent_at'>): Sent {
  if (state === 'planned' || state === 'creating') return 'some';
  if (sent !== undefined) return sent === 'some' || sent === 'all' ? sent : 'stored';
  if (state === 'uploading') return 'all';
  if (state === 'created') return sentAt === undefined ? 'some' : 'all';
  return 'stored';
}

/** The parts of a checked file, with nothing done yet. */
export function plannedParts(check: Pick<RequestFileCheck, 'parts'>): RunPart[] {
  return check.parts.map((part, index) => ({
    number: index + 1,
    first_row: part.firstRow,
    rows: part.rows,
    start: part.start,
    end: part.end,
    bytes: part.bytes,
    sha256: part.sha256,
    state: 'planned',
  }));
}

const STATES: ReadonlySet<string> = new Set<PartState>([
  'planned',
  'creating',
  'created',
  'uploading',
  'uploaded',
  'completed',
  'downloaded',
  'failed',
  'unknown',
]);

const PART_TEXTS = [
  'job',
  'seen',
  'creating_since',
  'sent',
  'sent_at',
  'expires_at',
  'missing_since',
  'done_at',
] as const;

/** The text of a record, as it is stored. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Reads the text of a record. @throws SvcError `config` for one that is damaged or of a newer version */
export function parseRecord(text: string, file: string): RunRecord {
  const value = parseJson(text);
  const version = isObject(value) ? value['version'] : undefined;
  if (typeof version === 'number' && version > 1) {
    throw new SvcError('config', `${file} was written by a newer svc (its version is ${version})`, {
      hint: 'Update svc on this machine.',
    });
  }
  const problem = problemOf(value);
  if (problem === undefined) return value as RunRecord;
  throw new SvcError('config', `${file} is damaged: ${problem}`, {
    hint: "It is left as it is. The jobs themselves are safe: 'svc au list' shows them, and 'svc au download' brings their results.",
    facts: { file },
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is no JSON object';
  if (value['version'] !== 1) return 'it has no version';
  for (const name of ['id', 'created_at', 'profile', 'base_url']) {
    if (typeof value[name] !== 'string') return `${name} is missing`;
  }
  if (!isInput(value['input'])) return 'input is not as it should be';
  const parts = value['parts'];
  if (!Array.isArray(parts) || parts.length === 0) return 'it has no parts';
  const notText = ['out', 'tenant_id', 'cycle', 'abandoned_at'].find((name) => !isText(value[name]));
  if (notText !== undefined) return `${notText} is no text`;
  if (!isListOf(value['also_at'] ?? [], (url) => typeof url === 'string'))
    return 'also_at is no list of texts';
  if (!['results', 'writing'].every((name) => value[name] === undefined || isResults(value[name])))
    return 'results are not as they should be';
  const bad = parts.findIndex((part: unknown) => !isPart(part));
  return bad === -1 ? undefined : `part ${bad + 1} is not as it should be`;
}

function isInput(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { name, sha256, path } = value;
  const texts = typeof name === 'string' && typeof sha256 === 'string';
  return (
    texts &&
    (path === undefined || typeof path === 'string') &&
    isCount(value, ['rows', 'bytes', 'header_bytes'])
  );
}

function isPart(value: unknown): boolean {
  if (!isObject(value) || typeof value['sha256'] !== 'string') return false;
  const { state, job, results, unproven, errors = [], earlier_jobs: earlier = [] } = value;
  if (typeof state !== 'string' || !STATES.has(state)) return false;
  const needsJob = state !== 'planned' && state !== 'creating';
  if (needsJob && typeof job !== 'string') return false;
  if (!PART_TEXTS.every((name) => isText(value[name]))) return false;
  if ((state === 'downloaded' || results !== undefined) && !isResults(results)) return false;
  if (unproven !== undefined && !isResults(unproven)) return false;
  if (!isListOf(errors, (error) => typeof error === 'string')) return false;
  if (!isListOf(earlier, (one) => isObject(one) && typeof one['job'] === 'string')) return false;
  return isCount(value, ['number', 'first_row', 'rows', 'start', 'end', 'bytes']);
}

function isResults(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof file === 'string' && typeof sha256 === 'string' && isCount(value, ['bytes']);
}

/** A text, or nothing. */
function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((item: unknown) => isRight(item));
}

function isCount(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => Number.isSafeInteger(value[name]) && Number(value[name]) >= 0);
}
