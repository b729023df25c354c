import { SvcError } from '../../base/errors.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { Proof } from '../../client/transfer/receive.ts';
import { UNDER_WAY_MS, UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';

// This file alone changes parts of a run. It uses no clock, no disk and no service: `next` returns the part after an
// event, `apply` writes it into the record, and the caller saves the record.

/** The rows of a part. They are fixed until it has a job. */
export interface Slice {
  /** The number of the part, starting at 1. */
  readonly number: number;
  readonly first_row: number;
  readonly rows: number;
  /** The file in the run's directory that contains the rows; undefined for the run's copy of its request file. */
  readonly rows_file?: string | undefined;
  /** The offsets of the part in that file, in bytes. The header is not between them. */
  readonly start: number;
  readonly end: number;
  /** The size of the upload, including the header. */
  readonly bytes: number;
  readonly sha256: string;
  /** Set if another run sent the rows, here or on another machine. */
  readonly joined?: JoinedJob | undefined;
}

/** The job of another run that has the rows of a part. */
export interface JoinedJob {
  /** The number of rows of the job, which may have rows of other files. */
  readonly rows: number;
  /** Who sent it, as user@host. */
  readonly by: string;
  /** Set if the job has no token twice. Jobs of earlier builds may have a token for several merchants. */
  readonly tokens_once?: true | undefined;
  /** Set if the ledger says that somebody read the results of the job. The service may have forgotten the job since. */
  readonly delivered?: true | undefined;
  /** When the ledger can prove that the job was removed without its file, in the service's time. */
  readonly provable_at?: string | undefined;
  /** Until when it can, because the service may forget the job later. */
  readonly provable_until?: string | undefined;
}

/** The members that stay when a part gets another job. */
interface Past {
  /** When the first job was requested, in the service's time. Kept while that request may have created another job. */
  readonly creating_since?: string | undefined;
  /** The earlier jobs of the part, latest last. */
  readonly earlier_jobs?: readonly EarlierJob[] | undefined;
}

/** The members about the current job, which another job never inherits. */
interface JobMembers {
  readonly job: string;
  /** How much of the file was sent. Recorded before each step. */
  readonly sent: Sent;
  /** When the upload began, in the service's time. */
  readonly sent_at: string | undefined;
  /** When the upload address expires, in the service's time. */
  readonly expires_at: string | undefined;
  /** The start of the period in which every poll found the job missing, in the service's time. */
  readonly missing_since: string | undefined;
  /** Set once a poll after `PROOF_MS` did not find the job, so that its absence proves nothing any more. */
  readonly unprovable: true | undefined;
  /** When the job was first seen as completed, in the service's time. */
  readonly done_at: string | undefined;
  /** The job's status at the last poll, in the service's words. */
  readonly seen: string | undefined;
  /** When that poll was, in the service's time. */
  readonly seen_at: string | undefined;
  /** The reasons that the service gave for the job's failure. */
  readonly errors: readonly string[] | undefined;
  /** The unchanged results, in the run's directory. */
  readonly results: PartResults | undefined;
  /** Results that were identical in each attempt but are not proven complete. Kept for the operator to check. */
  readonly unproven: PartFile | undefined;
}

/**
 * How much of a part's file was sent: part of it, all of it (the store may have it), or all of it with confirmation.
 */
export type Sent = 'some' | 'all' | 'stored';

/** An earlier job of a part. A job ends when it fails, or when it is deleted after an hour without a file. */
export interface EarlierJob {
  readonly job: string;
  readonly ended: 'gone' | 'failed';
  /** When its upload began. Set only for a missing job whose file was sent completely. */
  readonly sent_at?: string | undefined;
}

/** A file of results: its name or path, its size in bytes, and its hexadecimal hash. */
export interface ResultsFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A result file from a part's job. */
export interface PartFile extends ResultsFile {
  /** The id of the job. */
  readonly job: string;
}

/** The proven results of a part. */
export interface PartResults extends PartFile {
  readonly proof: Proof | 'operator';
  /** Whether each result was matched with a requested row of its token; undefined in results that the operator accepted. */
  readonly compared?: boolean | undefined;
}

/** A part in one state. `Own` are the members that this state requires, and `May` the members that it allows. */
type In<S extends string, Own extends Some<keyof JobMembers> = object, May extends keyof JobMembers = never> = Slice &
  Past & { readonly state: S } & Own &
  Some<May> & { readonly [K in Exclude<keyof JobMembers, keyof Own | May>]?: undefined };

type Some<K extends keyof JobMembers> = { readonly [Name in K]?: JobMembers[Name] | undefined };

type Found = 'expires_at' | 'missing_since' | 'unprovable' | 'seen' | 'seen_at';
type Ended = Found | 'sent_at' | 'done_at' | 'results' | 'unproven';

/**
 * Every state with its members. A state that ends in `…ing` is recorded before the action, so that a crash shows what
 * to check.
 */
interface Parts {
  readonly planned: In<'planned'>;
  readonly creating: In<'creating'>;
  readonly created: In<'created', { readonly job: string; readonly sent?: 'some' | undefined }, Found | 'sent_at'>;
  /** The store has nothing usable (`some`), or may have the file (`all`). */
  readonly uploading: In<'uploading', { readonly job: string; readonly sent: 'some' | 'all' }, Found | 'sent_at'>;
  readonly uploaded: In<'uploaded', Stored, Ended>;
  /** It is unknown whether the service has the file. With `stored`, the upload was confirmed but the job is missing. */
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

/** One upload of a run: a slice of the input file below the header, and its job. */
export type Part = Parts[PartState];

/**
 * The time of the service and the time of this machine. Both must have passed a limit, because a `Date` header or a
 * clock may be wrong.
 */
export interface Clocks {
  readonly service: number;
  readonly here: number;
}

/** The events of a part by name, with the facts that the part needs. Times are in epoch milliseconds. */
interface Events {
  /** A request for a job is about to be sent. */
  readonly creating: { readonly at: number };
  /** The request created no job for this run. `wasUnclear` means that an earlier request may have. */
  readonly 'not created': { readonly wasUnclear: boolean };
  readonly created: { readonly job: CreatedJob; readonly wasUnclear: boolean };
  /** The new job is dropped before anything is sent to it, because another job may already have the rows. */
  readonly forgotten: object;
  /**
   * The claim of the job ended: the job of another run failed or has no file, or the operator freed the rows of a job.
   * This run may send the rows.
   */
  readonly freed: object;
  /** The ledger says that somebody read the results of another run's job. */
  readonly delivered: object;
  /** The ledger binds other rows to the job. The record is older than what was uploaded to it, and was restored since. */
  readonly reassigned: object;
  /** The upload is about to begin. */
  readonly sending: { readonly at: number; readonly expiresAt: string | null | undefined };
  /** How much the store may have: `all` before the last bytes are sent, `some` after it clearly refused them. */
  readonly sent: { readonly sent: 'some' | 'all' };
  /** The store acknowledged the file. */
  readonly stored: object;
  /** The job was deleted while its upload was waiting for a new address. */
  readonly expired: object;
  /** An earlier job that seemed to be gone turns out to have the file. */
  readonly back: { readonly job: string };
  /** The job exists. Polling continues. */
  readonly sighted: object;
  /** The job is missing. Polling continues. */
  readonly missed: { readonly clocks: Clocks };
  readonly found: { readonly job: FoundJob; readonly at: number };
  /**
   * The service itself reports that it does not know the job. With `absent`, the tenant's job list does not contain it
   * either.
   */
  readonly 'not found': { readonly clocks: Clocks; readonly absent: boolean };
  /** The time limit ended while the job was missing. */
  readonly 'given up': object;
  /** The operator submits the file again, and the service still reports the job as failed. */
  readonly retried: object;
  readonly downloaded: { readonly results: PartResults };
  /** Results were refused and kept for the operator to check. */
  readonly unproven: { readonly file: PartFile };
  /** The job failed, which became known only during the download. */
  readonly failed: { readonly reason: string };
  /** The stored results still have their hash, and no others could be downloaded. */
  readonly intact: object;
  /** The stored results were changed. */
  readonly spoiled: object;
  /** The results must be downloaded again. */
  readonly 'wanted again': object;
  /** The service's errors and the unproven results are removed. */
  readonly pruned: object;
}

type CreatedJob = Pick<AccountUpdaterJob, 'id' | 'expires_at'>;
type FoundJob = Pick<AccountUpdaterJob, 'status' | 'expires_at' | 'errors'>;

export type PartEvent = { readonly [K in keyof Events]: { readonly kind: K } & Events[K] }[keyof Events];

/** The allowed states of each event, and the step that the event causes. All other pairs are bugs. */
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
      // An earlier request may have created a job that received the file. The upload first checks this.
      creating_since: wasUnclear ? part.creating_since : undefined,
    }),
  },
  forgotten: { created: forget },
  freed: { uploaded: free, unknown: free, completed: free, failed: free },
  delivered: { uploaded: noteDelivered, unknown: noteDelivered },
  reassigned: { created: giveUpJob, uploaded: giveUpJob, unknown: giveUpJob, completed: giveUpJob, failed: giveUpJob },
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
  sighted: atAnyJob((part) => ({ ...part, ...FOUND })),
  missed: atAnyJob(miss),
  found: atAnyJob(find),
  'not found': atAnyJob(lose),
  'given up': {
    uploaded: (part) => (part.missing_since === undefined ? refuse(part, 'given up') : { ...part, state: 'unknown' }),
  },
  retried: { failed: (part) => (part.joined === undefined ? detached(part, 'failed') : refuse(part, 'retried')) },
  downloaded: { uploaded: keepShared, unknown: keepShared, completed: keep, downloaded: keep, failed: keep },
  unproven: { completed: (part, { file }) => ({ ...part, unproven: file }) },
  failed: { completed: (part, { reason }) => ({ ...part, state: 'failed', errors: [reason] }) },
  intact: {
    completed: (part) =>
      part.results === undefined ? refuse(part, 'intact') : { ...part, state: 'downloaded', results: part.results },
    // The results are stored already; only saving the record had failed.
    downloaded: (part) => part,
  },
  spoiled: { downloaded: (part) => ({ ...part, state: 'completed', results: undefined }) },
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

