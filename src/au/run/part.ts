import { SvcError } from '../../base/errors.ts';
import type { Proof } from '../../client/transfer/receive.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

// The life of a part of a run: this file alone changes one. It knows no clock, no disk and no service: `next` says what
// an event makes of a part, `apply` puts that into the record, and its caller saves the record.

/** The rows that a part uploads: decided when the run begins, never changed. */
interface Slice {
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
}

/** The members that stay when a part gets another job. */
interface Past {
  /** When a job was first requested, in the service's time; kept until no request can have left another job. */
  readonly creating_since?: string | undefined;
  /** The jobs that the part had before, the latest last. */
  readonly earlier_jobs?: readonly EarlierJob[] | undefined;
}

/** The members about the present job, which another job never inherits. */
interface JobMembers {
  readonly job: string;
  /** How much of the file was sent: recorded before each step. */
  readonly sent: Sent;
  /** When the upload began, in the service's time. */
  readonly sent_at: string | undefined;
  /** When the upload address expires, in the service's time. */
  readonly expires_at: string | undefined;
  /** Since when every poll has found the job missing, in the service's time. */
  readonly missing_since: string | undefined;
  /** When the job was first seen completed, in the service's time. */
  readonly done_at: string | undefined;
  /** The job's status at the last poll, as the service says it. */
  readonly seen: string | undefined;
  /** Why the job failed, as the service says it. */
  readonly errors: readonly string[] | undefined;
  /** The results as they came, in the run's directory. */
  readonly results: PartResults | undefined;
  /** Results that came the same each time and are not proven whole: kept for the operator to judge. */
  readonly unproven: PartFile | undefined;
}

/** How far a part's file got: not whole, whole (the store may have it), or surely stored. */
export type Sent = 'some' | 'all' | 'stored';

/** A job that a part had before. A job ends when it fails, or is deleted because it got no file within an hour. */
export interface EarlierJob {
  readonly job: string;
  readonly ended: 'gone' | 'failed';
  /** When its upload began; only for a job that is gone although all of its file was sent. */
  readonly sent_at?: string | undefined;
}

/** A file of results: its name or path, its size in bytes, and its hexadecimal hash. */
export interface ResultsFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of results that a part's job gave. */
export interface PartFile extends ResultsFile {
  /** The id of that job; older records do not say. */
  readonly job?: string | undefined;
}

/** The results of a part. Those of earlier versions do not say what proved them, and are checked once. */
export interface PartResults extends PartFile {
  readonly proof?: Proof | 'content' | 'operator' | undefined;
  /** Whether each token was found to be requested, no less often; results of earlier versions do not say. */
  readonly compared?: boolean | undefined;
}

/** A part in one state: `Own` are the members of its job that this state requires, `May` those that it allows. */
type In<S extends string, Own extends Some<keyof JobMembers> = object, May extends keyof JobMembers = never> = Slice &
  Past & { readonly state: S } & Own &
  Some<May> & { readonly [K in Exclude<keyof JobMembers, keyof Own | May>]?: undefined };

type Some<K extends keyof JobMembers> = { readonly [Name in K]?: JobMembers[Name] | undefined };

type Found = 'expires_at' | 'missing_since' | 'seen';
type Ended = Found | 'sent_at' | 'done_at' | 'results' | 'unproven';

/** Every state and its members. A state that ends in `…ing` is recorded before the act, so that a crash shows what to check. */
interface Parts {
  readonly planned: In<'planned'>;
  readonly creating: In<'creating'>;
  readonly created: In<'created', { readonly job: string; readonly sent?: 'some' | undefined }, Found | 'sent_at'>;
  /** The store has nothing that counts (`some`), or may have the file (`all`). */
  readonly uploading: In<'uploading', { readonly job: string; readonly sent: 'some' | 'all' }, Found | 'sent_at'>;
  readonly uploaded: In<'uploaded', Stored, Ended>;
  /** The service may have its file, and nothing says so; `stored`: its job was seen or acknowledged, and is missing. */
  readonly unknown: In<'unknown', { readonly job: string; readonly sent: 'all' | 'stored' }, Ended>;
  readonly completed: In<'completed', Stored, Ended>;
  readonly downloaded: In<'downloaded', Stored & { readonly results: PartResults }, Ended>;
  readonly failed: In<'failed', Stored, Ended | 'errors'>;
}

interface Stored {
  readonly job: string;
  readonly sent: 'stored';
}

export type PartState = keyof Parts;

