import type { WriteStream } from 'node:tty';
import type { Ora } from 'ora';
import type { Clock } from '../../base/system.ts';
import type { Messages } from './messages.ts';
import type { Stage, Task } from './task.ts';
import { cleanText } from './text.ts';
import { loadUnicodeWidth } from './text-width.ts';
import { TransferProgress } from './transfer-progress.ts';
import { WaitProgress } from './wait-progress.ts';

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

  /** Shows a transfer as bar, bytes, rate and time left. `total` is undefined if unknown. */
  bytes(label: string, total?: number): TransferProgress {
    return this.#add(new TransferProgress(cleanText(label), this.#stage, total));
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
