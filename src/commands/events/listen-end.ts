import type { Context } from '../../cli/context.ts';
import { isSvcError } from '../../errors.ts';
import type { Undone } from '../../events/followers.ts';
import type { Listener } from '../../events/listen.ts';

// What is still being forwarded or run: after Ctrl-C a moment, else long enough for every attempt.
const GRACE_MS = { interrupted: 2_000, done: 60_000 };

/** Prints until the listener ends by itself, the time is over, or the command is asked to end. */
export async function printUntilEnd(
  { signal, clock }: Context,
  listener: Listener,
  forMs: number | undefined,
  printing: () => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  if (forMs !== undefined) clock.sleep(forMs, ended).then(() => listener.end(), ignore);
  const stop = (): void => listener.end();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([printing(), graceAfter(signal, clock, over.signal)]);
  } finally {
    over.abort();
    signal.removeEventListener('abort', stop);
  }
}

// A reader of stdout that has fallen silent must not hold up the end.
function graceAfter(signal: AbortSignal, clock: Context['clock'], over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = (): void => void clock.sleep(GRACE_MS.interrupted, over).then(resolve, ignore);
    if (signal.aborted) wait();
    signal.addEventListener('abort', wait, { once: true });
  });
}

/** Gives what is still being done with the events its time, and resolves to what was not done. */
export async function finish({ signal, clock }: Context, listener: Listener): Promise<readonly Undone[]> {
  const over = new AbortController();
  const late = new AbortController();
  const grace = (ms: number): void => void clock.sleep(ms, over.signal).then(() => late.abort(), ignore);
  const hurry = (): void => grace(GRACE_MS.interrupted);
  grace(signal.aborted ? GRACE_MS.interrupted : GRACE_MS.done);
  signal.addEventListener('abort', hurry, { once: true });
  const undone = await listener.finish(late.signal);
  over.abort();
  signal.removeEventListener('abort', hurry);
  return undone;
}

/** Being interrupted is how a listener ends: no error, but the exit code says what ended it. */
export function exitCode({ signal }: Context): number {
  if (!signal.aborted) return 0;
  if (isSvcError(signal.reason, 'hangup', 'interrupted', 'terminated')) return signal.reason.exitCode;
  throw signal.reason;
}

function ignore(): void {
  // The sleep was cut short: nothing is left to wait for.
}