/** One upload of a run: a slice of the input file below the header, and the job that it goes to. */
export type Part = Parts[PartState];

/** The service's time and this machine's. Both must agree that time passed, since a `Date` header or a clock may be wrong. */
export interface Clocks {
  readonly service: number;
  readonly here: number;
}

/** What can happen to a part, by its name, with what the part needs to know of it. Times are in epoch milliseconds. */
interface Events {
  /** A job is about to be requested. */
  readonly creating: { readonly at: number };
  /** The request created nothing for this run. `wasUnclear`: an earlier one may have. */
  readonly 'not created': { readonly wasUnclear: boolean };
  readonly created: { readonly job: CreatedJob; readonly wasUnclear: boolean };
  /** The new job is given up before anything was sent to it: another job may have the rows already. */
  readonly forgotten: object;
  /** The upload is about to begin. */
  readonly sending: { readonly at: number; readonly expiresAt: string | null | undefined };
  /** How much of the file the store may have: `all` before the last bytes go out, `some` once it clearly refused them. */
  readonly sent: { readonly sent: 'some' | 'all' };
  /** The store acknowledged the file. */
  readonly stored: object;
  /** The job was deleted while a new upload address was asked for. */
  readonly expired: object;
  /** An earlier job that seemed to be gone is found to have the file. */
  readonly back: { readonly job: string };
  /** The job is there, and is polled on. */
  readonly sighted: object;
  /** The job is missing, and is polled on. */
  readonly missed: { readonly clocks: Clocks };
  readonly found: { readonly job: FoundJob; readonly at: number };
  /** The service itself does not know the job. `absent`: nor does the list of the run's own tenant show it. */
  readonly 'not found': { readonly clocks: Clocks; readonly absent: boolean };
  /** The time is up while the job is missing. */
  readonly 'given up': object;
  /** The operator submits the file again, and the service still calls the job failed. */
  readonly retried: object;
  readonly downloaded: { readonly results: PartResults };
  /** Results were refused, and are kept for the operator to judge. */
  readonly unproven: { readonly file: PartFile };
  /** The job failed, which only its download showed. */
  readonly failed: { readonly reason: string };
  /** The results that are kept have their hash still; others could not be had. */
  readonly intact: object;
  /** The results that are kept are sound. `compared`: whether with the tokens of the request, where that was tried. */
  readonly checked: { readonly compared?: boolean | undefined };
  /** The results that are kept changed, or are flawed. `usable`: they may be whole, and are kept until others are here. */
  readonly spoiled: { readonly usable: boolean };
  /** The results are to be downloaded again. */
  readonly 'wanted again': object;
  /** What the service said of the rows is removed. */
  readonly pruned: object;
}

type CreatedJob = Pick<AccountUpdaterJob, 'id' | 'expires_at'>;
type FoundJob = Pick<AccountUpdaterJob, 'status' | 'expires_at' | 'errors'>;

export type PartEvent = { readonly [K in keyof Events]: { readonly kind: K } & Events[K] }[keyof Events];

/** For each event, the states in which it may come, and what it makes of the part. No other pair can happen. */
type Life = { readonly [K in keyof Events]: Row<K> };

type Row<K extends keyof Events> = { readonly [S in PartState]?: Step<S, K> };

type Step<S extends PartState, K extends keyof Events> = (part: Parts[S], event: Events[K]) => Part;

