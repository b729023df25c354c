// Finds the keys of the service: in the environment, in key files, in the profile, or printed by a key command.

import fs from 'node:fs';
import path from 'node:path';
import { readProblem, SvcError } from '../../base/errors.ts';
import { readFileOrPipe, type WaitOptions } from '../../base/files/read.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import type { System } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { commandName } from './command-name.ts';
import type { Profile, StoredKey } from './config-format.ts';
import type { KeyCommandHost } from './key-command.ts';
import type { Settings } from './settings.ts';
import { baseUrlText, isQuoted, parseBaseUrl } from './values.ts';
import { DEFAULT_ORIGIN, fromProfile, type Origin, type Setting } from './origin.ts';

export const KEY_TYPES = ['management', 'private'] as const satisfies readonly KeyType[];

/** The keys of the embedded sandbox. They are no secrets, since only this machine can reach the sandbox. */
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
 * Finds a management key or a private key, with its origin: in the environment, else in the profile, whose key command runs
 * now. A missing key is never replaced by a key of the other kind. The embedded sandbox has built-in keys.
 * @throws SvcError `key_missing`; `key_refused` if the profile's key was stored for another base URL (R02); `config` for a
 *   key that cannot be read or used
 */
export async function resolveKey(
  system: KeyHost,
  settings: Settings,
  kind: KeyType,
  host: KeyCommandHost = {},
): Promise<Setting<string>> {
  const origin = keyOrigin(system, settings, kind);
  if (origin === undefined) throw missingKeyError(kind, settings);
  if (origin.kind === 'default') return { value: SANDBOX_KEYS[kind], origin };
  const text = await (origin.kind === 'environment'
    ? environmentKey(system, origin.name, host.signal)
    : storedKey(system, settings, kind, host));
  return { value: checkKeyText(text, origin.name), origin };
}

/** Returns the keys in variables and in the profile, for redaction, without reading a file or running a command. */
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

/** Returns the origin of a key without reading the key; undefined if no key of this kind is set or stored. */
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

/** Returns the key files that variables name, each with its variable. */
export function keyFiles({ env, cwd }: Pick<System, 'env' | 'cwd'>): (readonly [file: string, variable: string])[] {
  const variables = new Set(Object.values(KEY_VARIABLES).flat());
  return Array.from(variables, (variable) => `${variable}_FILE`).flatMap((variable) => {
    const file = env[variable];
    return file ? [[path.resolve(cwd, file), variable] as const] : [];
  });
}

/** Returns the variable from which a curl command reads the key: a variable that is set, else the main variable. */
export function keyVariable({ env }: Pick<System, 'env'>, kind: KeyType): string {
  const own = KEY_VARIABLES[kind][0] ?? '';
  const either = 'SVC_API_KEY';
  // The file of the main variable precedes the other variable, whose key may be of the other kind.
  return !env[own] && !env[`${own}_FILE`] && env[either] ? either : own;
}

/** Describes a profile's key: `stored`, or the first word of its key command; undefined without a key. */
export function storedAs(stored: StoredKey | undefined): string | undefined {
  if (!isKept(stored)) return undefined;
  return stored.value !== undefined ? 'stored' : commandName(stored.command ?? '');
}

function isKept(stored: StoredKey | undefined): stored is StoredKey {
  return stored?.value !== undefined || stored?.command !== undefined;
}

/** Returns the key of a variable, or of the file that the variable names. */
async function environmentKey({ env, cwd, clock }: KeyHost, name: string, signal: AbortSignal | undefined) {
  const variable = name.replace(/_FILE$/, '');
  const fileVariable = `${variable}_FILE`;
  const text = env[variable];
  const file = env[fileVariable];
  if (text && file) {
    const problem = `both ${variable} and ${fileVariable} are set`;
    throw new SvcError('config', problem, { hint: 'Unset one of them.' });
  }
  return text || readKeyFile(file ?? '', cwd, fileVariable, { clock, signal });
}

/** Returns the key that the profile stores, or that its key command prints. */
async function storedKey(
  { env, cwd }: Pick<System, 'env' | 'cwd'>,
  settings: Settings,
  kind: KeyType,
  host: KeyCommandHost,
): Promise<string> {
  const profile = settings.profile.value;
  const { value, command = '', base_url: homeUrl = '' } = settings.stored?.keys?.[kind] ?? {};
  const home = baseUrlText(parseBaseUrl(homeUrl, fromProfile(profile)));
  const target = baseUrlText(settings.requireBaseUrl());
  if (home !== target) throw otherServiceError(kind, profile, home, target);
  if (value !== undefined) return value;
  // Loaded on demand: most commands need no key command.
  const { keyFromCommand } = await import('./key-command.ts');
  return keyFromCommand(command, kind, { env, cwd, ...host });
}

function originOf({ value, command }: StoredKey, profile: string): Origin {
  const origin = fromProfile(profile);
  if (value !== undefined || command === undefined) return origin;
  return { ...origin, name: `${origin.name} (${commandName(command)})` };
}

function missingKeyError(kind: KeyType, { profile, stored }: KeySettings): SvcError {
  const variables = KEY_VARIABLES[kind].join(' or ');
  const where = stored === undefined ? 'is set' : `for profile ${profile.value}`;
  return new SvcError('key_missing', `no ${kind} key ${where}`, {
    hint: `Set ${variables} (or …_FILE), or store a key. To try svc without keys, add --sandbox.`,
    next: ['login'],
  });
}

function otherServiceError(kind: KeyType, profile: string, home: string, target: string): SvcError {
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

// Far longer than any key. A larger file was named by mistake, and is not read to its end.
const MAX_FILE_BYTES = 16_384;

/** Reads the key file or pipe that `variable` names. Errors never contain its content. */
async function readKeyFile(file: string, cwd: string, variable: string, waiting: WaitOptions): Promise<string> {
  const bytes = await readFileOrPipe(path.resolve(cwd, file), MAX_FILE_BYTES + 1, waiting).catch((error: unknown) => {
    waiting.signal?.throwIfAborted();
    throw badFile(file, cwd, variable, readProblem(error), error);
  });
  // Windows PowerShell writes UTF-16 with a byte order mark.
  const text = bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  if (bytes.length > MAX_FILE_BYTES) throw badFile(file, cwd, variable, 'is too large to be a key');
  if (text.trim() === '') throw badFile(file, cwd, variable, 'is empty');
  return text;
}

function badFile(file: string, cwd: string, variable: string, problem: string, cause?: unknown): SvcError {
  // The variable may contain the key itself by mistake. Any text could be a file at the root or in the working directory.
  const { root, dir, base } = path.parse(path.resolve(cwd, file));
  const isPath = fs.existsSync(dir) && (isShowable(base) || (dir !== root && dir !== path.resolve(cwd)));
  const what = isPath ? `the key file ${file} (${variable})` : `the key file that ${variable} names`;
  return new SvcError('config', `${what} ${problem}`, {
    hint: `Store the key there, readable for this user, or set ${variable.replace(/_FILE$/, '')} instead.`,
    cause: isPath ? cause : undefined,
  });
}

const MAX_KEY_LENGTH = 4096;

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
  if (key.length > MAX_KEY_LENGTH) return `is longer than ${MAX_KEY_LENGTH} characters`;
  if (/\s/.test(key)) return 'contains a space or line break';
  return /^[!-~]+$/.test(key) ? undefined : 'contains a character that no key contains';
}
