// Polls the service until something is done.

import { isSvcError, type SvcError } from '../../base/errors.ts';
import type { Client } from './client.ts';

export type PollResult<T> = { readonly seen: T } | { readonly error: SvcError };

export interface PollEnd<T> {
  /** The last value that a poll returned. */
  readonly seen: T;
  /** Why all later polls failed; undefined if the last poll succeeded. */
  readonly outage: SvcError | undefined;
  /** The error of the command's time limit; undefined if polling ended otherwise. */
  readonly commandTimeout: SvcError | undefined;
}

export interface PollOptions<T> {
  readonly poll: () => Promise<T>;
  readonly isDone: (seen: T) => boolean;
  /** Returns the longest wait in milliseconds, for the last value, which is undefined until a poll succeeds. */
  readonly limitMs: (seen: T | undefined) => number;
  /** A number from 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
  /** Called after every poll but the last, with the pause before the next poll. */
  readonly onPoll?: ((result: PollResult<T>, nextMs: number) => void) | undefined;
}

/**
 * Polls at once and then at increasing intervals, until `isDone` or the time is up, and resolves to the last value. Failed
 * polls do not end the wait.
 * @throws if no poll succeeded: the error of the last poll, or of the command's time limit
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
    if (isSvcError(error, ...OUTAGE)) return { error };
    throw error;
  }
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * Returns the pause before the next poll in milliseconds: short at first, since a job of a test tenant takes seconds; then
 * from 5 s up to a minute within the first hour, and up to five minutes for the days that a production job takes. Jitter of
 * up to a fifth spreads the polls of jobs that were started together.
 */
export function nextPollDelay(polls: number, waitedMs: number, random: () => number): number {
  const ceiling = waitedMs < 60 * MINUTE ? MINUTE : 5 * MINUTE;
  const base = polls === 0 ? 2 * SECOND : Math.min(ceiling, 5 * SECOND * 1.3 ** (polls - 1));
  return Math.round(base * (1 + 0.2 * random()));
}
