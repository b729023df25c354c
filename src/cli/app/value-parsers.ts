import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber, type Strictness } from '../../base/security/card-number.ts';
import { parseDuration } from '../config/values.ts';

/** Parses the text of an option or argument. Throws a usage error that never repeats the text (R05). */
export type ValueParser<T> = (text: string) => T;

export const text: ValueParser<string> = (value) => {
  if (value === '') throw new SvcError('usage', 'must not be empty');
  return value;
};

/** Parses the name of a file to write. A final slash, which would be lost, means a directory. */
export const newFile: ValueParser<string> = (value) => {
  if (value.endsWith('/') || value.endsWith(path.sep))
    throw new SvcError('usage', 'must be the name of a file, not of a directory');
  return text(value);
};

/**
 * Parses a text that is sent to the service or recorded, such as an id or the name of a cycle. Refuses a card number,
 * whatever separates its digits.
 */
export const textToSend: ValueParser<string> = (value) => withoutCardNumber(value, 'cell');

/** Parses a text, and drops white space around it, which is often pasted along. */
export const trimmed: ValueParser<string> = (value) => text(value.trim());

/** Like `textToSend`, but drops white space around the text. */
export const trimmedToSend: ValueParser<string> = (value) => textToSend(value.trim());

/** Parses a cursor. Refuses only digits grouped as on a card, since a cursor may contain long numbers. */
export const cursor: ValueParser<string> = (value) => withoutCardNumber(value, 'text');

function withoutCardNumber(value: string, strictness: Strictness): string {
  if (!containsCardNumber(text(value), strictness)) return value;
  throw new SvcError('refused_input', 'contains what looks like a card number; nothing was sent', {
    hint: 'Give an id or a name: other users and shell histories can see a command line.',
  });
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueParser<number> {
  const words = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(number) || number < min || number > max)
      throw new SvcError('usage', `must be a whole number ${words}`);
    return number;
  };
}

export const pattern: ValueParser<RegExp> = (value) => {
  try {
    return new RegExp(value, 'u');
  } catch {
    throw new SvcError('usage', 'must be a regular expression');
  }
};

/** Parses a SHA-256 in hexadecimal digits, and returns the digits in lower case. */
export const sha256: ValueParser<string> = (value) => {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new SvcError('usage', 'must be a SHA-256: 64 hexadecimal digits');
  return value.toLowerCase();
};

export const hostName: ValueParser<string> = (value) => {
  if (!/^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])$/i.test(value))
    throw new SvcError('usage', 'must be the name of a host, without scheme and port');
  return value;
};

/** Checks a list of comma-separated words, as `--fields` takes it, and returns the list unchanged. */
export const words: ValueParser<string> = (value) => {
  if (value.split(',').some((word) => word.trim() === ''))
    throw new SvcError('usage', 'must be a comma-separated list');
  return value;
};

/** Parses comma-separated names and removes duplicates. */
export const names: ValueParser<readonly string[]> = (value) => [...new Set(words(value.trim()).split(/\s*,\s*/))];

export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new SvcError('usage', 'must be a duration such as 90s, 15m, 1h30m, 7d or 2w');
  return ms;
}

/** Parses a duration that is longer than zero. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new SvcError('usage', 'must be greater than zero');
  return ms;
}

/** Parses a percentage and returns its number: 80 for `80%` or `80`. Values above 100 are allowed. */
export function percent(text: string): number {
  const digits = /^(\d{1,4}(?:\.\d{1,3})?)%$/.exec(text)?.[1] ?? /^\d{1,4}$/.exec(text)?.[0];
  if (digits === undefined || Number(digits) === 0)
    throw new SvcError('usage', 'must be a percentage above zero, such as 80%');
  return Number(digits);
}

export interface NameValue {
  readonly name: string;
  readonly value: string;
}

/** Parses `name=value`. The value may be empty and may contain further equals signs. */
export const nameValue: ValueParser<NameValue> = (typed) => {
  const at = typed.indexOf('=');
  if (at < 1) throw new SvcError('usage', 'must be a name, =, and a value');
  return { name: typed.slice(0, at), value: typed.slice(at + 1) };
};
