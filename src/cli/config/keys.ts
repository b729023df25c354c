import path from 'node:path';
import { readProblem, SvcError } from '../../base/errors.ts';
import { readFileOrPipe, type Waiting } from '../../base/files/read.ts';
import type { System } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { commandName } from './command-name.ts';
import type { Profile, StoredKey } from './config-format.ts';
import type { KeyCommandHost } from './key-command.ts';
import type { Settings } from './settings.ts';
import {
  baseUrlText,
  DEFAULT_ORIGIN,
  fromProfile,
  isQuoted,
  type Origin,
  parseBaseUrl,
  type Setting,
} from './values.ts';

export const KEY_TYPES = ['management', 'private'] as const satisfies readonly KeyType[];

/** The keys of the embedded sandbox. They are no secrets, since only this machine can reach it. */
export const SANDBOX_KEYS: Readonly<Record<KeyType, string>> = {
  management: 'sandbox-management-key',
  private: 'sandbox-private-key',
};

/** The variables for a key of each kind, in order of precedence. Each also exists with the suffix `_FILE`. */
export const KEY_VARIABLES: Readonly<Record<KeyType, readonly string[]>> = {
  management: ['SVC_MANAGEMENT_API_KEY', 'SVC_API_KEY'],
  private: ['SVC_PRIVATE_API_KEY', 'SVC_API_KEY'],
};

type KeyHost = Pick<System, 'env' | 'cwd' | 'clock'>;

/**
 * Finds the key of this kind, with its origin: the environment, else the profile, whose key command is run now. It never
 * returns a key of the other kind. The sandbox has its own keys and uses neither source. Throws `SvcError`:
 * `key_missing`; `key_refused` if the profile's key was stored for another base URL (R02); `config` for a key that cannot
 * be read or used.
 */
export async function resolveKey(
  system: KeyHost,
  settings: Settings,
  kind: KeyType,
  host: KeyCommandHost = {},
): Promise<Setting<string>> {
  if (settings.sandbox) return { value: SANDBOX_KEYS[kind], origin: DEFAULT_ORIGIN };
  for (const variable of KEY_VARIABLES[kind]) {
    const found = await environmentKey(system, variable, host.signal);
    if (found !== undefined) return found;
  }
  return storedKey(system, settings, kind, host);
}

/** Returns the keys that are known without reading a file or running a command, for redaction. */
export function keysAtHand({ env }: Pick<System, 'env'>, stored?: Profile): string[] {
  const named = Object.values(KEY_VARIABLES)
    .flat()
    .map((variable) => env[variable]?.trim());
  const kept = Object.values(stored?.keys ?? {}).map((key) => key.value);
  const harmless: ReadonlySet<string> = new Set(Object.values(SANDBOX_KEYS));
  return [...named, ...kept].filter((key) => key !== undefined).filter((key) => !harmless.has(key));
}

/** The settings that decide where a key comes from. */
export type KeySettings = Pick<Settings, 'sandbox' | 'stored' | 'profile'>;

/** Returns the origin of the key of this kind without reading it; undefined if there is none. */
export function keyOrigin({ env }: Pick<System, 'env'>, settings: KeySettings, kind: KeyType): Origin | undefined {
  if (settings.sandbox) return DEFAULT_ORIGIN;
  const set = KEY_VARIABLES[kind]
    .flatMap((variable) => [variable, `${variable}_FILE`])
    .find((variable) => env[variable]);
  if (set !== undefined) return { kind: 'environment', name: set };
  const stored = settings.stored?.keys?.[kind];
  return isKept(stored) ? originOf(stored, settings.profile.value) : undefined;
}

/** Whether the keys in use are the published keys of the sandbox. */
export function hasSandboxKeys({ env }: Pick<System, 'env'>, settings: KeySettings): boolean {
  return KEY_TYPES.every((kind) => {
    const origin = keyOrigin({ env }, settings, kind);
    if (origin === undefined) return true;
    const key = origin.kind === 'environment' ? env[origin.name] : settings.stored?.keys?.[kind]?.value;
    return key?.trim() === SANDBOX_KEYS[kind];
  });
}

/** Returns the key files that the environment names, each path with its variable. */
export function keyFiles({ env, cwd }: Pick<System, 'env' | 'cwd'>): (readonly [file: string, variable: string])[] {
  const variables = new Set(Object.values(KEY_VARIABLES).flat());
  return Array.from(variables, (variable) => `${variable}_FILE`).flatMap((variable) => {
    const file = env[variable];
    return file ? [[path.resolve(cwd, file), variable] as const] : [];
  });
}

/** Returns the variable from which a curl command reads the key: the one that is set, else the main one. */
export function keyVariable({ env }: Pick<System, 'env'>, kind: KeyType): string {
  const own = KEY_VARIABLES[kind][0] ?? '';
  const either = 'SVC_API_KEY';
  // The file of the main variable precedes the other variable, whose key may be of the other kind.
  return !env[own] && !env[`${own}_FILE`] && env[either] ? either : own;
}

