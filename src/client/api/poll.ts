import { isSvcError, type SvcError } from '../../base/errors.ts';
import type { Client } from './client.ts';

/** The result of a poll, or the reason for its failure. */
export type PollResult<T> = { readonly seen: T } | { readonly reason: string; readonly error: SvcError };

/** How polling ended: with what the service said last. */
export interface PollEnd<T> {
  readonly seen: T;
  /** Why the polls since then found nothing. */
  readonly outage: SvcError | undefined;
  /** The error of the command's time limit, where that ended it. */
  readonly commandTimeout: SvcError | undefined;
}

export interface PollOptions<T> {
  readonly poll: () => Promise<T>;
  readonly isDone: (seen: T) => boolean;
  /** Returns the longest wait in milliseconds, given the last result: undefined until a poll is answered. */
  readonly limitMs: (seen: T | undefined) => number;
  /** A number from 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
  /** Called after every poll that was not the last, with the pause before the next one. */
  readonly onPoll?: ((result: PollResult<T>, nextMs: number) => void) | undefined;
}

/**
 * Polls at once and then with increasing intervals, until what is seen is done or the time is up, and resolves to what
 * was seen last. Outages do not end the wait.
 * @throws where no poll was answered, the error of the last one, or that of the command's time limit
 */
export async function pollUntil<T>(
  { clock, signal }: Pick<Client, 'clock' | 'signal'>,
  { poll, isDone, limitMs, random = Math.random, onPoll }: PollOptions<T>,
): Promise<PollEnd<T>> {
  const started = clock.now();
  let last: Omit<PollEnd<T>, 'commandTimeout'> | undefined;
  try {
    for (let polls = 0; ; polls += 1) {
      const result = await resultOf(poll());
      if ('seen' in result) last = { seen: result.seen, outage: undefined };
      else if (last !== undefined) last = { seen: last.seen, outage: result.error };
      if (last !== undefined && 'seen' in result && isDone(last.seen)) return { ...last, commandTimeout: undefined };
      const waitedMs = clock.now() - started;
      const nextMs = Math.min(nextPollDelay(polls, waitedMs, random), limitMs(last?.seen) - waitedMs);
      if (nextMs <= 0 && last !== undefined) return { ...last, commandTimeout: undefined };
      if (nextMs <= 0 && 'error' in result) throw result.error;
      onPoll?.(result, nextMs);
      await clock.sleep(nextMs, signal);
    }
  } catch (error) {
    if (last === undefined || !isSvcError(error, 'timeout')) throw error;
    return { ...last, commandTimeout: error };
  }
}

const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response'] as const;

async function resultOf<T>(poll: Promise<T>): Promise<PollResult<T>> {
  try {
    return { seen: await poll };
  } catch (error) {
    if (isSvcError(error, ...OUTAGE)) return { reason: error.message, error };
    throw error;
  }
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * The pause before the next poll in milliseconds: short at first, since a test tenant is done in seconds; then 5 s
 * growing to a minute within the first hour, and to five minutes for the days that a production job takes. Up to a
 * fifth of jitter keeps jobs that were started together from being polled together.
 */
export function nextPollDelay(polls: number, waitedMs: number, random: () => number): number {
  const ceiling = waitedMs < 60 * MINUTE ? MINUTE : 5 * MINUTE;
  const base = polls === 0 ? 2 * SECOND : Math.min(ceiling, 5 * SECOND * 1.3 ** (polls - 1));
  return Math.round(base * (1 + 0.2 * random()));
}
