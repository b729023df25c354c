import { SvcError } from '../errors.ts';
import type { Environment } from '../system.ts';

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

/** Where a setting came from: `--output`, `SVC_OUTPUT`, `profile prod` or `default`. */
export interface Origin {
  readonly kind: 'flag' | 'environment' | 'profile' | 'default';
  readonly name: string;
}

/** A setting and where it came from. */
export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** The origin of a value that nobody chose. */
export const DEFAULT_ORIGIN: Origin = { kind: 'default', name: 'default' };

/** The origin of a value from a profile of the config file. */
export function fromProfile(profile: string): Origin {
  return { kind: 'profile', name: `profile ${profile}` };
}

/** The places where one setting may be given, in order of precedence. */
export interface Sources {
  /** The option's name and what was typed for it. */
  readonly flag?: readonly [name: string, value: string | undefined];
  /** An environment variable. An empty one counts as not set, as is usual. */
  readonly variable?: string;
  /** What the profile holds. */
  readonly stored?: string | undefined;
}

/** The first source that has a value, or undefined. */
export function pickSource(env: Environment, profile: string, sources: Sources): Setting<string> | undefined {
  const [flag, typed] = sources.flag ?? [];
  if (flag !== undefined && typed !== undefined)
    return { value: typed, origin: { kind: 'flag', name: flag } };
  const { variable, stored } = sources;
  const set = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && set) return { value: set, origin: { kind: 'environment', name: variable } };
  return stored === undefined ? undefined : { value: stored, origin: fromProfile(profile) };
}
