import { SvcError } from '../errors.ts';

/** The profile that always exists: the embedded sandbox. It is built in and never stored. */
export const SANDBOX_PROFILE = 'sandbox';

/** The profile in use when nothing names one. */
export const DEFAULT_PROFILE = 'default';

/** Why a profile cannot be stored under this name, as the end of a sentence; undefined when it can. */
export function profileNameProblem(name: string): string | undefined {
  if (name === SANDBOX_PROFILE) return 'cannot be sandbox: that one is built in';
  if (name.length > 64) return 'is longer than 64 characters';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    return 'should be letters, digits, dots, dashes and underscores, and begin with a letter or digit';
  // `constructor`, `toString` and the like: every object seems to have a member of that name.
  return name in {} ? 'is one of those that JavaScript keeps' : undefined;
}

/** Throws `SvcError` `usage` when a profile cannot be stored under this name. */
export function checkProfileName(name: string): void {
  const problem = profileNameProblem(name);
  if (problem !== undefined)
    throw new SvcError('usage', `the name of the profile ${problem}`, {
      hint: 'Choose another name, such as prod or test-2.',
    });
}
