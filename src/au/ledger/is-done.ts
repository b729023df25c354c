import type { Entry } from './entry.ts';

/** Tells whether somebody read the results of a job, so that the service had its file. */
export function isDone(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job);
}
