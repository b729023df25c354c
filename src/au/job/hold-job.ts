// Locks the files of a job against other processes.

import type { JobFiles } from './job-files.ts';
import { type LockHost, isHeld } from '../../base/files/lock.ts';

/**
 * Runs `work` while the files of a job are locked against other processes.
 * @throws SvcError `pending` if a living process has locked them, `config` if that cannot be determined
 */
export async function holdJob<T>(
  { system }: { readonly system: LockHost },
  files: Pick<JobFiles, 'hold'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await files.hold(system, work);
  } catch (error) {
    throw isHeld(error) ? error.with({ code: 'pending' }) : error;
  }
}
