import { isSvcError, SvcError } from '../errors.ts';
import { isLoopback } from '../security/address.ts';
import { typedWord } from '../security/typed-word.ts';
import { DEFAULT_MAX_WAIT_MS } from '../system.ts';
import { parseBaseUrl } from './base-url.ts';
import { OUTPUT_FORMATS, type OutputFormat, parseDuration, TIME_STYLES, type TimeStyle } from './choices.ts';
import { type Config, type Profile, storedProfile } from './document.ts';
import type { PathsHost } from './paths.ts';
import {
  checkProfileName,
  DEFAULT_ORIGIN,
  DEFAULT_PROFILE,
  type Origin,
  pickSource,
  SANDBOX_PROFILE,
  type Setting,
  type Sources,
} from './profile-name.ts';
import { readConfig } from './store.ts';

/** The global options that settings depend on. Undefined: not given. `timeout` and `maxWait` in milliseconds. */
export interface SettingFlags {
  readonly profile?: string | undefined;
  readonly sandbox?: boolean | undefined;
  readonly baseUrl?: string | undefined;
  readonly output?: string | undefined;
  readonly time?: string | undefined;
  readonly timeout?: number | undefined;
  readonly maxWait?: number | undefined;
}

/** How to resolve. `newProfile`: a profile that is named but not stored is no error (for `svc login`). */
export interface ResolveOptions {
  readonly newProfile?: boolean | undefined;
}

/** Everything that a command takes from flags, environment and profile, each with where it came from. */
export interface Settings {
  /** Name of the profile in use. */
  readonly profile: Setting<string>;
  /** Whether that is the built-in sandbox. */
  readonly sandbox: boolean;
  /** The profile as it is stored; undefined for the sandbox and for a name with nothing stored. */
  readonly stored: Profile | undefined;
  /** Undefined: none is configured. In the sandbox: the embedded one is meant, wherever it listens. */
  readonly baseUrl: Setting<URL> | undefined;
  /** Undefined value: depends on whether stdout is a terminal, and on the command. */
  readonly output: Setting<OutputFormat | undefined>;
  /** Undefined value: depends on whether stdout is a terminal. */
  readonly time: Setting<TimeStyle | undefined>;
  /** Bound on the whole command in milliseconds; undefined value: none was asked for. */
  readonly timeoutMs: Setting<number | undefined>;
  /** Longest single pause that a rate limit may ask for, in milliseconds. */
  readonly maxWaitMs: Setting<number>;
  /** The config file, where there is a place for one; undefined too when it was not looked at. */
  readonly configFile: string | undefined;
  /** Lines for stderr about what was repaired while reading. */
  readonly notices: readonly string[];
  /** The base URL, or `SvcError` `config` saying how to give one. */
  requireBaseUrl(): URL;
}

/**
 * Settings by precedence: flag, environment, profile, default. Throws `SvcError`: `usage` for a bad flag, `config`
 * for a bad variable, a profile that does not exist, or a config file that cannot be used.
 */
export async function resolveSettings(
  system: PathsHost,
  flags: SettingFlags,
  options: ResolveOptions = {},
): Promise<Settings> {
  const chosen = await chooseProfile(system, flags, options.newProfile ?? false);
  const { stored } = chosen;
  const read = <T>(sources: Sources, parse: Parse<T>): Setting<T> | undefined => {
    const found = pickSource(system.env, chosen.name.value, sources);
    return found && { value: parse(found.value, found.origin), origin: found.origin };
  };
  const baseUrl = chosen.sandbox
    ? read({ flag: ['--base-url', flags.baseUrl] }, sandboxBaseUrl)
    : read(
        { flag: ['--base-url', flags.baseUrl], variable: 'SVC_BASE_URL', stored: stored?.base_url },
        parseBaseUrl,
      );
  return {
    profile: chosen.name,
    sandbox: chosen.sandbox,
    stored,
    baseUrl,
    output:
      read(
        { flag: ['--output', flags.output], variable: 'SVC_OUTPUT', stored: stored?.output },
        choice(OUTPUT_FORMATS),
      ) ?? NONE,
    time:
      read(
        { flag: ['--time', flags.time], variable: 'SVC_TIME', stored: stored?.time },
        choice(TIME_STYLES),
      ) ?? NONE,
    timeoutMs: typed('--timeout', flags.timeout) ?? read({ variable: 'SVC_TIMEOUT' }, duration) ?? NONE,
    maxWaitMs: typed('--max-wait', flags.maxWait) ?? DEFAULT_MAX_WAIT,
    configFile: chosen.configFile,
    notices: chosen.notices,
    requireBaseUrl: () => {
      if (baseUrl === undefined) throw noBaseUrl(chosen);
      return baseUrl.value;
    },
  };
}

/**
 * The same, where nothing may stand in the way: what is wrong with the config file or a variable is passed over, first
 * the file with its profiles, then every variable of ours. Throws `SvcError` `usage` for a bad flag.
 */
export async function resolveUsableSettings(system: PathsHost, flags: SettingFlags): Promise<Settings> {
  // Without a home and a directory for it there is no config file.
  const withoutFile = reduced(system, /^(?:SVC_CONFIG_DIR|SVC_PROFILE|XDG_CONFIG_HOME|APPDATA)$/);
  const withoutOurs = reduced(system, /^(?:SVC_.*|XDG_CONFIG_HOME|APPDATA)$/);
  for (const usable of [system, withoutFile]) {
    try {
      return await resolveSettings(usable, usable === system ? flags : { ...flags, profile: undefined });
    } catch (error) {
      if (!isSvcError(error, 'config')) throw error;
    }
  }
  return resolveSettings(withoutOurs, { ...flags, profile: undefined });
}

