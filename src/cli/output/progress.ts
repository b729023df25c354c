import type { WriteStream } from 'node:tty';
import type { Ora } from 'ora';
import type { Clock } from '../../base/system.ts';
import { drawGauge } from './bars.ts';
import type { Messages } from './messages.ts';
import { cleanText, loadUnicodeWidth } from './text.ts';
import { formatBytes, formatDuration, formatPercent } from './time.ts';

/** Shorter work is not shown: the spinner takes time to load, and would only flash. */
const SHOW_AFTER_MS = 1000;
const UPDATE_MS = 250;

// The last column of the terminal stays free, since a full line makes some terminals wrap.
const SPINNER_COLUMNS = 3;

/** The terminal on which ora paints. */
interface Screen {
  readonly stream: WriteStream;
  readonly redact: (text: string) => string;
  /** Whether it shows braille and block characters. */
  readonly unicode: boolean;
}

interface ProgressOptions {
  readonly notices: Messages;
  readonly clock: Clock;
  /** Absent where stderr is no terminal, and plain lines stand in. */
  readonly screen?: Screen | undefined;
  /** Ends the painting and gives the cursor back as soon as it aborts. */
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

/** Progress of long work: on a terminal a spinner (ora) after a second, elsewhere lines. */
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
    // ora divides by the columns, and with 0 of them would clear lines without end.
    screen?.stream.on('resize', () => {
      if (screen.stream.columns === 0) this.#hide();
    });
  }

  /** A transfer of `total` bytes, if known, of which `from` are done already: bar, bytes, rate and time left. */
  bytes(label: string, total?: number, from = 0): TransferProgress {
    return this.#add(new TransferProgress(cleanText(label), this.#stage, total, from));
  }

  /** A wait for something to change: its state, how long it has taken, and when the next poll is. */
  waiting(label: string): WaitProgress {
    return this.#add(new WaitProgress(cleanText(label), this.#stage));
  }

  /** A wait that is shown on a terminal only: elsewhere its lines would be noise. */
  watching(label: string): WaitProgress | undefined {
    return this.#stage.isLive ? this.waiting(label) : undefined;
  }

  /** Stops all painting and gives the cursor back. */
  end(): void {
    this.#tasks = [];
    this.#stop?.abort();
    this.#stop = undefined;
    this.#hide();
  }

  /** Paints nothing while a question is open. */
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
  // svc decides itself whether to draw, and raw input would stop Ctrl-C from being a signal.
  return ora({ stream, spinner: unicode ? 'dots' : 'line', color: false, isEnabled: true, discardStdin: false });
}

const MINUTE = 60_000;
const WAIT_LINE_EVERY_MS = 5 * MINUTE;

export interface PollState {
  /** The state in the service's word: "processing". */
  readonly state: string;
  /** When the next poll is, in epoch milliseconds. */
  readonly nextPollAt?: number | undefined;
  /** When the awaited work began, in epoch milliseconds. Default: the beginning of the wait. */
  readonly begun?: number | undefined;
  /** How long such a wait usually takes, in words. Shown after a minute. */
  readonly typical?: string | undefined;
}

/** Something under way: it has a name, a beginning and an end. */
abstract class Task {
  protected readonly label: string;
  protected readonly stage: Stage;
  protected readonly begun: number;
  protected isOpen = true;
  /** Whether it was painted. */
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

/** A wait: a spinner with state, age and next poll on a terminal; elsewhere a line on change or each five minutes. */
export class WaitProgress extends Task {
  #poll: PollState | undefined;
  #said: { readonly state: string; readonly at: number } | undefined;

  update(poll: PollState): void {
    this.#poll = { ...poll, state: cleanText(poll.state) };
    const now = this.stage.clock.now();
    if (this.stage.isLive || !this.isOpen) return;
    if (this.#said !== undefined && now - this.#said.at < pauseBetween(this.#said.state, this.#poll.state)) return;
    this.#said = { state: this.#poll.state, at: now };
    this.stage.notices.note(this.line(now));
  }

  /** Ends the wait. `outcome` is a line for a log; on a terminal, the output that follows says it. */
  done(outcome?: string): void {
    this.end();
    if (outcome !== undefined && !this.stage.isLive) this.say(outcome);
  }

  /** The wait was given up; the error itself is reported elsewhere. */
  fail(): void {
    this.end();
  }

  // On a narrow terminal the last facts are left out.
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

/** Returns the pause before a line with the next state, longer if only its numbers changed. */
function pauseBetween(state: string, next: string): number {
  if (state === next) return WAIT_LINE_EVERY_MS;
  return wordsIn(state) === wordsIn(next) ? LINE_EVERY_MS : 0;
}

function wordsIn(state: string): string {
  return state.replaceAll(/[\d.,]+/g, '');
}

const BAR_COLUMNS = 20;
const LEAST_BAR = 5;
const LINE_EVERY_MS = 10_000;
const LEAST_GAP_MS = 1000;
const STEP = 0.25;

/** Bytes on their way: a bar on a terminal; elsewhere a line at the start, each 10 s or quarter, and at the end. */
export class TransferProgress extends Task {
  readonly #total: number | undefined;
  readonly #from: number;
  #bytes: number;
  #saidAt: number;
  #saidShare = 0;

  constructor(label: string, stage: Stage, total: number | undefined, from: number) {
    super(label, stage);
    this.#total = total;
    this.#from = from;
    this.#bytes = from;
    this.#saidAt = this.begun;
    if (!stage.isLive) this.say(`started${total === undefined ? '' : `, ${formatBytes(total)}`}`);
  }

  /** Sets the bytes done so far. Cheap enough for every chunk. */
  update(done: number): void {
    this.#bytes = done;
    if (this.stage.isLive || !this.isOpen) return;
    const now = this.stage.clock.now();
    const share = this.#share() ?? 0;
    const waited = now - this.#saidAt;
    const isDue = waited >= LINE_EVERY_MS || share - this.#saidShare >= STEP;
    if (!isDue || waited < LEAST_GAP_MS || share >= 1) return;
    this.#saidAt = now;
    this.#saidShare = share;
    this.say(this.#numbers(now));
  }

  done(): void {
    const elapsed = formatDuration(this.stage.clock.now() - this.begun);
    // A transfer that ended before a terminal showed it needs no line.
    if (this.end() && (this.wasShown || !this.stage.isLive))
      this.say(`${formatBytes(this.#bytes)} in ${elapsed}`, 'success');
  }

  /** Ends the transfer without a line, since the error says all that matters. */
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
    if (share === undefined || room < LEAST_BAR) return `${this.label} ${numbers}`;
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
