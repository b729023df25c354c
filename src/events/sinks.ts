import { type ChildEnd, runLine } from '../base/security/child-environment.ts';
import type { Environment } from '../base/system.ts';
import { headersToForward, jobOf, type ReceivedEvent, textIn } from '../client/webhooks/received.ts';
import type { Refusal } from '../client/webhooks/receiver.ts';
import { forward, type ForwardOptions, type ForwardResult } from './forward.ts';

export interface AcceptedEvent extends ReceivedEvent {
  /** Whether an event with this id was received before. */
  readonly repeated: boolean;
  readonly size: number;
  /** The bytes before it in the journal, if there is one. */
  readonly journalBytes?: number | undefined;
}

const MAX_REPORTED_IDS = 5;

export interface Unprocessed {
  readonly target: URL | undefined;
  readonly count: number;
  readonly ids: readonly string[];
  /** The bytes before the first of them in the journal; 0 without a journal. */
  readonly journalBytes: number;
}

export interface SinkOptions extends ForwardOptions {
  readonly forwardTo?: readonly URL[] | undefined;
  readonly command?: EventCommand | undefined;
  readonly onEvent?: ((event: ListenerEvent) => void) | undefined;
}

/** A processor of events, at its own pace. */
export interface Sink {
  readonly add: (event: AcceptedEvent) => void;
  /** Processes waiting events until the signal aborts. Resolves to those that were not processed. */
  readonly finish: (signal: AbortSignal) => Promise<Unprocessed | undefined>;
}

export function sinksOf(options: SinkOptions): Sink[] {
  const { forwardTo = [], command, onEvent } = options;
  const forwards = forwardTo.map((target) =>
    sink(target, async (event, signal) => {
      const sent = { headers: headersToForward(event.headers), body: event.bytes.toString('utf8') };
      const result = await forward(target, sent, options, signal);
      onEvent?.({ kind: 'forwarded', event, target, ...result });
      return result.reason === undefined;
    }),
  );
  if (command === undefined) return forwards;
  const run = sink(undefined, async (event, signal) => {
    const onLine = (line: string): void => onEvent?.({ kind: 'command output', line });
    const result = await runCommand(command, event, event.repeated, onLine, signal);
    onEvent?.({ kind: 'command ended', event, ...result });
    return result.code === 0 && result.problem === undefined;
  });
  return [...forwards, run];
}

/** `work` must not reject, ends soon when its signal aborts, and resolves to whether it was done. */
function sink(target: URL | undefined, work: (event: AcceptedEvent, signal: AbortSignal) => Promise<boolean>): Sink {
  const queue = new EventQueue<AcceptedEvent>();
  const late = new AbortController();
  const abort = (): void => late.abort();
  let unprocessed: Unprocessed | undefined;
  const fail = ({ delivery, journalBytes: at = 0 }: AcceptedEvent): void => {
    const { count, ids, journalBytes } = unprocessed ?? { count: 0, ids: [], journalBytes: at };
    const reported = ids.length < MAX_REPORTED_IDS ? [...ids, delivery.event.id] : ids;
    // An event that finds the queue full fails at once, before the events that wait in the queue.
    unprocessed = { target, count: count + 1, ids: reported, journalBytes: Math.min(journalBytes, at) };
  };
  const consume = async (): Promise<void> => {
    for await (const event of queue.items()) if (late.signal.aborted || !(await work(event, late.signal))) fail(event);
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
      return unprocessed;
    },
  };
}

export type ListenerEvent =
  | ({ readonly kind: 'refused' } & Refusal)
  | ({ readonly kind: 'forwarded'; readonly event: ReceivedEvent; readonly target: URL } & ForwardResult)
  | ({ readonly kind: 'command ended'; readonly event: ReceivedEvent } & ChildEnd)
  | { readonly kind: 'command output'; readonly line: string };

export interface EventCommand {
  /** A shell command of the operator. No part of an event is ever inserted into it. */
  readonly line: string;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  /** Time limit in milliseconds. */
  readonly limitMs: number;
}

/**
 * Runs the command with the event on standard input and its fields in the environment. Its output is passed on line by
 * line. Never rejects.
 */
export async function runCommand(
  command: EventCommand,
  event: ReceivedEvent,
  repeated: boolean,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<ChildEnd> {
  const { line, environment: env, platform, ...limits } = command;
  const added = eventVariables(event, repeated, platform);
  return runLine(line, event.bytes, { env, ...limits, added, onLine, signal });
}

/** Returns variables with the sanitized fields of the event, undefined for missing ones. */
export function eventVariables(
  { delivery, receivedAt }: ReceivedEvent,
  repeated: boolean,
  platform: NodeJS.Platform,
): Environment {
  const { event } = delivery;
  const job = jobOf(delivery);
  const fields: Readonly<Record<string, string | undefined>> = {
    SVC_EVENT_ID: event.id,
    SVC_EVENT_TYPE: event.type,
    SVC_EVENT_TIMESTAMP: textIn(event, 'timestamp'),
    SVC_EVENT_TENANT_ID: textIn(event, 'tenant_id'),
    SVC_EVENT_TRACE_ID: textIn(event, 'trace_id'),
    SVC_EVENT_DELIVERED_AT: textIn(delivery, 'delivered_at'),
    SVC_EVENT_RECEIVED_AT: new Date(receivedAt).toISOString(),
    SVC_EVENT_REPEATED: String(repeated),
    SVC_JOB_ID: job.id,
    SVC_JOB_STATUS: job.status,
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value && sanitized(value, platform)]));
}

// Removes line breaks and control characters. The shell of Windows parses the values of variables like typed text.
function sanitized(value: string, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32' && !/^[\w.:+-]*$/.test(value)) return undefined;
  return value.replaceAll(/\p{Cc}/gu, ' ').slice(0, 1000);
}

/** The most items, and bytes, that may wait. */
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

  /** Adds an item. False when the queue is full or has ended. */
  add(item: T): boolean {
    if (this.#ended || this.isFull) return false;
    this.#waiting.push(item);
    this.#bytes += item.size;
    this.#wake();
    return true;
  }

  /** Accepts no more items. Waiting ones are still consumed. */
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
