import { Backlog } from './backlog.ts';
import { forward, type ForwardOptions } from './forward.ts';
import type { Happening } from './happening.ts';
import { headersToPassOn } from './headers.ts';
import type { ReceivedEvent } from './received.ts';
import { type EventCommand, runCommand } from './run-command.ts';

/** An event as the listener hands it on. */
export interface ListenedEvent extends ReceivedEvent {
  /** An event with this id came before. */
  readonly repeated: boolean;
  /** Bytes of the body. */
  readonly size: number;
}

const IDS_TOLD = 5;

/** What was not done at the end, in events. */
export interface Undone {
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
  readonly onHappening?: ((happening: Happening) => void) | undefined;
}

/** One thing that is done with each event, at its own pace. */
export interface Follower {
  readonly backlog: Backlog<ListenedEvent>;
  readonly fail: (event: ListenedEvent) => void;
  readonly undone: () => Undone | undefined;
}

/** One for each target, and one for the command. */
export function followersOf(following: Following): Follower[] {
  const { forwardTo = [], command, onHappening } = following;
  const forwards = forwardTo.map((target) =>
    follower(target, async (event, signal) => {
      const sent = { headers: headersToPassOn(event.headers), body: event.bytes.toString('utf8') };
      const result = await forward(target, sent, following, signal);
      onHappening?.({ kind: 'forwarded', event, target, ...result });
      return result.reason === undefined;
    }),
  );
  if (command === undefined) return forwards;
  const run = follower(undefined, async (event, signal) => {
    const onLine = (line: string): void => onHappening?.({ kind: 'said', line });
    const result = await runCommand(command, event, event.repeated, onLine, signal);
    onHappening?.({ kind: 'ran', event, ...result });
    return result.code === 0 && result.problem === undefined;
  });
  return [...forwards, run];
}

function follower(
  target: URL | undefined,
  work: (event: ListenedEvent, signal: AbortSignal) => Promise<boolean>,
): Follower {
  let undone: Undone | undefined;
  const fail = (event: ListenedEvent): void => {
    const { receivedAt, delivery } = event;
    undone ??= { target, count: 0, ids: [], firstAt: receivedAt };
    const ids = undone.ids.length < IDS_TOLD ? [...undone.ids, delivery.event.id] : undone.ids;
    undone = { ...undone, count: undone.count + 1, ids };
  };
  const backlog = new Backlog<ListenedEvent>(async (event, signal) => {
    if (!(await work(event, signal))) fail(event);
  });
  return { backlog, fail, undone: () => undone };
}
