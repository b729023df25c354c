// Parses and checks the values of settings, whether from an option, a variable or a profile.

import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { displayHost, isSafeAddress, readAddress } from '../../schema/address.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../schema/durations.ts';
import type { Origin } from './origin.ts';

/** Output formats; `table` is the format for people. */
export const OUTPUT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const TIME_STYLES = ['utc', 'local', 'relative'] as const;

export type TimeStyle = (typeof TIME_STYLES)[number];

/** The trusted certificate authorities: Node's own, or also the operating system's. */
export const CERTIFICATES = ['node', 'system'] as const;

export type Certificates = (typeof CERTIFICATES)[number];

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
  // Names are shown and stored as they are.
  if (containsCardNumber(name)) return 'looks like a card number';
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
