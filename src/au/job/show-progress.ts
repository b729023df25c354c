// Shows what happens to jobs: created, uploading, polled, completed.

import type { Context } from '../../cli/app/command.ts';
import type { TransferProgress } from '../../cli/output/transfer-progress.ts';
import type { WaitProgress } from '../../cli/output/wait-progress.ts';
import { parseTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { firstOf, type JobEvent } from './job.ts';

/** The documented duration of a production job. The job of a test tenant takes seconds. */
const TYPICAL = 'typically about a day';

const NOT_COMPARED =
  'the jobs of the service were not compared with the ledger, because this key may not list them or their list is incomplete: if this state directory is an older copy, rows that were submitted since are billed again';

/** The jobs that a file is sent in now, in the order of its rows. */
export interface SentJobs {
  /** The number of jobs. */
  readonly count: number;
  /** The number of each job, starting at 1. */
  readonly places: ReadonlyMap<string, number>;
}

/** Returns a function that shows the events of jobs. With `sent`, it also shows the number of each job within its file. */
export function showJobs(context: Context, sent?: SentJobs): (event: JobEvent) => void {
  const progress = new JobsProgress(context, sent);
  context.onClose(() => progress.stop());
  return (event) => progress.show(event);
}

/** Shows jobs as live lines on a terminal, and as plain lines elsewhere. */
class JobsProgress {
  readonly #context: Context;
  readonly #sent: SentJobs | undefined;
  /** The transfers by job, because several can run at once. */
  readonly #transfers = new Map<string, TransferProgress>();
  readonly #waits = new Map<string, WaitProgress>();
  /** The jobs that were reported as not found, so that each is reported once. */
  readonly #notFound = new Set<string>();
  /** When the first file was sent, in epoch milliseconds of this machine's clock. */
  #begun: number | undefined;

  constructor(context: Context, sent: SentJobs | undefined) {
    this.#context = context;
    this.#sent = sent;
  }

  show(event: JobEvent): void {
    const { notices } = this.#context;
    switch (event.kind) {
      case 'created':
        return notices.note(`created job ${event.job.id}${this.#partOf(event.job.id)}`);
      case 'missing':
        return this.#missing(event.job);
      case 'unrecorded':
        if (event.jobs === undefined) return notices.warn(NOT_COMPARED);
        return notices.warn(
          `${countText(event.jobs.length, 'job')} of this key that the ledger does not know: ${firstOf(event.jobs)}. If another system uses the key, that is normal ('svc au ignore <job>' says so once); if this state directory is an older copy, rows that were submitted since are billed again. To be stopped instead, add --only-recorded`,
        );
      case 'unclear':
      case 'unproven':
        return this.#interrupted(event);
      case 'uploading':
      case 'downloading':
        return this.#transfer(event);
      case 'uploaded':
      case 'downloaded':
        return this.#transferred(event.job);
      case 'polled':
        this.#begun = this.#begunAt(event);
        return this.#wait(event, event.status);
      case 'unreachable':
        return this.#wait(event, `no response (${event.reason})`);
      case 'completed':
        this.#waits.get(event.job)?.done('completed');
        this.#waits.delete(event.job);
    }
  }

  /** Removes the lines that are still shown at the end of the work. */
  stop(): void {
    for (const transfer of this.#transfers.values()) transfer.fail();
    for (const wait of this.#waits.values()) wait.done();
    this.#transfers.clear();
    this.#waits.clear();
  }

  #missing(job: string): void {
    if (this.#notFound.has(job)) return;
    this.#notFound.add(job);
    this.#context.notices.warn(
      `job ${job} was not found (404), which proves nothing: polling continues, and nothing is uploaded again`,
    );
  }

  #transfer({ kind, job, done, total }: Extract<JobEvent, { kind: 'uploading' | 'downloading' }>): void {
    const label = `${kind === 'uploading' ? 'upload' : 'download'}${this.#partOf(job)}`;
    const transfer = this.#transfers.get(job) ?? this.#context.progress.bytes(label, total);
    this.#transfers.set(job, transfer);
    transfer.update(done);
  }

  #transferred(job: string): void {
    this.#transfers.get(job)?.done();
    this.#transfers.delete(job);
    this.#waits.get(job)?.done('stored');
    this.#waits.delete(job);
  }

  #interrupted(event: Extract<JobEvent, { kind: 'unclear' | 'unproven' }>): void {
    const { notices } = this.#context;
    this.#stopTransfer(event.job);
    if (event.kind === 'unclear')
      return notices.warn(`${event.reason}; polling job ${event.job}, nothing is sent again`);
    const problems = event.flaws.map(({ problem }) => problem).join(', ');
    return notices.warn(
      `the results of job ${event.job} could not be verified (the file ${problems}); downloading them again in ${event.nextMs / 1_000}s`,
    );
  }

  #stopTransfer(job: string): void {
    this.#transfers.get(job)?.fail();
    this.#transfers.delete(job);
  }

  #wait({ job, nextMs }: { readonly job: string; readonly nextMs: number }, state: string): void {
    const { progress, clock, settings } = this.#context;
    const wait = this.#waits.get(job) ?? progress.waiting(job.includes(' ') ? job : `job ${job}`);
    this.#waits.set(job, wait);
    const typical = settings.sandbox ? undefined : TYPICAL;
    wait.update({ state, nextPollAt: clock.now() + nextMs, begun: this.#begun, typical });
  }

  #begunAt({ at, since }: Extract<JobEvent, { kind: 'polled' }>): number | undefined {
    const begun = parseTime(since ?? '');
    return begun === undefined ? undefined : begun - (at - this.#context.clock.now());
  }

  /** Returns `, 2 of 4` for one of several jobs of a file. */
  #partOf(job: string): string {
    const place = this.#sent?.places.get(job);
    return place === undefined || this.#sent?.count === 1 ? '' : `, ${place} of ${this.#sent?.count}`;
  }
}