/** Describes how a profile has a key: `stored`, or the first word of its command; undefined if it has none. */
export function storedAs(stored: StoredKey | undefined): string | undefined {
  if (!isKept(stored)) return undefined;
  return stored.value !== undefined ? 'stored' : commandName(stored.command ?? '');
}

function isKept(stored: StoredKey | undefined): stored is StoredKey {
  return stored?.value !== undefined || stored?.command !== undefined;
}

async function environmentKey({ env, cwd, clock }: KeyHost, variable: string, signal: AbortSignal | undefined) {
  const fileVariable = `${variable}_FILE`;
  const text = env[variable];
  const file = env[fileVariable];
  if (text && file) {
    const problem = `both ${variable} and ${fileVariable} are set`;
    throw new SvcError('config', problem, { hint: 'Unset one of them.' });
  }
  if (text) return checked(text, { kind: 'environment', name: variable });
  if (!file) return undefined;
  const read = await readKeyFile(file, cwd, fileVariable, { clock, signal });
  return checked(read, { kind: 'environment', name: fileVariable });
}

async function storedKey(
  { env, cwd }: Pick<System, 'env' | 'cwd'>,
  settings: Settings,
  kind: KeyType,
  host: KeyCommandHost,
): Promise<Setting<string>> {
  const profile = settings.profile.value;
  const stored = settings.stored?.keys?.[kind];
  if (!isKept(stored)) throw missing(kind, settings);
  const origin = originOf(stored, profile);
  const home = baseUrlText(parseBaseUrl(stored.base_url, origin));
  const target = baseUrlText(settings.requireBaseUrl());
  if (home !== target) throw notForThere(kind, profile, home, target);
  if (stored.value !== undefined) return checked(stored.value, origin);
  // Loaded on demand: most commands need no key command.
  const { keyFromCommand } = await import('./key-command.ts');
  return checked(await keyFromCommand(stored.command ?? '', kind, { env, cwd, ...host }), origin);
}

function originOf({ value, command }: StoredKey, profile: string): Origin {
  const origin = fromProfile(profile);
  if (value !== undefined || command === undefined) return origin;
  return { ...origin, name: `${origin.name} (${commandName(command)})` };
}

function checked(text: string, origin: Origin): Setting<string> {
  return { value: checkKeyText(text, origin.name), origin };
}

function missing(kind: KeyType, { profile, stored }: KeySettings): SvcError {
  const variables = KEY_VARIABLES[kind].join(' or ');
  const where = stored === undefined ? 'is set' : `for profile ${profile.value}`;
  return new SvcError('key_missing', `no ${kind} key ${where}`, {
    hint: `Set ${variables} (or …_FILE), or store a key.`,
    next: ['login'],
  });
}

function notForThere(kind: KeyType, profile: string, home: string, target: string): SvcError {
  const variable = KEY_VARIABLES[kind][0];
  return new SvcError(
    'key_refused',
    `the ${kind} key of profile ${profile} was stored for ${home} and is not sent to ${target}`,
    {
      hint: `Use the base URL ${home}, or set ${variable} to a key for ${target}, or store one.`,
      next: ['login'],
      facts: { stored_for: home, base_url: target },
    },
  );
}

// Far longer than any key, so that a file given by mistake is not read whole.
const LARGEST_BYTES = 16_384;

/** Reads the key file or pipe that `variable` names. Errors name the file, never its content. */
async function readKeyFile(file: string, cwd: string, variable: string, waiting: Waiting): Promise<string> {
  const bytes = await readFileOrPipe(path.resolve(cwd, file), LARGEST_BYTES + 1, waiting).catch((error: unknown) => {
    waiting.signal?.throwIfAborted();
    throw badFile(file, variable, readProblem(error), error);
  });
  // Windows PowerShell writes UTF-16 with a byte order mark.
  const text = bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  if (bytes.length > LARGEST_BYTES) throw badFile(file, variable, 'is too large to be a key');
  if (text.trim() === '') throw badFile(file, variable, 'is empty');
  return text;
}

function badFile(file: string, variable: string, problem: string, cause?: unknown): SvcError {
  return new SvcError('config', `the key file ${file} (${variable}) ${problem}`, {
    hint: `Store the key there, readable for this user, or set ${variable.replace(/_FILE$/, '')} instead.`,
    cause,
  });
}

const LONGEST = 4096;

/** Returns the key in `text`, trimmed; `from` names its source. @throws SvcError `config`, which never quotes the text */
export function checkKeyText(text: string, from: string): string {
  const key = text.trim();
  const problem = problemOf(key);
  if (problem === undefined) return key;
  throw new SvcError('config', `the key from ${from} ${problem}`, {
    hint: 'Copy the whole key again, and nothing else.',
  });
}

function problemOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (isQuoted(key)) return 'begins and ends with a quote';
  if (key.length > LONGEST) return `is longer than ${LONGEST} characters`;
  if (/\s/.test(key)) return 'contains a space or line break';
  return /^[!-~]+$/.test(key) ? undefined : 'contains a character that no key contains';
}
