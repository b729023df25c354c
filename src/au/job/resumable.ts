// Adds the command that resumes the work of an interrupted command to its error.

import { type SvcError, isSvcError } from '../../base/errors.ts';

/** Returns `reason` with the message of the time limit or outage that ended the wait before its own. */
export function withInterruption(interruption: SvcError, reason: SvcError): SvcError {
  return reason.with({ message: `${interruption.message}; ${reason.message}` });
}

/** What a command can resume, as facts of its error: one of these, or nothing if the command works on all open cycles. */
interface ResumedFacts {
  readonly file?: string;
  readonly job?: string;
  readonly cycle?: string;
}

function resumedName({ file = 'what is open', job, cycle }: ResumedFacts): string {
  if (cycle !== undefined) return `cycle ${cycle}`;
  return job === undefined ? file : `job ${job}`;
}

/**
 * Waits for `work`, and adds the command that resumes it to the error of an interrupt or time limit, unless that has one already.
 * Until `hasBegun`, the error says that nothing was submitted.
 * @throws SvcError as `work`
 */
export async function resumable<T>(
  next: readonly string[] | (() => readonly string[] | undefined),
  facts: ResumedFacts,
  work: Promise<T>,
  hasBegun: () => boolean = () => true,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout') || error.next !== undefined) throw error;
    const words = typeof next === 'function' ? next() : next;
    const message = `${error.message}; ${hasBegun() ? `${resumedName(facts)} can be resumed` : 'nothing was submitted'}`;
    // A hint of the interrupt leads to another command.
    throw error.with({ message, hint: undefined, next: words, facts: { ...facts } });
  }
}
