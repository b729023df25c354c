import { SvcError } from '../base/errors.ts';

/** Returns the error for a file that is not a journal of events. */
export function wrongJournal(problem: string): SvcError {
  return new SvcError('refused_input', problem, { hint: "Name a file that 'svc events listen --journal' wrote." });
}
