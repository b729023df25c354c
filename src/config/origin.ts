import type { Environment } from '../system.ts';

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
