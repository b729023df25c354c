import type { RunEvent, WaitEvent } from '../../account-updater/events.ts';
import { durationMs, expectedLeft, type Timed } from '../../account-updater/expected.ts';
import type { RunRecord } from '../../account-updater/record.ts';
import { listRuns } from '../../account-updater/run-directory.ts';
import type { Context } from '../../app/command.ts';
import type { TransferProgress } from '../../output/transfer-progress.ts';
import type { WaitProgress } from '../../output/wait-progress.ts';
import { knownRunsRoot } from './runs.ts';

/** Shows each step of a job's life as it happens; `record` names the parts of a run of several jobs. */
export function showRun(context: Context, record?: RunRecord): (event: RunEvent) => void {
  const show = new RunProgress(context, record);
  context.onClose(() => show.stop());
  return (event) => show.show(event);
}

/** Shows the steps of a job's life: live lines on a terminal, plain ones elsewhere. */
class RunProgress {
  readonly #context: Context;
  readonly #record: RunRecord | undefined;
  /** By job: several may be under way side by side. */
  readonly #transfers = new Map<string, TransferProgress>();
  readonly #waits = new Map<string, WaitProgress>();
  readonly #outlook: RunOutlook;

  constructor(context: Context, record: RunRecord | undefined) {
    this.#context = context;
    this.#record = record;
    this.#outlook = new RunOutlook(context, record);
  }

  show(event: RunEvent): void {
    const { notices } = this.#context;
    switch (event.kind) {
      case 'created':
        return notices.note(`created job ${event.job.id}${this.#partOf(event.job.id)}`);
      case 'replaced':
        return notices.note(
          `job ${event.gone} expired before it had its file; created job ${event.job} in its place`,
        );
      case 'missing':
        return notices.warn(
          `job ${event.job} was not found (404): that proves nothing, so it is polled on and nothing is uploaded again`,
        );
      case 'gone':
        return notices.warn(
          `job ${event.job} expired without its file: the file was never processed, and needs another job`,
        );
      case 'stray':
        return notices.note(
          `job ${event.job} is pending and may come of a creation without an answer: left alone, it vanishes after an hour`,
        );
      case 'failed':
        return notices.warn(`job ${event.job}${this.#partOf(event.job)} failed: ${event.errors.join('; ')}`);
      case 'unclear':
        this.#stopTransfer(event.job);
        return notices.warn(`${event.reason}; polling job ${event.job}, nothing is sent again`);
      case 'unproven':
        this.#stopTransfer(event.job);
        return notices.warn(
          `the results of job ${event.job} are not proven whole (${event.flaws.map(({ problem }) => `it ${problem}`).join(', ')}); downloading them again in ${event.nextMs / 1_000}s`,
        );
      case 'uploading':
      case 'downloading':
        return this.#move(event);
      case 'uploaded':
      case 'downloaded':
        return this.#arrived(event.job);
      case 'looked':
        this.#outlook.take(event);
        return this.#look(event, event.status);
      case 'cut off':
        return this.#look(event, `no answer (${event.reason})`);
      case 'completed':
        this.#waits.get(event.job)?.done('completed');
        this.#waits.delete(event.job);
    }
  }

  /** Takes away what is still shown: the work ended, well or not. */
  stop(): void {
    for (const transfer of this.#transfers.values()) transfer.fail();
    for (const wait of this.#waits.values()) wait.fail();
    this.#transfers.clear();
    this.#waits.clear();
  }

  #move({ kind, job, done, total }: Extract<RunEvent, { kind: 'uploading' | 'downloading' }>): void {
    const label = `${kind === 'uploading' ? 'upload' : 'download'}${this.#partOf(job)}`;
    const transfer = this.#transfers.get(job) ?? this.#context.progress.bytes(label, total);
    this.#transfers.set(job, transfer);
    transfer.update(done);
  }

  #arrived(job: string): void {
    this.#transfers.get(job)?.done();
    this.#transfers.delete(job);
    this.#waits.get(job)?.done('stored');
    this.#waits.delete(job);
  }

  #stopTransfer(job: string): void {
    this.#transfers.get(job)?.fail();
    this.#transfers.delete(job);
  }

  #look({ job, nextMs }: Extract<RunEvent, { kind: 'looked' | 'cut off' }>, state: string): void {
    const { progress, clock } = this.#context;
    const wait = this.#waits.get(job) ?? progress.waiting(job.startsWith('run-') ? job : `job ${job}`);
    this.#waits.set(job, wait);
    wait.update({
      state,
      nextLookAt: clock.now() + nextMs,
      begun: this.#outlook.begun(),
      left: (now) => this.#outlook.left(now),
    });
  }

  /** «, part 2 of 4», where there are several. */
  #partOf(job: string): string {
    const { parts = [] } = this.#record ?? {};
    const part = parts.length > 1 ? parts.find((each) => each.job === job) : undefined;
    return part === undefined ? '' : `, part ${part.number} of ${parts.length}`;
  }
}

type Polled = Extract<WaitEvent, { kind: 'looked' }>;

/** Runs before this one that a guess is made from, the newest ones. */
const RUNS_KEPT = 20;

/** What can be said of the rest of a wait for a run, or for a job alone. */
class RunOutlook {
  readonly #context: Pick<Context, 'system' | 'clock' | 'settings'>;
  readonly #record: RunRecord | undefined;
  #earlier: readonly number[] | undefined;
  #parts: readonly Timed[] = [];
  /** What the service's clock is ahead of ours, in milliseconds. */
  #ahead = 0;

  constructor(context: Pick<Context, 'system' | 'clock' | 'settings'>, record: RunRecord | undefined) {
    this.#context = context;
    this.#record = record;
  }

  /** Takes in what a look found. */
  take({ at, since }: Polled): void {
    this.#ahead = at - this.#context.clock.now();
    this.#parts = this.#record?.parts ?? [
      { state: 'uploaded', ...(since === undefined ? {} : { sent_at: since }) },
    ];
  }

  /** When the first file of it went out, in epoch milliseconds of the clock here. */
  begun(): number | undefined {
    const sent = this.#parts.map(({ sent_at: at = '' }) => Date.parse(at)).filter((at) => !Number.isNaN(at));
    return sent.length === 0 ? undefined : Math.min(...sent) - this.#ahead;
  }

  /** The time left in words, if anything can be said. `now` in epoch milliseconds. */
  left(now: number): string | undefined {
    const isSandbox = this.#context.settings.sandbox;
    this.#earlier ??= this.#findEarlier();
    return expectedLeft(this.#parts, { now: now + this.#ahead, earlier: this.#earlier, isSandbox });
  }

  #findEarlier(): readonly number[] {
    const root = knownRunsRoot(this.#context);
    if (root === undefined || this.#record === undefined) return [];
    const { id, profile, base_url: here } = this.#record;
    return listRuns(root)
      .runs.filter(({ record }) => record.id !== id && record.profile === profile && record.base_url === here)
      .slice(0, RUNS_KEPT)
      .flatMap(({ record }) => durationMs(record.parts));
  }
}
