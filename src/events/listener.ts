// Receives events, journals them and passes them on.

import { SvcError } from '../base/errors.ts';
import type { Environment } from '../base/system.ts';
import { createTransport, type Transport } from '../client/http/transport.ts';
import { KnownIds, type ReceivedEvent } from '../client/webhooks/received.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../client/webhooks/receiver.ts';
import { Journal, recentIds } from './journal.ts';
import { type AcceptedEvent, EventQueue, type Sink, type SinkOptions, sinkOf, type Unprocessed } from './sinks.ts';

export interface ListenOptions
  extends Omit<ReceiverOptions, 'accept' | 'clock' | 'limits'>, Omit<SinkOptions, 'transport' | 'limits' | 'attempts'> {
  /** The targets that also get each event. */
  readonly forwardTo?: readonly URL[] | undefined;
  /** The journal file. Every event is written there before the sender gets its 2xx. */
  readonly journal?: string | undefined;
  /** The number of events after which the listener ends. */
  readonly limit?: number | undefined;
  readonly environment?: Environment | undefined;
  readonly redact: (text: string) => string;
}

/** Receives events, stores them, then passes them to its sinks. A slow or failing sink does not delay the response. */
export class Listener {
  readonly #journal: Journal | undefined;
  readonly #ids: KnownIds;
  readonly #queue = new EventQueue<AcceptedEvent>();
  readonly #transport: Transport;
  readonly #sinks: readonly Sink[];
  #receiver: Receiver | undefined;
  /** The number of events that may still be accepted. */
  #capacity: number;
  /** The number of events being stored. */
  #pending = 0;
  #ending = false;

  private constructor(options: ListenOptions, journal: Journal | undefined, ids: KnownIds) {
    this.#journal = journal;
    this.#ids = ids;
    this.#capacity = options.limit ?? Infinity;
    this.#transport = createTransport(options.environment);
    this.#sinks = (options.forwardTo ?? []).map((target) => sinkOf(target, { ...options, transport: this.#transport }));
  }

  /** Starts a listener. @throws SvcError `local` if the port or the journal cannot be opened */
  static async open(options: ListenOptions): Promise<Listener> {
    const ids = new KnownIds();
    if (options.journal !== undefined) for await (const id of recentIds(options.journal)) ids.add(id);
    const journal = options.journal === undefined ? undefined : await Journal.open(options.journal, options.redact);
    const listener = new Listener(options, journal, ids);
    try {
      listener.#receiver = await startReceiver({ ...options, accept: (event) => listener.#accept(event) });
      return listener;
    } catch (error) {
      await journal?.close();
      throw error;
    }
  }

  get url(): string {
    return this.#receiver?.url ?? '';
  }

  /** Yields the events as they arrive, until the listener ends. Only one reader may use this. */
  events(): AsyncGenerator<readonly AcceptedEvent[]> {
    return this.#queue.batches();
  }

  /** Stops accepting events. Accepted events are still processed. */
  end(): void {
    this.#ending = true;
    this.#capacity = 0;
    this.#endOnceQuiet();
  }

  /** Lets the sinks finish until the signal aborts, and returns the events that did not reach a target. */
  async finish(signal: AbortSignal): Promise<readonly Unprocessed[]> {
    this.end();
    await this.#receiver?.close();
    await this.#journal?.close();
    const unprocessed = await Promise.all(this.#sinks.map(({ finish }) => finish(signal)));
    await this.#transport.close();
    return unprocessed.filter((one) => one !== undefined);
  }

  async #accept(received: ReceivedEvent): Promise<void> {
    if (this.#capacity <= 0) throw new SvcError('local', 'the listener is ending');
    if (this.#queue.isFull) throw new SvcError('local', 'too many events wait to be printed');
    this.#capacity -= 1;
    this.#pending += 1;
    try {
      await this.#journal?.append(received);
      this.#dispatch(received);
    } catch (error) {
      // Not if the listener was ended while the event was stored.
      if (!this.#ending) this.#capacity += 1;
      throw error;
    } finally {
      this.#pending -= 1;
      this.#endOnceQuiet();
    }
  }

  #dispatch(received: ReceivedEvent): void {
    const repeated = this.#ids.add(received.delivery.event.id);
    const event = { ...received, repeated, size: received.bytes.length };
    this.#queue.add(event);
    for (const { add } of this.#sinks) add(event);
  }

  #endOnceQuiet(): void {
    if (this.#capacity <= 0 && this.#pending === 0) this.#queue.end();
  }
}
