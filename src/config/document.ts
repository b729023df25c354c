import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors.ts';
import {
  OUTPUT_FORMATS,
  type OutputFormat,
  RESULT_STEPS,
  resultCodeProblem,
  type ResultStep,
  TIME_STYLES,
  type TimeStyle,
} from './choices.ts';
import { JsonFault, type JsonNode, plainValue, positionOf, readJson } from './json-text.ts';
import { profileNameProblem } from './profile-name.ts';

/** The two kinds of key: `management` for logs and the tenant, `private` for 3DS and Account Updater. */
export const KEY_KINDS = ['management', 'private'] as const;
/** One of the two kinds of key. */
export type KeyKind = (typeof KEY_KINDS)[number];

/**
 * A key in a profile, or the shell command that prints it, and the only base URL that it may go to (R02). With neither
 * there is no key; where both stand, the value counts.
 */
export interface StoredKey {
  value?: string;
  command?: string;
  base_url: string;
}

/** A profile as it is stored. Members that this version does not know are kept. */
export interface Profile {
  base_url?: string;
  output?: OutputFormat;
  time?: TimeStyle;
  /** What to do with the rows of a result code, where the operator chose. */
  actions?: Record<string, ResultStep>;
  keys?: Partial<Record<KeyKind, StoredKey>>;
}

/** The config file. Members that this version does not know are kept. */
export interface Config {
  version: 1;
  /** The profile in use when none is named. */
  current?: string;
  profiles: Record<string, Profile>;
}

/** A config with nothing in it. */
export function emptyConfig(): Config {
  return { version: 1, profiles: {} };
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
    if (nul !== -1) throw new JsonFault(nul, 'it holds a NUL byte');
    const node = readJson(content);
    refuseNewer(node, file);
    const config = plainValue(node);
    checkConfig(config, node);
    return config;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw damaged(file, content, error);
  }
}

/** The same for the bytes of the file, which should be UTF-8. */
export function parseConfigBytes(bytes: Buffer, file: string): Config {
  const content = bytes.toString('utf8');
  if (isUtf8(bytes)) return parseConfig(content, file);
  throw damaged(file, content, new JsonFault(content.indexOf('\uFFFD'), 'it is not UTF-8'));
}

/** The text of a config, as it is stored. */
export function configText(config: Config): string {
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function damaged(file: string, content: string, fault: JsonFault): SvcError {
  const { line, column } = positionOf(content, fault.at);
  return new SvcError('config', `${file} is damaged at line ${line}, column ${column}: ${fault.message}`, {
    hint: "Fix that line, or move the file away and run 'svc login' again. svc leaves the file as it is.",
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

function checkConfig(_config: unknown, node: JsonNode): asserts _config is Config {
  CONFIG(node, 'the file');
}

const KEY = object({ value: text, command: text, base_url: text }, ['base_url']);
const PROFILE = object({
  base_url: text,
  output: oneOf(OUTPUT_FORMATS),
  time: oneOf(TIME_STYLES),
  actions: mapOf(resultCodeProblem, oneOf(RESULT_STEPS)),
  keys: object({ management: KEY, private: KEY }),
});
const PROFILES = mapOf(profileNameProblem, PROFILE);
const CONFIG = object({ version: oneOf([1]), current: text, profiles: PROFILES }, ['version', 'profiles']);

/** Throws a `JsonFault` at the place where a node, called `name`, is not as it should be. */
export type Check = (node: JsonNode, name: string) => void;

/** A text. */
function text(node: JsonNode, name: string): void {
  if (node.kind !== 'scalar' || typeof node.value !== 'string')
    throw new JsonFault(node.at, `${name} should be a string in double quotes`);
}

/** One of these values. */
function oneOf(values: readonly unknown[]): Check {
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  return (node, name) => {
    if (node.kind !== 'scalar' || !values.includes(node.value))
      throw new JsonFault(node.at, `${name} should be ${listed}`);
  };
}

/** An object with these members; others are let through unread. */
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

/** An object whose members are all alike; `nameProblem` says what is wrong with a member's name, if anything. */
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
