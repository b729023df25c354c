import type { Environment } from '../../base/system.ts';

/** The origin of a setting: `--output`, `SVC_OUTPUT`, `profile prod` or `default`. */
export interface Origin {
  readonly kind: 'flag' | 'environment' | 'profile' | 'default';
  readonly name: string;
}

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

export const DEFAULT_ORIGIN: Origin = { kind: 'default', name: 'default' };

export function fromProfile(profile: string): Origin {
  return { kind: 'profile', name: `profile ${profile}` };
}

/** The sources of one setting, in order of precedence. */
export interface Sources {
  /** The option's name and its typed value. */
  readonly flag?: readonly [name: string, value: string | undefined];
  /** An environment variable. An empty variable counts as not set. */
  readonly variable?: string;
  readonly stored?: string | undefined;
}

/** Returns the first text that is set among the sources; undefined if none is. */
export function pickSource(env: Environment, profile: string, sources: Sources): Setting<string> | undefined {
  const [flag, typed] = sources.flag ?? [];
  if (flag !== undefined && typed !== undefined) return { value: typed, origin: { kind: 'flag', name: flag } };
  const { variable, stored } = sources;
  const set = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && set) return { value: set, origin: { kind: 'environment', name: variable } };
  return stored === undefined ? undefined : { value: stored, origin: fromProfile(profile) };
}
