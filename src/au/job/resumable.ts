// Adds the command that resumes the work of an interrupted command to its error.

import { type SvcError, isSvcError } from '../../base/errors.ts';

/** Returns `reason` with the message of the time limit or outage that ended the wait before its own. */
export function withInterruption(interruption: SvcError, reason: SvcError): SvcError {
  return reason.with({ message: `${interruption.message}; ${reason.message}` });
}

/** What a command can resume, as facts of its error. Empty if the command works on all open cycles. */
type ResumedFacts =
  | { readonly file: string }
  | { readonly job: string }
  | { readonly cycle: string }
  | Readonly<Record<string, never>>;

/**
 * Waits for `work`, and adds the command that resumes it to the error of an interrupt or time limit, unless that has one already.
 * @throws SvcError as `work`
 */
export async function resumable<T>(
  next: readonly string[] | (() => readonly string[]),
  facts: ResumedFacts,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout') || error.next !== undefined) throw error;
    const { file, job, cycle }: { readonly file?: string; readonly job?: string; readonly cycle?: string } = facts;
    const name = cycle ? `cycle ${cycle}` : job ? `job ${job}` : (file ?? 'what is open');
    const words = typeof next === 'function' ? next() : next;
    throw error.with({ message: `${error.message}; ${name} can be resumed`, hint: undefined, next: words, facts });
  }
}
