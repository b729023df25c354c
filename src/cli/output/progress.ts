import type { WriteStream } from 'node:tty';
import type { Ora } from 'ora';
import type { Clock } from '../../base/system.ts';
import { drawGauge } from './bars.ts';
import type { Messages } from './messages.ts';
import { cleanText, loadUnicodeWidth } from './text.ts';
import { formatBytes, formatDuration, formatPercent } from './time.ts';

/** Shorter work shows no spinner, which takes time to load and would only flash. */
const SHOW_AFTER_MS = 1000;
const UPDATE_MS = 250;

// The spinner, a space, and the last column, which stays free because a full line makes some terminals wrap.
const SPINNER_COLUMNS = 3;

/** The terminal on which ora paints. */
interface Screen {
  readonly stream: WriteStream;
  readonly redact: (text: string) => string;
  /** Whether the terminal shows braille and block characters. */
  readonly unicode: boolean;
}

interface ProgressOptions {
  readonly notices: Messages;
  readonly clock: Clock;
  /** The terminal; undefined where stderr is no terminal and gets plain lines. */
  readonly screen?: Screen | undefined;
  /** Stops painting and restores the cursor when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The part of `Progress` that its tasks use. */
interface Stage {
  readonly clock: Clock;
  /** Whether a line is painted, so that plain lines need not be written. */
  readonly isLive: boolean;
  /** Whether the painted line shows block characters. */
  readonly unicode: boolean;
  readonly notices: Messages;
  leave(task: Task): void;
}

/** Shows the progress of long work: on a terminal a spinner (ora) after a second, elsewhere lines. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #stage: Stage;
  #tasks: readonly Task[] = [];
  #stop: AbortController | undefined;
  #spinner: Ora | undefined;
  #isPaused = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    const { notices, clock, screen } = options;
    const isLive = screen !== undefined && notices.shows('normal');
    const unicode = screen?.unicode ?? false;
    this.#stage = { clock, isLive, unicode, notices, leave: (task) => this.#remove(task) };
    options.signal?.addEventListener('abort', () => this.end(), { once: true });
    // ora divides by the number of columns, and with 0 columns would clear lines endlessly.
    screen?.stream.on('resize', () => {
      if (screen.stream.columns === 0) this.#hide();
    });
  }

  /** Shows a transfer as bar, bytes, rate and time left. `total` is undefined if unknown; `from` bytes are done already. */
  bytes(label: string, total?: number, from = 0): TransferProgress {
    return this.#add(new TransferProgress(cleanText(label), this.#stage, total, from));
  }

  /** Shows a wait: the current state, the time waited so far, and the time until the next poll. */
  waiting(label: string): WaitProgress {
    return this.#add(new WaitProgress(cleanText(label), this.#stage));
  }

  /** Like {@link waiting}, for waits whose lines would be noise in a log. Returns undefined unless a terminal shows progress. */
  watching(label: string): WaitProgress | undefined {
    return this.#stage.isLive ? this.waiting(label) : undefined;
  }

  /** Stops all painting and restores the cursor. */
  end(): void {
    this.#tasks = [];
    this.#stop?.abort();
    this.#stop = undefined;
    this.#hide();
  }

  /** Stops painting while a question is open. */
  pause(): void {
    this.#isPaused = true;
    this.#hide();
  }

  /** Paints again after {@link pause}. */
  resume(): void {
    this.#isPaused = false;
  }

  #add<T extends Task>(task: T): T {
    if (!this.#stage.isLive || this.#options.signal?.aborted === true) return task;
    this.#tasks = [...this.#tasks, task];
    if (this.#stop === undefined) {
      this.#stop = new AbortController();
      void this.#repaint(this.#stop.signal);
    }
    return task;
  }

  #remove(task: Task): void {
    this.#tasks = this.#tasks.filter((other) => other !== task);
    if (this.#tasks.length === 0) this.end();
  }

  #hide(): void {
    this.#spinner?.stop();
  }

  async #repaint(stop: AbortSignal): Promise<void> {
    const { clock, screen } = this.#options;
    if (screen === undefined) return;
    await clock.sleep(SHOW_AFTER_MS, stop).catch(() => {});
    if (stop.aborted) return;
    const [spinner, ruler] = await Promise.all([this.#spinner ?? createSpinner(screen), loadUnicodeWidth()]);
    if (stop.aborted) return;
    this.#spinner = spinner;
    while (!stop.aborted) {
      const columns = screen.stream.columns - SPINNER_COLUMNS;
      const [first, ...others] = this.#tasks;
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      if (first !== undefined && !this.#isPaused && columns > 0) {
        const line = first.show(clock.now(), columns - more.length) + more;
        spinner.text = ruler.cut(screen.redact(line), columns);
        spinner.start();
      }
      await clock.sleep(UPDATE_MS, stop).catch(() => {});
    }
  }
}

async function createSpinner({ stream, unicode }: Screen): Promise<Ora> {
  const { default: ora } = await import('ora');
  // `isEnabled`: svc decides whether to draw. `discardStdin`: raw input would keep Ctrl-C from sending a signal.
  return ora({ stream, spinner: unicode ? 'dots' : 'line', color: false, isEnabled: true, discardStdin: false });
}

