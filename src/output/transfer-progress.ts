import type { LiveText } from './live-line.ts';
import type { Painted, Stage } from './progress.ts';
import { formatBytes, formatDuration, formatPercent } from './time.ts';

const BAR_COLUMNS = 20;
const LEAST_BAR = 5;
const LINE_EVERY_MS = 10_000;
const LEAST_GAP_MS = 1000;
const STEP = 0.25;

/** A transfer under way. */
export interface TransferProgress {
  /** Bytes done so far, in all. Cheap: call it for every chunk. */
  update(done: number): void;
  /** The transfer is complete. */
  done(): void;
  /** The transfer stopped; the error itself is reported elsewhere. */
  fail(): void;
}

/** Bytes in all where known, and bytes that were there before. */
export interface Size {
  readonly total: number | undefined;
  readonly from: number;
}

/** Bytes on their way: a bar on a terminal; elsewhere a line at the start, each 10 s or quarter, and at the end. */
export class Transfer implements TransferProgress, Painted {
  readonly #label: string;
  readonly #total: number | undefined;
  readonly #stage: Stage;
  readonly #begun: number;
  readonly #from: number;
  #bytes: number;
  #saidAt: number;
  #saidShare = 0;
  #open = true;

  constructor(label: string, size: Size, stage: Stage) {
    const { total, from } = size;
    this.#label = label;
    this.#total = total;
    this.#from = from;
    this.#bytes = from;
    this.#stage = stage;
    this.#begun = stage.clock.now();
    this.#saidAt = this.#begun;
    if (!stage.isLive) stage.note(`${label}: started${total === undefined ? '' : `, ${formatBytes(total)}`}`);
  }

  update(done: number): void {
    this.#bytes = done;
    if (this.#stage.isLive || !this.#open) return;
    const now = this.#stage.clock.now();
    const share = this.#share() ?? 0;
    const waited = now - this.#saidAt;
    if (waited < LEAST_GAP_MS) return;
    if (waited < LINE_EVERY_MS && share - this.#saidShare < STEP) return;
    if (share >= 1) return;
    this.#saidAt = now;
    this.#saidShare = share;
    this.#stage.note(`${this.#label}: ${this.#numbers(now)}`);
  }

  done(): void {
    this.#end(
      'success',
      `${formatBytes(this.#bytes)} in ${formatDuration(this.#elapsed(this.#stage.clock.now()))}`,
    );
  }

  fail(): void {
    const of = this.#total === undefined ? '' : ` of ${formatBytes(this.#total)}`;
    this.#end('note', `stopped at ${formatBytes(this.#bytes)}${of}`);
  }

  // On a narrow terminal the bar gives way to the numbers.
  line(now: number, columns: number): LiveText {
    const share = this.#share();
    const numbers = this.#numbers(now);
    const room = Math.min(BAR_COLUMNS, columns - this.#label.length - numbers.length - 2);
    if (share === undefined || room < LEAST_BAR) return { text: `${this.#label} ${numbers}` };
    return { text: this.#label, bar: { share, columns: room, numbers } };
  }

  #numbers(now: number): string {
    const share = this.#share();
    const moved = this.#bytes - this.#from;
    const rate = moved / Math.max(this.#elapsed(now) / 1000, 0.001);
    const parts = share === undefined ? [] : [formatPercent(Math.floor(share * 100) / 100)];
    parts.push(
      formatBytes(this.#bytes) + (this.#total === undefined ? '' : ` of ${formatBytes(this.#total)}`),
    );
    if (moved > 0 && now > this.#begun) parts.push(`${formatBytes(rate)}/s`);
    if (this.#total !== undefined && moved > 0 && this.#bytes < this.#total)
      parts.push(`${formatDuration(((this.#total - this.#bytes) / rate) * 1000)} left`);
    return parts.join(', ');
  }

  #share(): number | undefined {
    if (this.#total === undefined) return undefined;
    return this.#total === 0 ? 1 : Math.min(1, this.#bytes / this.#total);
  }

  #elapsed(now: number): number {
    return now - this.#begun;
  }

  #end(how: 'note' | 'success', text: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#stage.leave(this);
    this.#stage[how](`${this.#label}: ${text}`);
  }
}
