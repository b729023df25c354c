import { SvcError } from '../errors.ts';
import { typedWord } from '../security/typed-word.ts';
import { storedProfile, type Config, type Profile } from './document.ts';
import { DEFAULT_ORIGIN, pickSource, type Setting } from './origin.ts';
import type { PathsHost } from './paths.ts';
import { checkProfileName, DEFAULT_PROFILE, SANDBOX_PROFILE } from './profile-name.ts';
import { readConfig } from './store.ts';

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
export async function chooseProfile(
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