function reduced({ platform, cwd, env }: PathsHost, left: RegExp): PathsHost {
  const kept = Object.entries(env).filter(([name]) => !left.test(name));
  return { platform, cwd, home: undefined, env: Object.fromEntries(kept) };
}

const NONE: Setting<undefined> = { value: undefined, origin: DEFAULT_ORIGIN };
const DEFAULT_MAX_WAIT: Setting<number> = { value: DEFAULT_MAX_WAIT_MS, origin: DEFAULT_ORIGIN };

function typed(name: string, value: number | undefined): Setting<number> | undefined {
  return value === undefined ? undefined : { value, origin: { kind: 'flag', name } };
}

type Parse<T> = (text: string, origin: Origin) => T;

// Real data must not go where the sandbox is meant, nor sandbox data to the real service.
function sandboxBaseUrl(text: string, origin: Origin): URL {
  const url = parseBaseUrl(text, origin);
  if (isLoopback(url)) return url;
  throw new SvcError(
    'usage',
    'the profile sandbox only speaks to this machine, and --base-url names another',
    {
      hint: 'Leave --base-url out, or choose another profile with --profile.',
    },
  );
}

function choice<T extends string>(values: readonly T[]): Parse<T> {
  return (text, origin) => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    throw badValue(
      origin,
      `should be one of ${values.join(', ')}`,
      `Give one of these, such as ${values[0]}.`,
    );
  };
}

function duration(text: string, origin: Origin): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw badValue(origin, 'should be a duration', 'Write it like 90s, 15m, 1h30m or 7d.');
}

function badValue(origin: Origin, problem: string, hint: string): SvcError {
  return new SvcError(origin.kind === 'flag' ? 'usage' : 'config', `the value of ${origin.name} ${problem}`, {
    hint,
  });
}

function noBaseUrl(chosen: ChosenProfile): SvcError {
  return new SvcError('config', `no base URL is set for profile ${chosen.name.value}`, {
    hint: "Set SVC_BASE_URL, or store one with 'svc login'; 'svc --sandbox …' needs none.",
  });
}

/** The profile in use and what the config file has on it. */
export interface ChosenProfile {
  readonly name: Setting<string>;
  readonly sandbox: boolean;
  readonly stored: Profile | undefined;
  readonly configFile: string | undefined;
  readonly notices: readonly string[];
}

/** The flags that choose a profile. */
export interface ProfileFlags {
  readonly profile?: string | undefined;
  readonly sandbox?: boolean | undefined;
}

/**
 * Chooses the profile: `--sandbox` or `--profile`, SVC_PROFILE, the config's current one, else `default`. The config
 * file is not read for the sandbox. Throws `SvcError` `config` listing the profiles when the one named is not stored,
 * unless `mayBeNew`.
 */
async function chooseProfile(
  system: PathsHost,
  flags: ProfileFlags,
  mayBeNew: boolean,
): Promise<ChosenProfile> {
  const named = namedProfile(system, flags);
  if (named?.value === SANDBOX_PROFILE) return sandbox(named);
  const { config, file, notices } = readConfig(system);
  const name = named ?? currentProfile(config, file);
  if (name.value === SANDBOX_PROFILE) return { ...sandbox(name), configFile: file, notices };

  const stored = storedProfile(config, name.value);
  if (stored === undefined && mayBeNew) checkProfileName(name.value);
  else if (stored === undefined && name.value !== DEFAULT_PROFILE)
    throw unknownProfile(name.value, config, name.origin.name);
  return { name, sandbox: false, stored, configFile: file, notices };
}

function namedProfile(system: PathsHost, flags: ProfileFlags): Setting<string> | undefined {
  if (flags.sandbox !== true)
    return pickSource(system.env, '', { flag: ['--profile', flags.profile], variable: 'SVC_PROFILE' });
  if (flags.profile !== undefined && flags.profile !== SANDBOX_PROFILE)
    throw new SvcError('usage', '--sandbox and --profile name two different profiles', {
      hint: 'Leave one of them out.',
    });
  return { value: SANDBOX_PROFILE, origin: { kind: 'flag', name: '--sandbox' } };
}

function currentProfile(config: Config, file: string | undefined): Setting<string> {
  if (config.current === undefined) return { value: DEFAULT_PROFILE, origin: DEFAULT_ORIGIN };
  return { value: config.current, origin: { kind: 'profile', name: file ?? 'the config file' } };
}

function sandbox(name: Setting<string>): ChosenProfile {
  return { name, sandbox: true, stored: undefined, configFile: undefined, notices: [] };
}

/** No such profile; the ones that exist are named. */
export function unknownProfile(name: string, config: Config, from?: string): SvcError {
  const known = [...Object.keys(config.profiles), SANDBOX_PROFILE].toSorted();
  const where = from === undefined ? '' : `, named by ${from}`;
  return new SvcError('config', `unknown profile ${typedWord(name, known)}${where}`, {
    hint: `Choose one of: ${known.join(', ')}. 'svc login --profile <name>' makes a new one.`,
  });
}