const LIFE: Life = {
  creating: { planned: begin, creating: begin },
  'not created': {
    creating: (part, { wasUnclear }) => (wasUnclear ? part : { ...part, state: 'planned', creating_since: undefined }),
  },
  created: {
    creating: (part, { job, wasUnclear }) => ({
      ...part,
      state: 'created',
      job: job.id,
      expires_at: job.expires_at || undefined,
      // An earlier request may have created a job that got the file: that is looked into before the upload.
      creating_since: wasUnclear ? part.creating_since : undefined,
    }),
  },
  forgotten: { created: forget },
  sending: { created: send, uploading: (part, event) => send(unsent(part, 'sending'), event) },
  sent: { uploading: (part, { sent }) => ({ ...part, sent }) },
  stored: { uploading: (part) => ({ ...part, state: 'uploaded', sent: 'stored' }) },
  expired: {
    created: (part) => detached(part, 'gone'),
    uploading: (part) => detached(unsent(part, 'expired'), 'gone'),
  },
  back: {
    planned: goBack,
    creating: goBack,
    created: goBack,
    uploading: (part, event) => goBack(unsent(part, 'back'), event),
  },
  sighted: atAnyJob((part) => ({ ...part, missing_since: undefined })),
  missed: atAnyJob(miss),
  found: atAnyJob(find),
  'not found': atAnyJob(lose),
  'given up': {
    uploaded: (part) => (part.missing_since === undefined ? refuse(part, 'given up') : { ...part, state: 'unknown' }),
  },
  retried: { failed: (part) => detached(part, 'failed') },
  downloaded: { completed: keep, downloaded: keep, failed: keep },
  unproven: { completed: (part, { file }) => ({ ...part, unproven: file }) },
  failed: { completed: (part, { reason }) => ({ ...part, state: 'failed', errors: [reason] }) },
  intact: {
    completed: (part) =>
      part.results === undefined ? refuse(part, 'intact') : { ...part, state: 'downloaded', results: part.results },
    // The results are here, and only the record could not be saved.
    downloaded: (part) => part,
  },
  checked: { downloaded: check },
  spoiled: {
    downloaded: (part, { usable }) => ({ ...part, state: 'completed', results: usable ? part.results : undefined }),
  },
  'wanted again': { downloaded: (part) => ({ ...part, state: 'completed' }) },
  pruned: {
    planned: (part) => part,
    creating: (part) => part,
    created: (part) => part,
    uploading: (part) => part,
    uploaded: (part) => ({ ...part, unproven: undefined }),
    completed: (part) => ({ ...part, unproven: undefined }),
    downloaded: (part) => ({ ...part, unproven: undefined }),
    failed: (part) => ({ ...part, unproven: undefined, errors: undefined }),
  },
};

/** A part whose job is polled. */
type Asked = Exclude<Part, { readonly state: 'planned' | 'creating' | 'downloaded' }>;

/** Returns one step for every state that has a job whose results are not here. */
function atAnyJob<E>(step: (part: Asked, event: E) => Part) {
  return { created: step, uploading: step, uploaded: step, unknown: step, completed: step, failed: step };
}

/**
 * Returns what an event makes of a part.
 * @throws SvcError `bug` for what cannot follow, such as another upload of what may be stored
 */
export function next(part: Part, event: PartEvent): Part {
  return withoutUndefined(follow(event.kind, part.state, part, event));
}

function withoutUndefined(part: Part): Part {
  const defined = { ...part };
  for (const [name, value] of Object.entries(part)) if (value === undefined) Reflect.deleteProperty(defined, name);
  return defined;
}

function follow<K extends keyof Events, S extends PartState>(
  kind: K,
  state: S,
  part: Parts[S],
  event: Events[K],
): Part {
  const row: Row<K> = LIFE[kind];
  const step: Step<S, K> | undefined = row[state];
  return step === undefined ? refuse(part, kind) : step(part, event);
}

function refuse({ number, state }: Part, kind: keyof Events): never {
  throw new SvcError('bug', `part ${number} is ${state}: "${kind}" cannot follow`);
}

/** Puts what an event makes of a part into the record, which the caller saves. Parts change nowhere else. */
export function apply(part: Part, event: PartEvent): void {
  const after = next(part, event);
  for (const name of Object.keys(part)) if (!(name in after)) Reflect.deleteProperty(part, name);
  Object.assign(part, after);
}

function begin(part: Parts['planned' | 'creating'], { at }: Events['creating']): Part {
  return { ...part, state: 'creating', creating_since: part.creating_since ?? iso(at) };
}

function forget(part: Parts['created']): Part {
  // Once an upload was begun, its job is needed to find out what became of the file.
  if (part.sent_at !== undefined || part.sent !== undefined) return refuse(part, 'forgotten');
  return { ...part, ...NO_JOB, state: part.creating_since === undefined ? 'planned' : 'creating' };
}

/** Before an upload it is found out that no earlier request left a job with the file. */
function send(part: Parts['created' | 'uploading'], { at, expiresAt }: Events['sending']): Part {
  const expires_at = expiresAt || part.expires_at;
  return { ...part, state: 'uploading', sent: 'some', sent_at: iso(at), expires_at, creating_since: undefined };
}

/** A part that is being uploaded, of which the store has nothing that counts. */
function unsent(part: Parts['uploading'], kind: keyof Events): Parts['uploading'] {
  return part.sent === 'some' ? part : refuse(part, kind);
}

