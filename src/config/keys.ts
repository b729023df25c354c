import { SvcError } from '../errors.ts';
import type { System } from '../system.ts';
import { baseUrlText, parseBaseUrl } from './base-url.ts';
import type { KeyKind } from './document.ts';
import { readKeyFile } from './key-file.ts';
import { checkKey } from './key-text.ts';
import { DEFAULT_ORIGIN, fromProfile, type Origin, type Setting } from './origin.ts';
import type { Settings } from './settings.ts';

/** What the embedded sandbox takes for a key. No secrets: it lets in nobody but this machine. */
export const SANDBOX_KEYS: Readonly<Record<KeyKind, string>> = {
  management: 'sandbox-management-key',
  private: 'sandbox-private-key',
};

/** The variables that may hold a key of this kind, first come first. Each also exists with `_FILE` at its end. */
const KEY_VARIABLES: Readonly<Record<KeyKind, readonly string[]>> = {
  management: ['SVC_MANAGEMENT_API_KEY', 'SVC_API_KEY'],
  private: ['SVC_PRIVATE_API_KEY', 'SVC_API_KEY'],
};

/**
 * The key of this kind and where it came from: the environment, else the profile. Never a key of the other kind.
 * The sandbox has its own and looks at neither. Throws `SvcError`: `key_missing`; `key_refused` when the profile's key
 * was stored for another base URL than the one in effect (R02); `config` for a key that cannot be read or used.
 */
export async function resolveKey(
  system: Pick<System, 'env' | 'cwd'>,
  settings: Settings,
  kind: KeyKind,
): Promise<Setting<string>> {
  if (settings.sandbox) return { value: SANDBOX_KEYS[kind], origin: DEFAULT_ORIGIN };
  for (const variable of KEY_VARIABLES[kind]) {
    const found = await environmentKey(system, variable);
    if (found !== undefined) return found;
  }
  return storedKey(settings, kind);
}

async function environmentKey(
  { env, cwd }: Pick<System, 'env' | 'cwd'>,
  variable: string,
): Promise<Setting<string> | undefined> {
  const fileVariable = `${variable}_FILE`;
  const [text, file] = [env[variable], env[fileVariable]];
  if (text && file)
    throw new SvcError('config', `both ${variable} and ${fileVariable} are set`, {
      hint: 'Unset one of them.',
    });
  if (text) return checked(text, { kind: 'environment', name: variable });
  if (!file) return undefined;
  return checked(await readKeyFile(file, cwd, fileVariable), { kind: 'environment', name: fileVariable });
}

function storedKey(settings: Settings, kind: KeyKind): Setting<string> {
  const profile = settings.profile.value;
  const stored = settings.stored?.keys?.[kind];
  if (stored?.value === undefined) throw missing(kind, profile);
  const origin = fromProfile(profile);
  const home = baseUrlText(parseBaseUrl(stored.base_url, origin));
  const target = baseUrlText(settings.requireBaseUrl());
  if (home !== target) throw notForThere(kind, profile, home, target);
  return checked(stored.value, origin);
}

function checked(text: string, origin: Origin): Setting<string> {
  return { value: checkKey(text, origin.name), origin };
}

function missing(kind: KeyKind, profile: string): SvcError {
  const variables = KEY_VARIABLES[kind].join(' or ');
  return new SvcError('key_missing', `there is no ${kind} key for profile ${profile}`, {
    hint: `Set ${variables} (or …_FILE), or store a key with \`svc login\`; \`--sandbox\` needs none.`,
  });
}

function notForThere(kind: KeyKind, profile: string, home: string, target: string): SvcError {
  const variable = KEY_VARIABLES[kind][0];
  return new SvcError(
    'key_refused',
    `the ${kind} key of profile ${profile} was stored for ${home} and is not sent to ${target}`,
    {
      hint: `Use the base URL ${home}, or give the key for ${target} in ${variable} or with \`svc login\`.`,
      facts: { stored_for: home, base_url: target },
    },
  );
}
