import { isSvcError, SvcError } from '../errors.ts';

/**
 * Turns the end of a wait that was cut short into one that says how to go on: an interrupt keeps its own exit
 * code, a `--timeout` that is over becomes `pending`.
 */
export async function orGoOnWith<T>(command: string, job: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'time_up')) throw error;
    const code = error.code === 'time_up' ? 'pending' : error.code;
    throw new SvcError(code, `${error.message}; ${job} can be continued`, {
      hint: `Continue with '${command}'.`,
      facts: { job },
    });
  }
}