/** Returns one step for every state with a job and without downloaded results. */
function atAnyJob<E>(step: (part: Asked, event: E) => Part) {
  return { created: step, uploading: step, uploaded: step, unknown: step, completed: step, failed: step };
}

/**
 * Returns the part after an event.
 * @throws SvcError `bug` for an event that cannot occur in this state, such as a second upload of a file that may be
 *   stored
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

/** Writes the part after an event into the record, which the caller saves. Parts are changed nowhere else. */
export function apply(part: Part, event: PartEvent): void {
  const after = next(part, event);
  for (const name of Object.keys(part)) if (!(name in after)) Reflect.deleteProperty(part, name);
  Object.assign(part, after);
}

function begin(part: Parts['planned' | 'creating'], { at }: Events['creating']): Part {
  return { ...part, state: 'creating', creating_since: part.creating_since ?? isoTime(at) };
}

function forget(part: Parts['created']): Part {
  // After an upload has begun, its job is the only source for the outcome.
  if (part.sent_at !== undefined || part.sent !== undefined) return refuse(part, 'forgotten');
  return { ...part, ...NO_JOB, state: part.creating_since === undefined ? 'planned' : 'creating' };
}

function free(part: Parts['uploaded' | 'unknown' | 'completed' | 'failed']): Part {
  const isOwn = part.joined === undefined;
  if (isOwn && part.state !== 'unknown' && part.state !== 'uploaded') return refuse(part, 'freed');
  return { ...part, ...NO_JOB, joined: undefined, state: 'planned' };
}

