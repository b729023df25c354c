import type { PartCounts } from '../render/part-bar.ts';
import type { WaitEvent } from '../runs/events.ts';
import { expectedLeft, type Timed, tookMs } from '../runs/expected.ts';
import type { RunPart, RunRecord } from '../runs/record.ts';
import { listRuns } from '../runs/run-list.ts';
import type { Context } from './context.ts';
import { knownRunsRoot } from './runs.ts';

type Looked = Extract<WaitEvent, { kind: 'looked' }>;

/** Runs before this one that a guess is made from, the newest ones. */
const RUNS_KEPT = 20;

/** What can be said of the rest of a wait for a run, or for a job alone. */
export class RunOutlook {
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
  take({ at, since }: Looked): void {
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

  /** How far the parts are, where there are several. */
  counts(): PartCounts | undefined {
    const parts = this.#record?.parts ?? [];
    const count = (...states: RunPart['state'][]): number =>
      parts.filter(({ state }) => states.includes(state)).length;
    const [done, atWork, failed] = [count('completed', 'downloaded'), count('uploaded'), count('failed')];
    return parts.length > 1
      ? { done, atWork, failed, waiting: parts.length - done - atWork - failed }
      : undefined;
  }

  #findEarlier(): readonly number[] {
    const root = knownRunsRoot(this.#context);
    if (root === undefined || this.#record === undefined) return [];
    const { id, profile, base_url: here } = this.#record;
    return listRuns(root)
      .runs.filter(({ record }) => record.id !== id && record.profile === profile && record.base_url === here)
      .slice(0, RUNS_KEPT)
      .flatMap(({ record }) => tookMs(record.parts));
  }
}
