// Forwards events to targets, each at its own pace.

import { headersToForward, type ReceivedEvent } from '../client/webhooks/received.ts';
import { forward, type ForwardOptions, type ForwardResult } from './forward.ts';
import { Unsent } from './unsent.ts';

export interface AcceptedEvent extends ReceivedEvent {
  /** Whether an event with this id was received before. */
  readonly repeated: boolean;
  readonly size: number;
}

/** The events that did not reach a target. */
export interface Unprocessed {
  readonly target: URL;
  readonly events: Unsent;
}

export interface SinkOptions extends ForwardOptions {
  readonly onForwarded?: ((event: ReceivedEvent, target: URL, result: ForwardResult) => void) | undefined;
}

/** Forwards events to one target, at its own pace. */
export interface Sink {
  readonly add: (event: AcceptedEvent) => void;
  /** Forwards waiting events until the signal aborts. Resolves to the events that did not reach the target, if any. */
  readonly finish: (signal: AbortSignal) => Promise<Unprocessed | undefined>;
}

export function sinkOf(target: URL, options: SinkOptions): Sink {
  const queue = new EventQueue<AcceptedEvent>();
  const late = new AbortController();
  const abort = (): void => late.abort();
  const events = new Unsent();
  const fail = ({ delivery, receivedAt }: AcceptedEvent): void => events.add(delivery.event.id, receivedAt);
  const send = async (event: AcceptedEvent): Promise<boolean> => {
    const sent = { headers: headersToForward(event.headers), body: event.bytes.toString('utf8') };
    const result = await forward(target, sent, options, late.signal);
    options.onForwarded?.(event, target, result);
    return result.reason === undefined;
  };
  const consume = async (): Promise<void> => {
    for await (const event of queue.items()) if (late.signal.aborted || !(await send(event))) fail(event);
  };
  const done = consume();
  return {
    add: (event) => {
      if (!queue.add(event)) fail(event);
    },
    finish: async (signal) => {
      queue.end();
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      await done;
      signal.removeEventListener('abort', abort);
      return events.count === 0 ? undefined : { target, events };
    },
  };
}

/** The limits of a queue. */
const MAX_ITEMS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** A bounded queue that passes items to one consumer at its own pace. */
export class EventQueue<T extends { readonly size: number }> {
  readonly #waiting: T[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  get isFull(): boolean {
    return this.#waiting.length >= MAX_ITEMS || this.#bytes >= MAX_BYTES;
  }

  /** Adds an item. Returns false if the queue is full or has ended. */
  add(item: T): boolean {
    if (this.#ended || this.isFull) return false;
    this.#waiting.push(item);
    this.#bytes += item.size;
    this.#wake();
    return true;
  }

  /** Stops accepting items. Waiting items are still consumed. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *items(): AsyncGenerator<T> {
    for await (const batch of this.batches(1)) yield* batch;
  }

  /** Yields the waiting items in batches of at most `most`, until the queue ends. */
  async *batches(most = MAX_ITEMS): AsyncGenerator<readonly T[]> {
    for (;;) {
      const batch = this.#waiting.splice(0, most);
      for (const { size } of batch) this.#bytes -= size;
      if (batch.length > 0) yield batch;
      else if (this.#ended) return;
      else await this.#added();
    }
  }

  /** Resolves when the next item is added, or the queue ends. */
  #added(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
