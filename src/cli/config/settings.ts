import { isSvcError, SvcError, systemCodeOf } from '../../base/errors.ts';
import { typedWord } from '../../base/security/typed-word.ts';
import { DEFAULT_MAX_WAIT_MS } from '../../base/system.ts';
import { isLoopback } from '../../schema/address.ts';
import { type ConfigFile, readConfig } from './config-file.ts';
import { type Config, type Profile, storedProfile } from './config-format.ts';
import type { PathsHost } from './paths.ts';
import { PROFILE_SETTINGS, type ProfileSetting } from './profile-settings.ts';
import {
  type Certificates,
  checkProfileName,
  DEFAULT_PROFILE,
  type OutputFormat,
  parseBaseUrl,
  parseDuration,
  SANDBOX_PROFILE,
  type TimeStyle,
} from './values.ts';
import { DEFAULT_ORIGIN, type Origin, pickSource, type Setting, type Sources } from './origin.ts';

/** The global options that affect settings, undefined if not given. `timeout` and `maxWait` are in milliseconds. */
export interface SettingFlags {
  readonly profile?: string | undefined;
  /** The option that names the profile, if it is not `--profile`. */
  readonly profileOption?: string;
  readonly sandbox?: boolean | undefined;
  readonly baseUrl?: string | undefined;
  readonly output?: string | undefined;
  readonly time?: string | undefined;
  readonly timeout?: number | undefined;
  readonly maxWait?: number | undefined;
}

/** The settings from flags, environment and profile, each with its origin. */
export interface Settings {
  /** Name of the profile in use. */
  readonly profile: Setting<string>;
  /** Whether the profile is the built-in sandbox. */
  readonly sandbox: boolean;
  /** The profile as it is stored; undefined for the sandbox and for a name with nothing stored. */
  readonly stored: Profile | undefined;
  /** The base URL; undefined if none is configured, or for the embedded sandbox. */
  readonly baseUrl: Setting<URL> | undefined;
  /** The output format; an undefined value depends on the command and on whether stdout is a terminal. */
  readonly output: Setting<OutputFormat | undefined>;
  /** The style of times; an undefined value depends on whether stdout is a terminal. */
  readonly time: Setting<TimeStyle | undefined>;
  /** The trusted certificate authorities; an undefined value means Node's own. */
  readonly certificates: Setting<Certificates | undefined>;
  /** The files of the client certificate and its key; an undefined value means that the client has no certificate. */
  readonly clientCert: Setting<string | undefined>;
  readonly clientKey: Setting<string | undefined>;
  /** The location of the ledger that machines share; an undefined value means a ledger in the state directory. */
  readonly ledger: Setting<string | undefined>;
  /** Time limit of the command in milliseconds; an undefined value means none. */
  readonly timeoutMs: Setting<number | undefined>;
  /** The longest pause to accept from a rate limit, in milliseconds. */
  readonly maxWaitMs: Setting<number>;
  /** The config file; undefined without a home directory, or if the file was not read. */
  readonly configFile: string | undefined;
  /** Notices for stderr about repaired permissions. */
  readonly notices: readonly string[];
  /** Returns the base URL. @throws SvcError `config` if none is set, or if the config file is unreadable */
  requireBaseUrl(): URL;
}

/**
 * Settings by precedence: flag, environment, profile, default. With `newProfile` the profile need not be stored yet.
 * @throws SvcError `usage` for a bad flag; `config` for a bad variable, an unknown profile or a damaged config file
 */