function goBack(part: Parts['planned' | 'creating' | 'created' | 'uploading'], { job }: Events['back']): Part {
  // A job that was made in its place has no file, and stays on record as one that is gone.
  const bare = part.job === undefined ? part : detached(part, 'gone');
  const earlier = bare.earlier_jobs?.find((each) => each.job === job && each.ended === 'gone');
  if (earlier === undefined) return refuse(part, 'back');
  return {
    ...bare,
    state: 'uploaded',
    sent: 'stored',
    job,
    sent_at: earlier.sent_at,
    earlier_jobs: bare.earlier_jobs?.filter((each) => each !== earlier),
    creating_since: undefined,
  };
}

function miss<P extends Asked>(part: P, { clocks }: Events['missed']): P {
  return { ...part, missing_since: part.missing_since ?? iso(Math.max(clocks.service, clocks.here)) };
}

function find(part: Asked, { job, at }: Events['found']): Part {
  const here = { ...part, seen: job.status, missing_since: undefined, errors: undefined };
  if (job.status === 'pending') {
    const still = { ...here, expires_at: job.expires_at || part.expires_at };
    if (still.sent === undefined || still.sent === 'some') return { ...still, state: 'created', sent: 'some' };
    if (still.sent === 'all') return { ...still, state: 'unknown', sent: 'all' };
    // What the store acknowledged can take a moment to be seen: that is polled, not doubted.
    return { ...still, state: 'uploaded', sent: 'stored' };
  }
  const stored = { ...here, sent: 'stored' } as const;
  if (job.status === 'completed') return { ...stored, state: 'completed', done_at: part.done_at ?? iso(at) };
  if (job.status === 'failed') return { ...stored, state: 'failed', errors: job.errors ?? [] };
  return { ...stored, state: 'uploaded' };
}

function lose(before: Asked, { clocks, absent }: Events['not found']): Part {
  const part = miss(before, { clocks });
  if (sentOf(part) === 'some' || (absent && mayBeUnprocessed(part, clocks))) return detached(part, 'gone');
  const still = { ...part, errors: undefined };
  if (still.sent !== 'stored') return { ...still, state: 'unknown', sent: 'all' };
  if (isLongMissing(part, clocks)) return { ...still, state: 'unknown', sent: 'stored' };
  return { ...still, state: 'uploaded', sent: 'stored' };
}

/**
 * Tells whether the list of its tenant's jobs alone can still prove that an upload was never processed: the store never
 * acknowledged it, its address has expired by both clocks, and its job has been missing for a while.
 */
export function mayBeUnprocessed(part: Part, clocks: Clocks): boolean {
  const isExpired = Math.min(clocks.service, clocks.here) > addressEnd(part);
  return sentOf(part) === 'all' && isExpired && isLongMissing(part, clocks);
}

/** When the upload address of a part's job expires, as far as that is known, else NaN. */
function addressEnd({ sent_at: sentAt = '', expires_at: expiresAt }: Part): number {
  return expiresAt === undefined ? Date.parse(sentAt) + UPLOAD_LIFE_MS : Date.parse(expiresAt);
}

/**
 * Until when it may be unknown whether the service has the file of a part, in epoch milliseconds of the service's time:
 * a job without a file is deleted when its upload address expires, and must then be missing for a while. Undefined where
 * the outcome is known, and where it may stay unknown.
 */
export function doubtEnd(part: Part): number | undefined {
  const expires = addressEnd(part);
  if (part.state !== 'unknown' || part.sent !== 'all' || Number.isNaN(expires)) return undefined;
  const missing = part.missing_since === undefined ? expires : Date.parse(part.missing_since);
  return Math.max(expires, missing + MISSING_MS);
}

/** How long every poll must find a job missing before that means anything, since a replica may lag. */
export const MISSING_MS = 5 * 60_000;

function isLongMissing({ missing_since: since = '' }: Part, { service, here }: Clocks): boolean {
  return Math.min(service, here) - Date.parse(since) >= MISSING_MS;
}

/** Frees a part for another job, because its own was deleted without a file or failed. */
function detached(part: Asked, ended: EarlierJob['ended']): Parts['planned'] {
  const { job, sent_at, earlier_jobs: earlier = [] } = part;
  const mayHaveFile = ended === 'gone' && sentOf(part) !== 'some' && sent_at !== undefined;
  return {
    ...part,
    ...NO_JOB,
    state: 'planned',
    earlier_jobs: [...earlier, { job, ended, ...(mayHaveFile && { sent_at }) }],
  };
}

