import { SvcError } from '../base/errors.ts';
import type { KeyType } from '../schema/tenant.ts';

/** The error for a login to the sandbox. */
export function sandboxNeedsNoKeys(): SvcError {
  return new SvcError('usage', 'the sandbox needs no keys', {
    hint: 'Choose another profile with --profile, or just use --sandbox.',
  });
}

/** The error for a login without a key. */
export function noKeyGiven(): SvcError {
  return new SvcError('usage', 'no key was given, so nothing was stored', {
    hint: 'Give at least one key, or use --sandbox, which needs none.',
  });
}

/** The error for `--rotate` without a stored key of this type, or of any. */
export function noKeyToReplace(profile: string, type: KeyType | undefined): SvcError {
  return new SvcError('usage', `profile ${profile} has no ${type ?? 'stored'} key to replace`, {
    hint: 'Store one:',
    next: ['login'],
  });
}

/** The error for `--rotate` with a stored key of another service. */
export function keyOfAnotherService(
  profile: string,
  type: KeyType,
  baseUrl: string,
  stored: string | undefined,
): SvcError {
  return new SvcError('usage', `the ${type} key of profile ${profile} is not for ${baseUrl}`, {
    hint: `--rotate keeps the base URL: ${stored}.`,
  });
}