export async function resolveSettings(system: PathsHost, flags: SettingFlags, newProfile = false): Promise<Settings> {
  const { name, sandbox, stored, configFile, notices, unreadable } = chooseProfile(system, flags, newProfile);
  const read = <T>(sources: Sources, parse: Parse<T>): Setting<T> | undefined => {
    const text = pickSource(system.env, name.value, sources);
    return text && { value: parse(text.value, text.origin, system.cwd), origin: text.origin };
  };
  const setting = <T>(of: ProfileSetting<T>, kept: string | undefined, flag?: Sources['flag']) =>
    read({ ...(flag && { flag }), variable: of.variable, stored: kept }, of.read);
  const { base_url, output, time, certificates, client_cert, client_key, ledger } = PROFILE_SETTINGS;
  const flag: Sources['flag'] = ['--base-url', flags.baseUrl];
  const baseUrl = sandbox ? read({ flag }, sandboxBaseUrl) : setting(base_url, stored?.base_url, flag);
  return {
    profile: name,
    sandbox,
    stored,
    baseUrl,
    output: setting(output, stored?.output, ['--output', flags.output]) ?? NONE,
    time: setting(time, stored?.time, ['--time', flags.time]) ?? NONE,
    certificates: setting(certificates, stored?.certificates) ?? NONE,
    clientCert: (sandbox ? undefined : setting(client_cert, stored?.client_cert)) ?? NONE,
    clientKey: (sandbox ? undefined : setting(client_key, stored?.client_key)) ?? NONE,
    ledger: setting(ledger, stored?.ledger) ?? NONE,
    timeoutMs: typed('--timeout', flags.timeout) ?? read({ variable: 'SVC_TIMEOUT' }, duration) ?? NONE,
    maxWaitMs: typed('--max-wait', flags.maxWait) ?? DEFAULT_MAX_WAIT,
    configFile,
    notices,
    requireBaseUrl: () => {
      if (unreadable !== undefined) throw unreadable;
      if (baseUrl === undefined) throw noBaseUrl(stored === undefined ? undefined : name.value);
      return baseUrl.value;
    },
  };
}

/**
 * Resolves settings for commands that must always run. If the settings are invalid, ignores the config file; if they still
 * are, ignores all variables of svc too.
 * @throws SvcError `usage` for a bad flag
 */
export async function resolveUsableSettings(system: PathsHost, flags: SettingFlags): Promise<Settings> {
  // Without these variables and a home directory, svc finds no config file.
  const withoutFile = withoutVariables(system, /^(?:SVC_CONFIG_DIR|SVC_PROFILE|XDG_CONFIG_HOME|APPDATA)$/);
  const withoutOurs = withoutVariables(system, /^(?:SVC_.*|XDG_CONFIG_HOME|APPDATA)$/);
  for (const usable of [system, withoutFile]) {
    try {
      return await resolveSettings(usable, usable === system ? flags : { ...flags, profile: undefined });
    } catch (error) {
      if (!isSvcError(error, 'config')) throw error;
    }
  }
  return resolveSettings(withoutOurs, { ...flags, profile: undefined });
}

/** Returns the system without a home directory and without variables of these names. */
function withoutVariables({ platform, cwd, env }: PathsHost, names: RegExp): PathsHost {
  const kept = Object.entries(env).filter(([name]) => !names.test(name));
  return { platform, cwd, home: undefined, env: Object.fromEntries(kept) };
}

const DEFAULT: Setting<string> = { value: DEFAULT_PROFILE, origin: DEFAULT_ORIGIN };
const NONE: Setting<undefined> = { value: undefined, origin: DEFAULT_ORIGIN };
const DEFAULT_MAX_WAIT: Setting<number> = { value: DEFAULT_MAX_WAIT_MS, origin: DEFAULT_ORIGIN };

function typed(name: string, value: number | undefined): Setting<number> | undefined {
  return value === undefined ? undefined : { value, origin: { kind: 'flag', name } };
}

type Parse<T> = (text: string, origin: Origin, cwd: string) => T;

// Mixing the sandbox profile with another address could send real data to a sandbox, or test data to the service.
function sandboxBaseUrl(text: string, origin: Origin): URL {
  const url = parseBaseUrl(text, origin);
  if (isLoopback(url)) return url;
  throw new SvcError('usage', 'the sandbox profile only connects to this machine', {
    hint: 'Leave the base URL out, or choose another profile.',
  });
}

function duration(text: string, origin: Origin): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms !== 0) return ms;
  throw new SvcError('config', `${origin.name} must be a duration such as 90s, 15m, 1h30m, 7d or 2w`);
}

