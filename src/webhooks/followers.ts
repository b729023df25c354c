import { headersToPassOn } from './address.ts';
import { forward, type ForwardOptions, type ForwardResult } from './forward.ts';
import { Queue } from './queue.ts';
import type { ReceivedEvent } from './received.ts';
import type { Refusal } from './receiver.ts';
import { type CommandResult, type EventCommand, runCommand } from './run-command.ts';

/** An event as the listener hands it on. */
export interface ListenedEvent extends ReceivedEvent {
  /** An event with this id came before. */
  readonly repeated: boolean;
  /** Bytes of the body. */
  readonly size: number;
}

const MAX_REPORTED_IDS = 5;

/** What was not done at the end, in events. */
export interface Unprocessed {
  readonly target: URL | undefined;
  readonly count: number;
  /** Ids of the first of them. */
  readonly ids: readonly string[];
  /** When the first of them came, in milliseconds since the epoch. */
  readonly firstAt: number;
}

/** What is to be done with each event after it was taken. */
export interface Following extends ForwardOptions {
  /** Each event is posted to each of these. */
  readonly forwardTo?: readonly URL[] | undefined;
  readonly command?: EventCommand | undefined;
  readonly onHappening?: ((happening: ListenerEvent) => void) | undefined;
}

/** One thing that is done with each event, at its own pace. */
export interface Sink {
  readonly add: (event: ListenedEvent) => void;
  /** Works off what waits until the signal aborts. Resolves to what was not done. */
  readonly finish: (signal: AbortSignal) => Promise<Unprocessed | undefined>;
}

/** One for each target, and one for the command. */
export function sinksOf(following: Following): Sink[] {
  const { forwardTo = [], command, onHappening } = following;
  const forwards = forwardTo.map((target) =>
    sink(target, async (event, signal) => {
      const sent = { headers: headersToPassOn(event.headers), body: event.bytes.toString('utf8') };
      const result = await forward(target, sent, following, signal);
      onHappening?.({ kind: 'forwarded', event, target, ...result });
      return result.reason === undefined;
    }),
  );
  if (command === undefined) return forwards;
  const run = sink(undefined, async (event, signal) => {
    const onLine = (line: string): void => onHappening?.({ kind: 'said', line });
    const result = await runCommand(command, event, event.repeated, onLine, signal);
    onHappening?.({ kind: 'ran', event, ...result });
    return result.code === 0 && result.problem === undefined;
  });
  return [...forwards, run];
}

/** `work` must not reject, ends soon when its signal aborts, and resolves to whether it was done. */
function sink(
  target: URL | undefined,
  work: (event: ListenedEvent, signal: AbortSignal) => Promise<boolean>,
): Sink {
  const queue = new Queue<ListenedEvent>();
  const late = new AbortController();
  const abort = (): void => late.abort();
  let unprocessed: Unprocessed | undefined;
  const fail = ({ receivedAt, delivery }: ListenedEvent): void => {
    const { count, ids, firstAt } = unprocessed ?? { count: 0, ids: [], firstAt: receivedAt };
    const reported = ids.length < MAX_REPORTED_IDS ? [...ids, delivery.event.id] : ids;
    unprocessed = { target, count: count + 1, ids: reported, firstAt };
  };
  const consume = async (): Promise<void> => {
    for await (const event of queue.items())
      if (late.signal.aborted || !(await work(event, late.signal))) fail(event);
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

/** What happens beside the events themselves while a listener runs. */
export type ListenerEvent =
  | ({ readonly kind: 'refused' } & Refusal)
  | ({ readonly kind: 'forwarded'; readonly event: ReceivedEvent; readonly target: URL } & ForwardResult)
  | ({ readonly kind: 'ran'; readonly event: ReceivedEvent } & CommandResult)
  /** The command wrote a line. */
  | { readonly kind: 'said'; readonly line: string };
