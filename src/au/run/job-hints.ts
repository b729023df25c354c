import { jobOf, KnownIds, type ReceivedEvent } from '../../client/webhooks/received.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../client/webhooks/receiver.ts';

export interface JobHintOptions extends Pick<ReceiverOptions, 'port' | 'clock' | 'onRefused'> {
  readonly allowHosts?: readonly string[] | undefined;
  /** Called once for each event about a job that ended. */
  readonly onHint?: ((job: string, status: string) => void) | undefined;
}

const ENDED = /^account-updater\.job\.(completed|failed)$/;
const JOBS_KEPT = 1000;
const LONGEST_ID = 200;

/** Receives events about jobs that ended. An event only decides when to poll a job; the poll determines its status. */
export class JobHints {
  readonly #events = new KnownIds();
  readonly #options: JobHintOptions;
  /** Jobs with a hint that was not used yet. */
  readonly #hinted = new Set<string>();
  #wake: () => void = () => undefined;
  #receiver: Receiver | undefined;

  private constructor(options: JobHintOptions) {
    this.#options = options;
  }

  /** Starts listening on loopback. @throws SvcError `local` if the port cannot be used */
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

  /**
   * Resolves after a hint about one of these jobs, even one since the last call, or when the signal aborts. Supports
   * one caller.
   */
  async next(isWanted: (job: string) => boolean, signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted && !this.#takeHints(isWanted)) await new Promise<void>((resolve) => (this.#wake = resolve));
    signal.removeEventListener('abort', stop);
  }

  async close(): Promise<void> {
    await this.#receiver?.close();
  }

  // An event may arrive before its job is known, so hints are kept until they are used.
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