const MINUTE = 60_000;
const WAIT_LINE_INTERVAL_MS = 5 * MINUTE;

export interface PollState {
  /** The state that the service reports, such as "processing". */
  readonly state: string;
  /** The time of the next poll, in epoch milliseconds. */
  readonly nextPollAt?: number | undefined;
  /** The time at which the awaited work began, in epoch milliseconds. Default: the beginning of the wait. */
  readonly begun?: number | undefined;
  /** The usual duration of such a wait, in words. Shown after a minute. */
  readonly typical?: string | undefined;
}

/** Work in progress, with a label, a beginning and an end. */
abstract class Task {
  protected readonly label: string;
  protected readonly stage: Stage;
  protected readonly begun: number;
  protected isOpen = true;
  /** Whether a line of this task was painted. */
  protected wasShown = false;

  constructor(label: string, stage: Stage) {
    this.label = label;
    this.stage = stage;
    this.begun = stage.clock.now();
  }

  /** Returns the text to show now, within `columns` if possible. */
  abstract line(now: number, columns: number): string;

  /** Returns the line to paint. */
  show(now: number, columns: number): string {
    this.wasShown = true;
    return this.line(now, columns);
  }

  protected say(text: string, how: 'note' | 'success' = 'note'): void {
    this.stage.notices[how](`${this.label}: ${text}`);
  }

  /** Ends the task. Returns false if it had ended before. */
  protected end(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.stage.leave(this);
    return true;
  }
}

/** A wait. A terminal shows a spinner with state, age and next poll. Elsewhere, a line is written on change or every 5 minutes. */
export class WaitProgress extends Task {
  #poll: PollState | undefined;
  #lastLine: { readonly state: string; readonly at: number } | undefined;

  update(poll: PollState): void {
    this.#poll = { ...poll, state: cleanText(poll.state) };
    const now = this.stage.clock.now();
    if (this.stage.isLive || !this.isOpen) return;
    const last = this.#lastLine;
    if (last !== undefined && now - last.at < pauseBetween(last.state, this.#poll.state)) return;
    this.#lastLine = { state: this.#poll.state, at: now };
    this.stage.notices.note(this.line(now));
  }

  /** Ends the wait. `outcome` is a line for a log; a terminal does not need this line, since the output follows. */
  done(outcome?: string): void {
    this.end();
    if (outcome !== undefined && !this.stage.isLive) this.say(outcome);
  }

  /** Ends the wait without a line: after a failure that the caller reports, or where the output follows. */
  fail(): void {
    this.end();
  }

  // Drops facts from the end when the terminal is narrow.
  line(now: number, columns = Infinity): string {
    const facts = this.#facts(now);
    const text = (): string => (facts.length === 0 ? this.label : `${this.label}: ${facts.join(', ')}`);
    while (facts.length > 1 && text().length > columns) facts.pop();
    return text();
  }

  #facts(now: number): string[] {
    const { state, nextPollAt = 0, begun = this.begun, typical } = this.#poll ?? {};
    const age = now - begun;
    const facts = [
      state,
      age >= 1000 && `for ${formatDuration(age)}`,
      nextPollAt > now && `next poll in ${formatDuration(nextPollAt - now)}`,
      age >= MINUTE && typical,
    ];
    return facts.filter((fact): fact is string => typeof fact === 'string' && fact !== '');
  }
}

/** Returns the least time between the lines of two states: none for a new state, 10 s if only numbers differ, 5 min if equal. */
function pauseBetween(state: string, next: string): number {
  if (state === next) return WAIT_LINE_INTERVAL_MS;
  return wordsIn(state) === wordsIn(next) ? LINE_INTERVAL_MS : 0;
}

function wordsIn(state: string): string {
  return state.replaceAll(/[\d.,]+/g, '');
}

const BAR_COLUMNS = 20;
const MIN_BAR_COLUMNS = 5;
const LINE_INTERVAL_MS = 10_000;
const MIN_LINE_INTERVAL_MS = 1000;
const LINE_STEP = 0.25;

/** A transfer of bytes. A terminal shows a bar. Elsewhere, lines are written at the start and end, and every 10 s or quarter. */
export class TransferProgress extends Task {
  readonly #total: number | undefined;
  readonly #from: number;
  #bytes: number;
  #lastLineAt: number;
  #lastLineShare = 0;

  constructor(label: string, stage: Stage, total: number | undefined, from: number) {
    super(label, stage);
    this.#total = total;
    this.#from = from;
    this.#bytes = from;
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

  /** Ends the transfer without a line, where an error message follows. */
  drop(): void {
    this.end();
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
    const moved = this.#bytes - this.#from;
    const rate = moved / Math.max((now - this.begun) / 1000, 0.001);
    const parts = share === undefined ? [] : [formatPercent(Math.floor(share * 100) / 100)];
    parts.push(this.#amount());
    if (moved > 0 && now > this.begun) parts.push(`${formatBytes(rate)}/s`);
    if (this.#total !== undefined && moved > 0 && this.#bytes < this.#total)
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