function noteDelivered(part: Parts['uploaded' | 'unknown']): Part {
  if (part.joined === undefined) return refuse(part, 'delivered');
  const joined = { ...part.joined, delivered: true } as const;
  return { ...part, state: 'uploaded', sent: 'stored', joined, unprovable: undefined };
}

function giveUpJob(part: Parts['created' | 'uploaded' | 'unknown' | 'completed' | 'failed']): Part {
  // A job to which this record began to send has the rows of this record.
  if (part.joined !== undefined || part.sent_at !== undefined) return refuse(part, 'reassigned');
  return { ...part, ...NO_JOB, state: 'planned' };
}

/** Begins an upload. Earlier requests for jobs were already checked, so `creating_since` is no longer needed. */
function send(part: Parts['created' | 'uploading'], { at, expiresAt }: Events['sending']): Part {
  const expires_at = expiresAt || part.expires_at;
  return { ...part, state: 'uploading', sent: 'some', sent_at: isoTime(at), expires_at, creating_since: undefined };
}

/** Returns a part whose upload left nothing usable in the store, and refuses any other part. */
function unsent(part: Parts['uploading'], kind: keyof Events): Parts['uploading'] {
  return part.sent === 'some' ? part : refuse(part, kind);
}

function goBack(part: Parts['planned' | 'creating' | 'created' | 'uploading'], { job }: Events['back']): Part {
  // The job created as a replacement has no file, and stays in the record as a job that is gone.
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
  return knowsSince(part, clocks) ? part : { ...part, missing_since: isoTime(Math.max(clocks.service, clocks.here)) };
}