const NO_JOB = {
  job: undefined,
  sent: undefined,
  sent_at: undefined,
  expires_at: undefined,
  missing_since: undefined,
  done_at: undefined,
  seen: undefined,
  errors: undefined,
  results: undefined,
  unproven: undefined,
} as const satisfies Record<keyof JobMembers, undefined>;

function keep(part: Parts['completed' | 'downloaded' | 'failed'], { results }: Events['downloaded']): Part {
  return { ...part, state: 'downloaded', results, unproven: undefined, errors: undefined };
}

function check(part: Parts['downloaded'], { compared }: Events['checked']): Part {
  const { results } = part;
  const proven = { ...results, proof: results.proof ?? 'content' };
  return { ...part, results: compared === undefined ? proven : { ...proven, compared } };
}

/** A part as it is recorded, by this version or another. */
export type RecordedPart = Slice &
  Past & { readonly state: PartState; readonly sent?: string | undefined } & Some<Exclude<keyof JobMembers, 'sent'>>;

/**
 * Returns a recorded part with the members that belong to its state, and with those that this version does not know.
 * Where an older version did not record something, the worse case is assumed: a second upload would be paid for twice.
 */
export function partOf(recorded: RecordedPart): Part {
  return withoutUndefined(normalized(recorded));
}

function normalized(recorded: RecordedPart): Part {
  const { state, job, results } = recorded;
  if (job === undefined) return { ...recorded, ...NO_JOB, state: state === 'creating' ? 'creating' : 'planned' };
  const stored = { ...recorded, job, sent: 'stored', errors: undefined } as const;
  switch (state) {
    case 'unknown':
      if (recorded.sent === 'all' || recorded.sent === 'some') return { ...stored, state, sent: 'all' };
      return { ...stored, state, sent: 'stored' };
    case 'uploaded':
      return { ...stored, state };
    case 'completed':
      return { ...stored, state };
    case 'downloaded':
      return results === undefined ? { ...stored, state: 'completed' } : { ...stored, state, results };
    case 'failed':
      return { ...stored, state, errors: recorded.errors };
    case 'planned':
    case 'creating':
    case 'created':
    case 'uploading':
      return uploadOf(recorded, job);
  }
}

/** A recorded part with a job whose upload was not finished, as far as its state says. */
function uploadOf(recorded: RecordedPart, job: string): Part {
  const { state, sent_at, expires_at, missing_since, seen } = recorded;
  const sent = recordedSent(recorded);
  const part = { ...recorded, ...NO_JOB, job, sent_at, expires_at, missing_since, seen };
  if (sent === 'stored') return { ...part, state: 'uploaded', sent };
  if (sent === 'all' || state === 'uploading') return { ...part, state: 'uploading', sent };
  return { ...part, state: 'created', sent: recorded.sent === undefined ? undefined : sent };
}

/** Returns how far the file of a part got. Older records do not say it, and later ones may say it in other words. */
function recordedSent({ state, sent, sent_at: sentAt }: RecordedPart): Sent {
  if (sent !== undefined) return sent === 'some' || sent === 'all' ? sent : 'stored';
  return state === 'uploading' || sentAt !== undefined ? 'all' : 'some';
}

/** How far a part's file got. */
export function sentOf({ sent = 'some' }: Pick<Part, 'sent'>): Sent {
  return sent;
}

/** Whether the last poll did not find the job of a part. */
export function isMissing({ missing_since: since }: Part): boolean {
  return since !== undefined;
}

/** Whether the rows of a part may be paid for: all of its file was sent, and its job neither failed nor went without it. */
export function mayBePaid(part: Pick<Part, 'state' | 'sent'>): boolean {
  return part.state !== 'failed' && sentOf(part) !== 'some';
}

/** Whether a part never had a job. */
export function isUnsent({ state, earlier_jobs: earlier = [] }: Pick<Part, 'state' | 'earlier_jobs'>): boolean {
  return (state === 'planned' || state === 'creating') && earlier.length === 0;
}

/** What is to be done next for a part. */
export type Act = 'create' | 'upload' | 'settle' | 'poll' | 'download' | 'nothing';

const ACTS: Readonly<Record<PartState, Act>> = {
  planned: 'create',
  creating: 'create',
  created: 'upload',
  uploading: 'settle',
  uploaded: 'poll',
  unknown: 'poll',
  completed: 'download',
  downloaded: 'nothing',
  failed: 'nothing',
};

export const PART_STATES = Object.keys(ACTS) as readonly PartState[];

export function todo({ state }: Pick<Part, 'state'>): Act {
  return ACTS[state];
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
