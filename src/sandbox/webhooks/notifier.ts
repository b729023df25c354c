import type { Ledger } from '../ledger.ts';
import type { Service } from '../service.ts';
import { isoTime } from '../time.ts';
import { isTaken } from './deliveries.ts';
import { type Occurrence, occurrences } from './occurrences.ts';
import { post } from './post.ts';

/** Who is notified, and how. */
export interface NotifierOptions {
  /** Loopback addresses. */
  readonly urls: readonly string[];
  /** Whether each event that was taken is brought once more. */
  readonly duplicates?: boolean | undefined;
  /** How long an answer may take, in milliseconds; 5 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

// How often the sandbox's time is looked at. What is due is due by that time, not by this one.
const TICK_MS = 100;

/**
 * Tells webhooks what happens in the sandboxes of a directory, whichever process it happened in. What was not taken is
 * tried again after growing pauses, also by a later process.
 */
export class Notifier {
  readonly #service: Service;
  readonly #ledger: Ledger;
  readonly #options: NotifierOptions;
  readonly #stop = new AbortController();
  readonly #busy = new Map<string, Promise<void>>();
  #settling = false;

  constructor(service: Service, ledger: Ledger, options: NotifierOptions) {
    this.#service = service;
    this.#ledger = ledger;
    this.#options = options;
    for (const url of options.urls) this.#since(url, service.state.now());
    const timer = setInterval(() => this.#look(), TICK_MS).unref();
    this.#stop.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Breaks off what is on its way. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#busy.values());
  }

  #look(): void {
    if (this.#settling) return;
    this.#settling = true;
    void this.#notify()
      .catch(() => undefined)
      .finally(() => (this.#settling = false));
  }

  // A state directory that was taken away is met again by the next look.
  async #notify(): Promise<void> {
    const { state, processing } = this.#service;
    const world = state.refresh();
    const now = state.now();
    await processing.settle(world.jobs, now).catch(() => undefined);
    const happened = occurrences(state.world, now);
    for (const url of this.#options.urls) {
      // An address is unknown here only after a reset: it hears of everything since.
      const since = this.#since(url, state.world.start.at);
      for (const occurrence of happened) if (occurrence.at >= since) this.#consider(url, occurrence, now);
    }
  }

  /** The time from which on an address hears of events. */
  #since(url: string, standard: number): number {
    const { state } = this.#service;
    const known = state.world.deliveries.addresses.get(url);
    if (known === undefined) state.record({ type: 'webhook', at: standard, url });
    return known ?? standard;
  }

  #consider(url: string, occurrence: Occurrence, now: number): void {
    const { id } = occurrence.event;
    const name = `${id} ${url}`;
    const isBusy = this.#busy.has(name) || this.#stop.signal.aborted;
    if (isBusy || !this.#service.state.world.deliveries.isDue(url, id, now)) return;
    const bringing = this.#bring(url, occurrence).finally(() => this.#busy.delete(name));
    this.#busy.set(name, bringing);
  }

  async #bring(url: string, occurrence: Occurrence): Promise<void> {
    const { state } = this.#service;
    const status = await this.#attempt(url, occurrence);
    if (this.#stop.signal.aborted) return;
    state.record({ type: 'delivery', at: state.now(), url, event: occurrence.event.id, status });
    if (isTaken(status) && this.#options.duplicates) await this.#attempt(url, occurrence);
  }

  async #attempt(url: string, { event }: Occurrence): Promise<number> {
    const at = isoTime(this.#service.state.now());
    const body = JSON.stringify({ event, delivered_at: at });
    const { timeoutMs = 5000 } = this.#options;
    const { status, received } = await post(url, body, { timeoutMs, signal: this.#stop.signal });
    // A query can hold a secret of the receiver's.
    const path = url.replace(/[?#].*/s, '');
    this.#ledger.note({ at, path, event: event.type, status, received, sent: Buffer.byteLength(body) });
    return status;
  }
}
