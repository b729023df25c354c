import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { SvcError, systemCodeOf } from '../../base/errors.ts';
import {
  closeDirectoryIfPossible,
  ensurePrivateDirectory,
  type Notices,
  readPrivateFile,
} from '../../base/files/directory.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { isExecutable } from '../../base/files/names.ts';
import type { KeyType } from '../../schema/tenant.ts';
import type { KeyHistory } from './key-history.ts';
import { JsonFault, type JsonNode, plainValue, positionOf, readJson } from './json-text.ts';
import { CONFIG_FILE_NAME, directoryOf, type PathsHost, requireDirectory } from './paths.ts';
import {
  type Certificates,
  CERTIFICATES,
  OUTPUT_FORMATS,
  type OutputFormat,
  profileNameProblem,
  RESULT_STEPS,
  resultCodeProblem,
  type ResultStep,
  TIME_STYLES,
  type TimeStyle,
} from './values.ts';

/**
 * A key in a profile, or the shell command that prints it, and the only base URL to which it may be sent (R02). If both
 * are present, the value counts.
 */
export interface StoredKey {
  value?: string;
  command?: string;
  base_url: string;
  /** When the value was stored; earlier versions did not write it. */
  stored_at?: string;
}

/** A profile as it is stored. Members that this version does not know are kept. */
export interface Profile {
  base_url?: string;
  output?: OutputFormat;
  time?: TimeStyle;
  certificates?: Certificates;
  /** The operator's choices for the rows of result codes. */
  actions?: Record<string, ResultStep>;
  keys?: Partial<Record<KeyType, StoredKey>>;
  /** When keys were stored and replaced; earlier versions did not write it. */
  key_history?: KeyHistory;
}

/** The config file. Members that this version does not know are kept. */
export interface Config {
  version: 1;
  /** The profile in use when none is named. */
  current?: string;
  profiles: Record<string, Profile>;
}

/** The profile of this name, or undefined. Safe for names that every object has, like `toString`. */
export function storedProfile(config: Config, name: string): Profile | undefined {
  return Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
}

/** Reads the text of the config file `file`. A damaged one throws `SvcError` `config` with line and column (R13). */
export function parseConfig(content: string, file: string): Config {
  try {
    if (content.trim() === '') throw new JsonFault(0, 'it is empty');
    if (content.startsWith('\uFEFF')) throw new JsonFault(0, 'it begins with a byte order mark');
    const nul = content.indexOf('\0');
    if (nul !== -1) throw new JsonFault(nul, 'it contains a NUL byte');
    const node = readJson(content);
    refuseNewer(node, file);
    CONFIG(node, 'the file');
    // The check above ensures the type.
    return plainValue(node) as Config;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw damaged(file, content, error);
  }
}

