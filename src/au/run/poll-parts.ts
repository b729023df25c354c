import { isSvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { findJob, isReadable, jobPages, type RunOptions } from './job.ts';
import { apply, type Clocks, isForgotten, knowsSince, mayBeUnprocessed, type Part, sentOf } from './part.ts';
import { partsByJob, type RunRecord } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { isOwnTenant, standingOf } from './tenant-proof.ts';

export interface RunWork extends RunOptions {
  readonly client: Client;
  readonly record: RunRecord;
  /** Saves the record. Called before and after every action that must not happen twice. */
  readonly save: () => void;
  /**
   * Proves that a part's job is gone where the key sees no jobs, which would show its tenant. Set only if the caller may
   * create a job.
   */
  readonly proveGone?: (() => Promise<boolean>) | undefined;
}

export function workOn(client: Client, run: Pick<RunDirectory, 'record' | 'save'>, options: RunOptions = {}): RunWork {
  return { ...options, client, record: run.record, save: () => run.save() };
}

/** The proof that responses to this command showed the jobs of a run. Only a poll makes one, never the record. */
export class Polled {
  // Private, so that no other value can stand for a poll.
  readonly #record: RunRecord;
  readonly #found: ReadonlyMap<string, AccountUpdaterJob>;

  private constructor(record: RunRecord, found: ReadonlyMap<string, AccountUpdaterJob>) {
    this.#record = record;
    this.#found = found;
  }

  /** Polls the jobs of these parts once and records the findings. */
  static async once(work: RunWork, parts: readonly Part[]): Promise<Polled> {
    const jobs = await findJobs(work.client, new Set(parts.flatMap(({ job }) => job ?? [])));
    for (const [part, how] of tellingOnce(parts, work)) await recordPoll(how, part, jobs.get(part.job ?? ''));
    return new Polled(work.record, jobs);
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Tells whether a response showed the job of a part, even if a later one did not. */
  shows({ job = '' }: Part): boolean {
    return this.#found.has(job);
  }

  /** The parts whose jobs are under way. */
  get underWay(): readonly Part[] {
    return this.#record.parts.filter((part) => part.state === 'uploaded' && !isForgotten(part));
  }
}

/** Yields each part with options for its work. Of the parts that wait for one job, only the first tells what happens. */
export function* tellingOnce<O extends RunOptions>(parts: readonly Part[], options: O): Generator<readonly [Part, O]> {
  for (const [first, ...others] of partsByJob(parts)) {
    yield [first, options];
    for (const part of others) yield [part, { ...options, onEvent: undefined }];
  }
}

/**
 * Polls once every job that is under way or whose upload is in doubt, and records the findings. One list request covers
 * a hundred jobs. Jobs that the list does not show are read one by one.
 */
export function pollJobs(work: RunWork): Promise<Polled> {
  return Polled.once(
    work,
    work.record.parts.filter(({ state }) => state === 'uploaded' || state === 'unknown'),
  );
}

/**
 * Records what one poll found about a part's job; `job` is undefined if the service itself does not know it. Frees the
 * part for another job only if its file was never sent completely or was certainly never processed.
 */
export async function recordPoll(work: RunWork, part: Part, job: AccountUpdaterJob | undefined): Promise<void> {
  if (job === undefined) return recordMissing(work, part);
  apply(part, { kind: 'found', job, at: work.client.now() });
  work.save();
  if (part.state === 'completed') work.onEvent?.({ kind: 'completed', job: job.id });
  if (part.state === 'failed') work.onEvent?.({ kind: 'failed', job: job.id, errors: part.errors ?? [] });
}

/**
 * Records when a job was first found missing.
 * @throws SvcError `config` if the key belongs to another tenant
 */
export async function recordMissingSince(work: RunWork, part: Part): Promise<void> {
  if (knowsSince(part, clocksOf(work))) return;
  if (work.record.tenant_id !== undefined) await isOwnTenant(work);
  if (sentOf(part) !== 'some' && !part.joined?.delivered) work.onEvent?.({ kind: 'missing', job: part.job ?? '' });
  apply(part, { kind: 'missed', clocks: clocksOf(work) });
}

function clocksOf({ client }: RunWork): Clocks {
  return { service: client.now(), here: client.clock.now() };
}

async function recordMissing(work: RunWork, part: Part): Promise<void> {
  await recordMissingSince(work, part);
  const { job = '' } = part;
  const hadFile = sentOf(part) !== 'some';
  const absent = mayBeUnprocessed(part, clocksOf(work)) && (await isAbsentFromList(work, part));
  apply(part, { kind: 'not found', clocks: clocksOf(work), absent });
  work.save();
  if (hadFile && part.state === 'planned') work.onEvent?.({ kind: 'gone', job });
}

/** Tells whether the job is absent from the list of the run's tenant, read back to before the upload. */
async function isAbsentFromList(work: RunWork, part: Part): Promise<boolean> {
  // A job takes its file within an hour of its creation.
  const since = Date.parse(part.sent_at ?? '') - 2 * UPLOAD_LIFE_MS;
  try {
    const standing = await standingOf(work);
    if (standing !== 'own') return standing === 'blank' && ((await work.proveGone?.()) ?? false);
    for await (const jobs of jobPages(work.client)) {
      // An item without a readable id may be the job.
      if (jobs.some(({ id }) => !id || id === part.job)) return false;
      if (jobs.some(({ created_at: at }) => Date.parse(at ?? '') < since)) break;
    }
    return true;
  } catch (error) {
    if (isSvcError(error, 'network', 'server', 'bad_response', 'rate_limited', 'forbidden')) return false;
    // The service may have created a job only to prove the key's tenant. That job has no file and costs nothing.
    if (isSvcError(error, 'outcome_unknown')) return false;
    throw error;
  }
}

/** Finds jobs by their ids, in the list if there are several. A job that the service does not know is left out. */
export async function findJobs(client: Client, ids: ReadonlySet<string>): Promise<Map<string, AccountUpdaterJob>> {
  const wanted = new Set(ids);
  const found = wanted.size > 1 ? await findInList(client, wanted) : new Map<string, AccountUpdaterJob>();
  for (const id of wanted) {
    const job = await findJob(client, id);
    if (job) found.set(id, job);
  }
  return found;
}

/** Finds wanted jobs in the list and removes them from `wanted`. Stops when single reads need fewer requests. */
async function findInList(client: Client, wanted: Set<string>): Promise<Map<string, AccountUpdaterJob>> {
  const found = new Map<string, AccountUpdaterJob>();
  let fruitless = 0;
  for await (const jobs of jobPages(client, { orNone: true })) {
    const before = wanted.size;
    for (const job of jobs) if (isReadable(job) && wanted.delete(job.id)) found.set(job.id, job);
    if (wanted.size === 0) break;
    if (wanted.size < before) continue;
    fruitless += 1;
    // The list begins with the newest jobs. A page without matches after pages with matches is older than all of them.
    if (found.size > 0 || fruitless > wanted.size / 4) break;
  }
  return found;
}
