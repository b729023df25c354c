import { createHash } from 'node:crypto';
import type { Clock } from '../system.ts';
import { jobOf, type ReceivedEvent } from './received.ts';
import { type Receiver, type Refusal, startReceiver } from './receiver.ts';

/** Where to listen for events about jobs. */
export interface JobHintOptions {
  readonly port: number;
  readonly allowHosts?: readonly string[] | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** An event says of a job that it ended; told once for each event. */
  readonly onHint?: ((job: string, status: string) => void) | undefined;
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

const ENDED = /^account-updater\.job\.(completed|failed)$/;
const JOBS_KEPT = 1000;
const LONGEST_ID = 200;

/** Hears of jobs that ended. A hint tells when to look at a job, never what to believe of it. */
export class JobHints {
  readonly #events = new KnownIds();
  readonly #options: JobHintOptions;
  /** Jobs of which a hint came that nobody took yet. */
  readonly #hinted = new Set<string>();
  #wake: () => void = () => undefined;
  #receiver: Receiver | undefined;

  private constructor(options: JobHintOptions) {
    this.#options = options;
  }

  /** Listens on loopback. @throws SvcError `local` when the port cannot be had */
  static async open(options: JobHintOptions): Promise<JobHints> {
    const hints = new JobHints(options);
    const { port, allowHosts, clock, onRefused } = options;
    const accept = async (event: ReceivedEvent): Promise<void> => hints.#take(event);
    hints.#receiver = await startReceiver({ port, allowHosts, clock, onRefused, accept });
    return hints;
  }

  get url(): string {
    return this.#receiver?.url ?? '';
  }

  /** Resolves when a hint about one of these jobs has come since the last time, or when the signal aborts. For one asker. */
  async next(isWanted: (job: string) => boolean, signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted && !this.#takeHints(isWanted))
      await new Promise<void>((resolve) => (this.#wake = resolve));
    signal.removeEventListener('abort', stop);
  }

  /** Stops listening. */
  async close(): Promise<void> {
    await this.#receiver?.close();
  }

  // A job may not be known yet when its event comes: hints are kept until someone asks.
  #take({ delivery }: ReceivedEvent): void {
    const status = ENDED.exec(delivery.event.type)?.[1];
    const { id: job } = jobOf(delivery);
    if (status === undefined || job === undefined || job.length > LONGEST_ID) return;
    if (this.#events.add(delivery.event.id)) return;
    this.#options.onHint?.(job, status);
    this.#hinted.add(job);
    for (const oldest of this.#hinted) if (this.#hinted.size > JOBS_KEPT) this.#hinted.delete(oldest);
    this.#wake();
  }

  #takeHints(isWanted: (job: string) => boolean): boolean {
    const wanted = Array.from(this.#hinted).filter((job) => isWanted(job));
    for (const job of wanted) this.#hinted.delete(job);
    return wanted.length > 0;
  }
}

const LONGEST_PLAIN_ID = 64;

/** Remembers the last so many ids, in bounded memory: the same event can be delivered more than once. */
export class KnownIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Takes an id in. True when it was known. */
  add(id: string): boolean {
    const key = keyOf(id);
    // Deleted and added anew, an id that keeps coming stays among the last.
    const isKnown = this.#ids.delete(key);
    this.#ids.add(key);
    if (this.#ids.size > this.#limit) for (const oldest of this.#ids) return this.#forget(oldest, isKnown);
    return isKnown;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#ids.size;
  }

  #forget(oldest: string, isKnown: boolean): boolean {
    this.#ids.delete(oldest);
    return isKnown;
  }
}

// An id is whatever the sender puts there, a megabyte of it too.
function keyOf(id: string): string {
  return id.length <= LONGEST_PLAIN_ID ? id : createHash('sha256').update(id).digest('base64');
}
