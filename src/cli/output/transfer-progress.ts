import { drawGauge } from './bars.ts';
import { LINE_INTERVAL_MS, type Stage, Task } from './task.ts';
import { formatDuration } from './time.ts';
import { formatBytes, formatPercent } from './number.ts';

const BAR_COLUMNS = 20;
const MIN_BAR_COLUMNS = 5;
const MIN_LINE_INTERVAL_MS = 1000;
const LINE_STEP = 0.25;

/** A transfer of bytes. A terminal shows a bar. Elsewhere, lines are written at the start and end, and every 10 s or quarter. */
export class TransferProgress extends Task {
  readonly #total: number | undefined;
  #bytes = 0;
  #lastLineAt: number;
  #lastLineShare = 0;

  constructor(label: string, stage: Stage, total: number | undefined) {
    super(label, stage);
    this.#total = total;
    this.#lastLineAt = this.begun;
    if (!stage.isLive) this.say(`started${total === undefined ? '' : `, ${formatBytes(total)}`}`);
  }

  /** Sets the number of bytes done so far. Cheap enough to call for every chunk. */
  update(done: number): void {
    this.#bytes = done;
    if (this.stage.isLive || !this.isOpen) return;
    const now = this.stage.clock.now();
    const share = this.#share() ?? 0;
    const waited = now - this.#lastLineAt;
    const isDue = waited >= LINE_INTERVAL_MS || share - this.#lastLineShare >= LINE_STEP;
    if (!isDue || waited < MIN_LINE_INTERVAL_MS || share >= 1) return;
    this.#lastLineAt = now;
    this.#lastLineShare = share;
    this.say(this.#numbers(now));
  }

  done(): void {
    const elapsed = formatDuration(this.stage.clock.now() - this.begun);
    // A transfer that was too short to appear on the terminal needs no line.
    if (this.end() && (this.wasShown || !this.stage.isLive))
      this.say(`${formatBytes(this.#bytes)} in ${elapsed}`, 'success');
  }

  fail(): void {
    if (this.end()) this.say(`stopped at ${this.#amount()}`);
  }

  // On a narrow terminal the numbers are shown without the bar.
  line(now: number, columns: number): string {
    const share = this.#share();
    const numbers = this.#numbers(now);
    const room = Math.min(BAR_COLUMNS, columns - this.label.length - numbers.length - 2);
    if (share === undefined || room < MIN_BAR_COLUMNS) return `${this.label} ${numbers}`;
    return `${this.label} ${drawGauge(share, room, { unicode: this.stage.unicode })} ${numbers}`;
  }

  #numbers(now: number): string {
    const share = this.#share();
    const rate = this.#bytes / Math.max((now - this.begun) / 1000, 0.001);
    const parts = share === undefined ? [] : [formatPercent(Math.floor(share * 100) / 100)];
    parts.push(this.#amount());
    if (this.#bytes > 0 && now > this.begun) parts.push(`${formatBytes(rate)}/s`);
    if (this.#total !== undefined && this.#bytes > 0 && this.#bytes < this.#total)
      parts.push(`${formatDuration(((this.#total - this.#bytes) / rate) * 1000)} left`);
    return parts.join(', ');
  }

  #amount(): string {
    return formatBytes(this.#bytes) + (this.#total === undefined ? '' : ` of ${formatBytes(this.#total)}`);
  }

  #share(): number | undefined {
    if (this.#total === undefined) return undefined;
    return this.#total === 0 ? 1 : Math.min(1, this.#bytes / this.#total);
  }
}
