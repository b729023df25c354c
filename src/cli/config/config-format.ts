import { getNodeValue, type Node } from 'jsonc-parser';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { JsonFault, membersOf, positionOf, readJson } from './json-text.ts';
import { PROFILE_SETTINGS, type ProfileSetting } from './profile-settings.ts';
import { type Certificates, type OutputFormat, profileNameProblem, type TimeStyle } from './values.ts';
import { RESULT_STEPS, resultCodeProblem, type ResultStep } from './result-steps.ts';

/**
 * A key in a profile, or the shell command that prints it, and the only base URL to which it may be sent (R02). If both
 * are present, the value counts.
 */
export interface StoredKey {
  value?: string;
  command?: string;
  base_url: string;
  /** When svc stored the value. */
  stored_at?: string;
}

/** A profile as it is stored. Members that this version does not know are kept. */
export interface Profile {
  base_url?: string;
  output?: OutputFormat;
  time?: TimeStyle;
  certificates?: Certificates;
  /** Absolute paths of a client certificate and its key, for the service at `base_url` alone. */
  client_cert?: string;
  client_key?: string;
  /** The location of the ledger that machines share. */
  ledger?: string;
  /** The operator's choices for the rows of result codes. */
  actions?: Record<string, ResultStep>;
  keys?: Partial<Record<KeyType, StoredKey>>;
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

/** Parses the text of a config file. @throws SvcError `config` for a damaged file, with line and column (R13) */
export function parseConfig(content: string, file: string): Config {
  try {
    if (content.trim() === '') throw new JsonFault(0, 'it is empty');
    if (content.startsWith('\uFEFF')) throw new JsonFault(0, 'it begins with a byte order mark');
    const nul = content.indexOf('\0');
    if (nul !== -1) throw new JsonFault(nul, 'it contains a NUL byte');
    const node = readJson(content);
    const value: unknown = getNodeValue(node);
    refuseNewer(value, 1, file);
    CONFIG(node, 'the file');
    // The check above ensures the type.
    return value as Config;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw damagedConfig(file, content, error);
  }
}

export function configText(config: Config): string {
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Returns the error for a config file with a fault, with the fault's line and column. */
export function damagedConfig(file: string, content: string, fault: JsonFault): SvcError {
  const { line, column } = positionOf(content, fault.at);
  return new SvcError('config', `${file} is damaged at line ${line}, column ${column}: ${fault.message}`, {
    hint: 'Fix that line, or move the file away and log in again. svc does not change a damaged file.',
    facts: { file, line, column },
  });
}

const KEY = object({ value: text, command: text, base_url: text, stored_at: text }, ['base_url']);
const SETTINGS: readonly [string, ProfileSetting<unknown>][] = Object.entries(PROFILE_SETTINGS);
const PROFILE = object({
  ...Object.fromEntries(SETTINGS.map(([name, { choices }]) => [name, choices === undefined ? text : oneOf(choices)])),
  actions: mapOf(resultCodeProblem, oneOf(RESULT_STEPS)),
  keys: object({ management: KEY, private: KEY }),
});
const PROFILES = mapOf(profileNameProblem, PROFILE);
const CONFIG = object({ version: oneOf([1]), current: text, profiles: PROFILES }, ['version', 'profiles']);

/** Throws a `JsonFault` if a node, called `name`, is invalid. */
type Check = (node: Node, name: string) => void;

function text({ type, offset }: Node, name: string): void {
  if (type !== 'string') throw new JsonFault(offset, `${name} should be a string in double quotes`);
}

function oneOf(values: readonly unknown[]): Check {
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  return ({ value, offset }, name) => {
    if (!values.includes(value)) throw new JsonFault(offset, `${name} should be ${listed}`);
  };
}

/** Checks an object with these members; other members pass unchecked. */
function object(checks: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (node, name) => {
    requireObject(node, name);
    const members = new Map(membersOf(node).map(([member, value]) => [member.value, value]));
    const missing = required.find((member) => !members.has(member));
    if (missing !== undefined) throw new JsonFault(node.offset, `${name} has no ${missing}`);
    for (const [member, check] of Object.entries(checks)) {
      const found = members.get(member);
      if (found !== undefined) check(found, member);
    }
  };
}

/** Checks an object whose members all have the same form. `nameProblem` describes what is wrong with a member's name. */
function mapOf(nameProblem: (name: string) => string | undefined, check: Check): Check {
  return (node, name) => {
    requireObject(node, name);
    for (const [member, value] of membersOf(node)) {
      const problem = nameProblem(String(member.value));
      if (problem !== undefined) throw new JsonFault(member.offset, `a name in ${name} ${problem}`);
      check(value, String(member.value));
    }
  };
}

function requireObject({ type, offset }: Node, name: string): void {
  if (type !== 'object') throw new JsonFault(offset, `${name} should be an object in braces`);
}