/** Returns the error for a missing base URL. `profile` is the name of a stored profile. */
function noBaseUrl(profile: string | undefined): SvcError {
  const where = profile === undefined ? '' : ` for profile ${profile}`;
  return new SvcError('config', `no base URL is set${where}`, {
    hint: 'Set SVC_BASE_URL, or store one. To try svc without keys, add --sandbox.',
    next: ['login'],
    facts: { missing: 'base_url' },
  });
}

interface ChosenProfile extends Pick<Settings, 'sandbox' | 'stored' | 'configFile' | 'notices'> {
  readonly name: Setting<string>;
  /**
   * Why the default config file could not be read. Only commands that use the service fail: the file may name the ledger that
   * prevents paying twice.
   */
  readonly unreadable?: SvcError | undefined;
}

/** Chooses the profile: from the option, the variable or the config, else `default`. The sandbox needs no config file. */
function chooseProfile(system: PathsHost, flags: SettingFlags, mayBeNew: boolean): ChosenProfile {
  const named = namedProfile(system, flags);
  if (named?.value === SANDBOX_PROFILE) return sandboxProfile(named);
  const found = mayBeNew || named !== undefined ? readConfig(system) : readDefaultConfig(system);
  if (found instanceof SvcError) {
    const going = 'going on without a profile';
    return { ...sandboxProfile(DEFAULT), sandbox: false, notices: [`${found.message}: ${going}`], unreadable: found };
  }
  const { config, file, notices } = found;
  const name = named ?? currentProfile(config, file);
  if (!mayBeNew && name.value === SANDBOX_PROFILE) refuseBaseUrl(system);
  if (name.value === SANDBOX_PROFILE) return { ...sandboxProfile(name), configFile: file, notices };
  const stored = storedProfile(config, name.value);
  if (stored === undefined && mayBeNew) checkProfileName(name.value);
  else if (stored === undefined && name.value !== DEFAULT_PROFILE)
    throw unknownProfile(name.value, config, name.origin.name);
  return { name, sandbox: false, stored, configFile: file, notices };
}

/** Reads the config file. Returns the error, instead of throwing it, for an unreadable file in the default directory. */
function readDefaultConfig(system: PathsHost): ConfigFile | SvcError {
  try {
    return readConfig(system);
  } catch (error) {
    const isDefault =
      isSvcError(error, 'config') && systemCodeOf(error.cause) === 'EACCES' && !system.env['SVC_CONFIG_DIR'];
    if (isDefault) return error;
    throw error;
  }
}

function namedProfile({ env }: PathsHost, flags: SettingFlags): Setting<string> | undefined {
  if (flags.sandbox === true) return { value: SANDBOX_PROFILE, origin: { kind: 'flag', name: '--sandbox' } };
  return pickSource(env, '', { flag: [flags.profileOption ?? '--profile', flags.profile], variable: 'SVC_PROFILE' });
}

function currentProfile({ current }: Config, file: string | undefined): Setting<string> {
  if (current === undefined) return DEFAULT;
  return { value: current, origin: { kind: 'profile', name: file ?? 'the config file' } };
}

/** Refuses a set SVC_BASE_URL, which the current profile, the sandbox, would not use. @throws SvcError `config` */
function refuseBaseUrl({ env }: PathsHost): void {
  if (!env['SVC_BASE_URL']) return;
  throw new SvcError('config', 'SVC_BASE_URL is set, and the current profile is the sandbox, which does not use it', {
    hint: 'Name the sandbox with --sandbox, or a profile with --profile. Or go back to the service for all commands:',
    next: ['profile', 'use', DEFAULT_PROFILE],
  });
}

function sandboxProfile(name: Setting<string>): ChosenProfile {
  return { name, sandbox: true, stored: undefined, configFile: undefined, notices: [] };
}

export function unknownProfile(name: string, config: Config, from?: string): SvcError {
  const known = [...Object.keys(config.profiles), SANDBOX_PROFILE].toSorted();
  const where = from === undefined ? '' : `, named by ${from}`;
  return new SvcError('config', `unknown profile ${typedWord(name, known)}${where}`, {
    hint: `Choose one of: ${known.join(', ')}, or create it:`,
    next: ['login', '--profile', '<name>'],
  });
}
