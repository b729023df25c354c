import type { RequestFileCheck } from '../csv/request-file.ts';
import type { Proof } from '../transfer/receive.ts';

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
