// Parses and checks the values of settings, whether from an option, a variable or a profile.

import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { didYouMean, typedWord } from '../../base/security/typed-word.ts';
import type { Environment } from '../../base/system.ts';
import { displayHost, isSafeAddress, readAddress } from '../../schema/address.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../schema/durations.ts';

/** Output formats; `table` is the format for people. */
export const OUTPUT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const TIME_STYLES = ['utc', 'local', 'relative'] as const;

export type TimeStyle = (typeof TIME_STYLES)[number];

/** The trusted certificate authorities: Node's own, or also the operating system's. */
export const CERTIFICATES = ['node', 'system'] as const;

export type Certificates = (typeof CERTIFICATES)[number];

/** The steps that an operator can choose for the rows of a result code. */
export const RESULT_STEPS = ['replace', 'keep', 'exclude', 'fix'] as const;

/** The step for a token of a result row in the next request. */
export type ResultStep = (typeof RESULT_STEPS)[number];

/** A chosen step for a result code, written as WRN_OPT_OUT=exclude. */
export type ChosenStep = readonly [code: string, step: ResultStep];

/** Describes what is wrong with a result code; undefined for a valid one. Unknown codes are valid. */
export function resultCodeProblem(code: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9_]{0,63}$/.test(code)
    ? undefined
    : 'is no result code: letters, digits and underscores, 64 at most, beginning with a letter or digit';
}

/** Suggests a known result code for a similar unknown one; undefined for a known code, or one that resembles none. */
export function doubtfulCode(code: string, known: readonly string[]): string | undefined {
  const meant = known.includes(code) ? undefined : didYouMean(code, known);
  return meant && `${typedWord(code, known)} is not a known result code. ${meant}`;
}

/** Reads `<code>=<step>`; undefined for anything else. */
export function parseChosenStep(text: string): ChosenStep | undefined {
  const [code = '', word, ...rest] = text.split('=');
  const step = RESULT_STEPS.find((known) => known === word);
  if (step === undefined || rest.length > 0 || resultCodeProblem(code) !== undefined) return undefined;
  return [code, step];
}

const UNITS_MS: Readonly<Record<string, number>> = {
  w: 604_800_000,
  d: DAY_MS,
  h: HOUR_MS,
  m: MINUTE_MS,
  s: 1000,
  ms: 1,
};

/** Reads `90s`, `15m`, `1h30m`, `7d`, `2w`: whole numbers with units, largest first. Milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  const sizes = Object.values(UNITS_MS);
  const ms = parts.slice(1).reduce((sum, part, at) => sum + Number(part ?? 0) * (sizes[at] ?? 0), 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/**
 * Reads the location of a ledger: an absolute directory, or `s3://bucket/prefix`. A relative path would name another
 * directory after each change of the working directory.
 * @throws SvcError `usage` for a flag, else `config`
 */
export function ledgerLocation(text: string, { kind, name }: Origin): string {
  const location = text.trim();
  if (/^s3:\/\/[^/]/i.test(location) || path.isAbsolute(location)) return location;
  throw new SvcError(
    kind === 'flag' ? 'usage' : 'config',
    `the ledger from ${name} is neither a bucket nor an absolute path`,
    { hint: 'Name s3://bucket/prefix, or a directory that all machines see, by its absolute path.' },
  );
}

/**
 * Reads the path of a PEM file. Errors do not show the text, which may be the key itself.
 * @throws SvcError `usage` for a flag, else `config`
 */
export function pemPath(text: string, { kind, name }: Origin, cwd: string): string {
  const file = text.trim();
  const code = kind === 'flag' ? 'usage' : 'config';
  const hint = 'Name the file that contains it by its absolute path.';
  if (/-----BEGIN|[\n\r\0]/.test(file))
    throw new SvcError(code, `the value from ${name} is not the path of a file`, { hint });
  if (kind === 'profile' && !path.isAbsolute(file))
    throw new SvcError(code, `a client certificate or key from ${name} is no absolute path`, { hint });
  return path.resolve(cwd, file);
}

/** The value of `SVC_LEDGER` that turns off the profile's shared ledger. */
export const NO_LEDGER = 'none';

/** The built-in profile of the embedded sandbox, which is never stored. */
export const SANDBOX_PROFILE = 'sandbox';

export const DEFAULT_PROFILE = 'default';

/** Describes, as the end of a sentence, why a profile name is invalid; undefined for a valid name. */
export function profileNameProblem(name: string): string | undefined {
  if (name === SANDBOX_PROFILE) return 'cannot be sandbox: that one is built in';
  if (name.length > 64) return 'is longer than 64 characters';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    return 'should be letters, digits, dots, dashes and underscores, and begin with a letter or digit';
  // Profiles are members of an object, and every object has members such as `constructor` and `toString`.
  return name in {} ? 'is a name that JavaScript reserves' : undefined;
}

/** Checks that a profile can be stored under a name. @throws SvcError `usage` */
export function checkProfileName(name: string): void {
  const problem = profileNameProblem(name);
  if (problem !== undefined)
    throw new SvcError('usage', `the name of the profile ${problem}`, {
      hint: 'Choose another name, such as prod or test-2.',
    });
}

/**
 * Reads a base URL: https, or http on this machine, with an optional path. Removes slashes at the end of the path. Errors do
 * not show the text, which may contain a password.
 * @throws SvcError `usage` for a flag, else `config`
 */
export function parseBaseUrl(text: string, origin: Origin): URL {
  const url = readAddress(text.trim());
  const problem = isQuoted(text) ? 'begins and ends with a quote' : baseUrlProblem(url);
  if (url === undefined || problem !== undefined) {
    const code = origin.kind === 'flag' ? 'usage' : 'config';
    throw new SvcError(code, `the base URL from ${origin.name} ${problem}`, {
      hint: 'Use an address such as https://api.example.com, as given for your account.',
    });
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** Whether a text has quotes around it. In an env file of Docker, quotes become part of the value. */
export function isQuoted(text: string): boolean {
  return /^\s*(["'])[^]*\1\s*$/.test(text);
}

/** Formats a base URL without a slash at its end, for storing, comparing and showing. */
export function baseUrlText(url: URL): string {
  return displayHost(url) + url.pathname.replace(/\/+$/, '');
}

/** Describes, as the end of a sentence, why a base URL is invalid; undefined for a valid one. A query may contain a secret. */
export function baseUrlProblem(url: URL | undefined): string | undefined {
  if (url?.href.includes('?')) return 'must not contain a query';
  if (url?.href.includes('#')) return 'must not contain a fragment';
  return addressProblem(url);
}

/** Describes, as the end of a sentence, why an address is unsafe; undefined for https, or http on this machine, without password. */
export function addressProblem(url: URL | undefined): string | undefined {
  if (url === undefined) return 'is not a valid URL (expected https://…)';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither https nor http';
  if (!isSafeAddress(url)) return 'is not encrypted: only https may leave this machine';
  return url.username === '' && url.password === '' ? undefined : 'must not contain a user name or password';
}

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