export function configText(config: Config): string {
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function damaged(file: string, content: string, fault: JsonFault): SvcError {
  const { line, column } = positionOf(content, fault.at);
  return new SvcError('config', `${file} is damaged at line ${line}, column ${column}: ${fault.message}`, {
    hint: 'Fix that line, or move the file away and log in again. svc does not change a damaged file.',
    facts: { file, line, column },
  });
}

function refuseNewer(node: JsonNode, file: string): void {
  const version = node.kind === 'object' ? node.members.get('version')?.node : undefined;
  if (version?.kind === 'scalar' && typeof version.value === 'number' && version.value > 1)
    throw new SvcError('config', `${file} was written by a newer svc (its version is ${version.value})`, {
      hint: 'Update svc, or set SVC_CONFIG_DIR to another directory.',
    });
}

const KEY = object({ value: text, command: text, base_url: text, stored_at: text }, ['base_url']);
const KEY_EVENT = object({ at: text, type: text, event: text, hash: textOrNull }, ['at', 'type', 'event', 'hash']);
const PROFILE = object({
  base_url: text,
  output: oneOf(OUTPUT_FORMATS),
  time: oneOf(TIME_STYLES),
  certificates: oneOf(CERTIFICATES),
  actions: mapOf(resultCodeProblem, oneOf(RESULT_STEPS)),
  keys: object({ management: KEY, private: KEY }),
  key_history: object({ secret: text, events: listOf(KEY_EVENT) }, ['secret', 'events']),
});
const PROFILES = mapOf(profileNameProblem, PROFILE);
const CONFIG = object({ version: oneOf([1]), current: text, profiles: PROFILES }, ['version', 'profiles']);

/** Throws a `JsonFault` if a node, called `name`, is invalid. */
export type Check = (node: JsonNode, name: string) => void;

function text(node: JsonNode, name: string): void {
  if (node.kind !== 'scalar' || typeof node.value !== 'string')
    throw new JsonFault(node.at, `${name} should be a string in double quotes`);
}

function textOrNull(node: JsonNode, name: string): void {
  if (node.kind !== 'scalar' || node.value !== null) text(node, name);
}

function listOf(check: Check): Check {
  return (node, name) => {
    if (node.kind !== 'array') throw new JsonFault(node.at, `${name} should be a list in brackets`);
    for (const item of node.items) check(item, `an item of ${name}`);
  };
}

function oneOf(values: readonly unknown[]): Check {
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  return (node, name) => {
    if (node.kind !== 'scalar' || !values.includes(node.value))
      throw new JsonFault(node.at, `${name} should be ${listed}`);
  };
}

/** Checks an object with these members; other members pass unchecked. */
function object(members: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (node, name) => {
    if (node.kind !== 'object') throw new JsonFault(node.at, `${name} should be an object in braces`);
    const missing = required.find((member) => !node.members.has(member));
    if (missing !== undefined) throw new JsonFault(node.at, `${name} has no ${missing}`);
    for (const [member, check] of Object.entries(members)) {
      const found = node.members.get(member);
      if (found !== undefined) check(found.node, member);
    }
  };
}

/** Checks an object whose members are all of one kind; `nameProblem` describes what is wrong with a member's name. */
function mapOf(nameProblem: (name: string) => string | undefined, check: Check): Check {
  return (node, name) => {
    if (node.kind !== 'object') throw new JsonFault(node.at, `${name} should be an object in braces`);
    for (const [memberName, member] of node.members) {
      const problem = nameProblem(memberName);
      if (problem !== undefined) throw new JsonFault(member.at, `a name in ${name} ${problem}`);
      check(member.node, memberName);
    }
  };
}

/** A config and its file, which is undefined without a home directory. */
export interface ConfigFile {
  readonly file: string | undefined;
  readonly exists: boolean;
  readonly config: Config;
  readonly notices: Notices;
}

const LARGEST_BYTES = 1_000_000;

/**
 * Reads the config file; without one the config is empty (R10). Closes the file and its directory to others, and reports
 * that in `notices` (R08). @throws SvcError `config` if the file is damaged (R13), unreadable or cannot be made private
 */
export function readConfig(system: PathsHost): ConfigFile {
  const directory = directoryOf(system, 'config');
  if (directory === undefined) return absent(undefined);
  return readOrAbsent(path.join(directory, CONFIG_FILE_NAME), (code) => {
    // A home that this user may not enter, as in a container that runs as another user, contains no settings.
    if (code === 'EACCES') return !system.env['SVC_CONFIG_DIR'] && !isExecutable(directory);
    return code === 'ENOENT' || code === 'ENOTDIR';
  });
}

/**
 * Changes the config file: rereads it under a lock, applies `change`, and replaces the file as a whole (R11, R12).
 * Creates the file and its directory if missing. Throws what `readConfig` throws, and `local` when the file cannot be
 * written; the old file then stays.
 */
export async function updateConfig(
  system: PathsHost & LockHost,
  change: (config: Config) => void,
): Promise<ConfigFile> {
  const file = path.join(requireDirectory(system, 'config'), CONFIG_FILE_NAME);
  const directoryNotices = ensurePrivateDirectory(path.dirname(file));
  // Only a write needs these.
  const { ConfStore } = await import('./conf-store.ts');
  const { removeOrphanedTemporaries } = await import('../../base/files/draft.ts');
  const { withLock } = await import('../../base/files/lock.ts');
  return withLock(
    `${file}.lock`,
    system,
    () => {
      removeOrphanedTemporaries(file);
      const before = readOrAbsent(file, (code) => code === 'ENOENT');
      const { config } = before;
      change(config);
      checkChanged(config, file);
      new ConfStore(file).store = config;
      return { file, exists: true, config, notices: [...directoryNotices, ...before.notices] };
    },
    { what: 'the config file' },
  );
}

// A config file that svc would refuse to read must never be written.
function checkChanged(config: Config, file: string): void {
  try {
    parseConfig(configText(config), file);
  } catch (error) {
    throw new SvcError('bug', 'refusing to write an invalid config file', { cause: error });
  }
}

function readOrAbsent(file: string, isAbsent: (code: string | undefined) => boolean): ConfigFile {
  try {
    const { value: config, notices } = readPrivateFile(file, LARGEST_BYTES, (bytes) => parse(bytes, file));
    const repaired = [...closeDirectoryIfPossible(path.dirname(file)), ...notices];
    return { file, exists: true, config, notices: repaired };
  } catch (error) {
    if (isAbsent(systemCodeOf(error))) return absent(file);
    throw unreadable(file, error);
  }
}

function absent(file: string | undefined): ConfigFile {
  return { file, exists: false, config: { version: 1, profiles: {} }, notices: [] };
}

function parse(bytes: Buffer, file: string): Config {
  const content = bytes.toString('utf8');
  if (isUtf8(bytes)) return parseConfig(content, file);
  throw damaged(file, content, new JsonFault(content.indexOf('\uFFFD'), 'it is not UTF-8'));
}

function unreadable(file: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (error instanceof SvcError || code === undefined) return error;
  return new SvcError('config', `${file} could not be read (${code})`, {
    hint: 'Make it readable for this user, or set SVC_CONFIG_DIR to another directory.',
    cause: error,
  });
}