/** Tells whether it is known since when a job is missing. A time after both clocks was recorded by a wrong one. */
export function knowsSince({ missing_since: since = '' }: Part, { service, here }: Clocks): boolean {
  return Date.parse(since) <= Math.max(service, here);
}

function find(part: Asked, { job, at }: Events['found']): Part {
  const here = { ...part, ...FOUND, seen: job.status, seen_at: isoTime(at), errors: undefined };
  if (job.status === 'pending') {
    const still = { ...here, expires_at: job.expires_at || part.expires_at };
    if (still.sent === undefined || still.sent === 'some') return { ...still, state: 'created', sent: 'some' };
    if (still.sent === 'all') return { ...still, state: 'unknown', sent: 'all' };
    // A confirmed upload may take a moment to appear, so the job is polled and not doubted.
    return { ...still, state: 'uploaded', sent: 'stored' };
  }
  const stored = { ...here, sent: 'stored' } as const;
  if (job.status === 'completed') return { ...stored, state: 'completed', done_at: part.done_at ?? isoTime(at) };
  if (job.status === 'failed') return { ...stored, state: 'failed', errors: job.errors ?? [] };
  return { ...stored, state: 'uploaded' };
}

/** What a poll that finds the job removes from its part. */
const FOUND = { missing_since: undefined, unprovable: undefined } as const;

function lose(before: Asked, { clocks, absent }: Events['not found']): Part {
  const part = miss(before, { clocks });
  // Only the ledger ends the claim of another run's job.
  const isOwn = part.joined === undefined;
  if (isOwn && (sentOf(part) === 'some' || (absent && mayBeUnprocessed(part, clocks)))) return detached(part, 'gone');
  // A job whose results were read had its file.
  if (part.joined?.delivered)
    return { ...part, state: 'uploaded', sent: 'stored', unprovable: undefined, errors: undefined };
  const isDoubtful = !isOwn || sentOf(part) === 'all';
  const unprovable = part.unprovable ?? (isDoubtful && isTooOld(part, clocks) ? true : undefined);
  const still = { ...part, unprovable, errors: undefined };
  if (still.sent !== 'stored') return { ...still, state: 'unknown', sent: 'all' };
  if (isLongMissing(part, clocks)) return { ...still, state: 'unknown', sent: 'stored' };
  return { ...still, state: 'uploaded', sent: 'stored' };
}

/**
 * Tells whether the tenant's job list can still prove that an upload was never processed. The store must not have
 * confirmed the upload, both clocks must be past the time in which bytes sent to its address may arrive, and its job
 * must have been missing for a while. Later, the service may have finished the job and forgotten it.
 */
export function mayBeUnprocessed(part: Part, clocks: Clocks): boolean {
  const isExpired = Math.min(clocks.service, clocks.here) > addressEnd(part) + UNDER_WAY_MS;
  return sentOf(part) === 'all' && isExpired && isLongMissing(part, clocks) && !isTooOld(part, clocks);
}

/** How long after its creation a missing job proves that its file was never processed. A job takes up to seven days. */
const PROOF_MS = 7 * DAY_MS;

/** Tells whether one of the clocks is past the time in which a missing job proves something. */
function isTooOld(part: Part, { service, here }: Clocks): boolean {
  const { joined } = part;
  const end = joined ? Date.parse(joined.provable_until ?? '') : addressEnd(part) - UPLOAD_LIFE_MS + PROOF_MS;
  return Math.max(service, here) > end;
}

/** Returns when the upload address of a part's job expires, or NaN if that is unknown. */
function addressEnd({ sent_at: sentAt = '', expires_at: expiresAt }: Part): number {
  return expiresAt === undefined ? Date.parse(sentAt) + UPLOAD_LIFE_MS : Date.parse(expiresAt);
}

/**
 * Returns when it will be known whether the service has a part's file, in epoch milliseconds of the service's time. A
 * job without a file is deleted when its upload address expires. Bytes may still be under way for a while then. Undefined if the
 * outcome is known already or may remain unknown.
 */
export function doubtEnd(part: Part): number | undefined {
  if (part.joined !== undefined) {
    const { provable_at: provable } = part.joined;
    const isProvable = part.state === 'unknown' && provable !== undefined && !part.unprovable;
    return isProvable ? Date.parse(provable) : undefined;
  }
  const expires = addressEnd(part);
  if (part.state !== 'unknown' || part.sent !== 'all' || part.unprovable || Number.isNaN(expires)) return undefined;
  const missing = part.missing_since === undefined ? expires : Date.parse(part.missing_since);
  return Math.max(expires + UNDER_WAY_MS, missing + MISSING_MS);
}

