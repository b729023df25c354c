// What the journal holds, a line each. State is a function of these, the seed among them, and the time.
// Times are milliseconds of the sandbox's clock.

/** The first line: what the sandbox's world is made from. */
export interface StartEvent {
  readonly type: 'start';
  readonly at: number;
  readonly seed: number;
  /** Hex; signs the store's addresses. */
  readonly secret: string;
  /** Made-up logs of the day before the start. */
  readonly logs: number;
}

/** The sandbox's clock from here on runs this far ahead of the real one. */
export interface ClockEvent {
  readonly type: 'clock';
  readonly at: number;
  readonly offset: number;
}

/** A job was created. */
export interface JobEvent {
  readonly type: 'job';
  readonly at: number;
  /** Tells the process that wrote the line which of the jobs is its own. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
}

/** A request file arrived whole. */
export interface UploadEvent {
  readonly type: 'upload';
  readonly at: number;
  readonly job: string;
  readonly bytes: number;
  readonly md5: string;
  /** How long after the upload processing begins. */
  readonly pickup: number;
  /** How long after the upload the result is there. */
  readonly processing: number;
}

/** A request file was processed. */
export interface ResultEvent {
  readonly type: 'result';
  readonly at: number;
  readonly job: string;
  /** Which of the job's uploads, counted from 1. */
  readonly upload: number;
  readonly rows: number;
  readonly bytes: number;
  readonly md5: string;
  readonly errors: readonly string[];
}

/** A request that leaves an audit record. */
export interface AuditEvent {
  readonly type: 'audit';
  readonly at: number;
  /** Number of the calling application; absent for the store, which knows no caller. */
  readonly application?: number;
  readonly entityType: string;
  readonly entityId: string;
  readonly operation: string;
  readonly message: string;
}

/** A line of the journal. */
export type JournalEvent = StartEvent | ClockEvent | JobEvent | UploadEvent | ResultEvent | AuditEvent;

const TYPES: ReadonlySet<unknown> = new Set(['start', 'clock', 'job', 'upload', 'result', 'audit']);

/** Reads one line; undefined for half a line, an empty one, or an event of a later version. */
export function readEvent(line: string): JournalEvent | undefined {
  if (line === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is JournalEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    TYPES.has(value.type) &&
    'at' in value &&
    typeof value.at === 'number'
  );
}
