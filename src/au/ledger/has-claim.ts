import type { Entry } from './entry.ts';

/** Tells whether there is a claim of a job, which may have ended. */
export function hasClaim(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'claim' && entry.job === job);
}