/** How long a job must be missing in every poll before this counts, because a replica may lag. */
export const MISSING_MS = 5 * MINUTE_MS;

function isLongMissing({ missing_since: since = '' }: Part, { service, here }: Clocks): boolean {
  return Math.min(service, here) - Date.parse(since) >= MISSING_MS;
}

/** Frees a part for another job, because its job failed or was deleted without a file. */
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
  unprovable: undefined,
  done_at: undefined,
  seen: undefined,
  seen_at: undefined,
  errors: undefined,
  results: undefined,
  unproven: undefined,
} as const satisfies Record<keyof JobMembers, undefined>;

function keep(part: Parts['completed' | 'downloaded' | 'failed'], { results }: Events['downloaded']): Part {
  return { ...part, state: 'downloaded', results, unproven: undefined, errors: undefined };
}

/** Another part of the run has the results of the job, so that the job needs no poll. */
function keepShared(part: Parts['uploaded' | 'unknown'], { results }: Events['downloaded']): Part {
  if (part.joined === undefined) return refuse(part, 'downloaded');
  return { ...part, ...FOUND, state: 'downloaded', sent: 'stored', seen: 'completed', results, unproven: undefined };
}

/** A part as recorded by this or another version. */
export type RecordedPart = Slice &
  Past & { readonly state: PartState; readonly sent?: string | undefined } & Some<Exclude<keyof JobMembers, 'sent'>>;

/**
 * Returns a recorded part with the members of its state, and with members that this version does not know. Assumes the
 * worse case if an older version did not record a fact, because a second upload would be billed again.
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

/** Returns a recorded part whose upload was not finished, according to its state. */
function uploadOf(recorded: RecordedPart, job: string): Part {
  const { state, sent_at, expires_at, missing_since, seen, seen_at } = recorded;
  const sent = recordedSent(recorded);
  const part = { ...recorded, ...NO_JOB, job, sent_at, expires_at, missing_since, seen, seen_at };
  if (sent === 'stored') return { ...part, state: 'uploaded', sent };
  if (sent === 'all' || state === 'uploading') return { ...part, state: 'uploading', sent };
  return { ...part, state: 'created', sent: recorded.sent === undefined ? undefined : sent };
}

/**
 * Returns how much of a part's file was sent. Older records do not contain this, and later versions may use other
 * words.
 */
function recordedSent({ state, sent, sent_at: sentAt }: RecordedPart): Sent {
  if (sent !== undefined) return sent === 'some' || sent === 'all' ? sent : 'stored';
  return state === 'uploading' || sentAt !== undefined ? 'all' : 'some';
}

/** Returns a part whose rows the job of another run has. Without the service's word about the job, that is in doubt. */
export function joinedPart(slice: Slice & { readonly joined: JoinedJob }, job: string, isKnown: boolean): Part {
  return isKnown
    ? { ...slice, state: 'uploaded', job, sent: 'stored' }
    : { ...slice, state: 'unknown', job, sent: 'all' };
}

/** Returns how much of a part's file was sent. */
export function sentOf({ sent = 'some' }: Pick<Part, 'sent'>): Sent {
  return sent;
}

/** Tells whether the last poll did not find the job of a part. */
export function isMissing({ missing_since: since }: Part): boolean {
  return since !== undefined;
}

/** Tells whether the last poll did not find another run's job whose results were read before. */
export function isForgotten(part: Part): boolean {
  return part.state === 'uploaded' && part.joined?.delivered === true && isMissing(part);
}

/** Tells whether the rows of a part may be billed: its file was sent completely, and its job did not fail. */
export function mayBePaid(part: Pick<Part, 'state' | 'sent'>): boolean {
  return part.state !== 'failed' && sentOf(part) !== 'some';
}

/** Tells whether a part never had a job. */
export function isUnsent({ state, earlier_jobs: earlier = [] }: Pick<Part, 'state' | 'earlier_jobs'>): boolean {
  return (state === 'planned' || state === 'creating') && earlier.length === 0;
}

/** Returns the ids of every job that a part ever had: the current one, then earlier ones. */
export function everyJobOf({ job, earlier_jobs: earlier = [] }: Part): string[] {
  return [...(job === undefined ? [] : [job]), ...earlier.map((each) => each.job)];
}

/** The next action for a part. */
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

export function nextAct({ state }: Pick<Part, 'state'>): Act {
  return ACTS[state];
}
