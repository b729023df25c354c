import { SvcError } from '../errors.ts';

/** Reads the text of an option or argument; throws a usage error that never repeats the text (R05). */
export type ValueParser<T> = (text: string) => T;

/** Any text but the empty one. */
export const text: ValueParser<string> = (value) => {
  if (value === '') throw new SvcError('usage', 'must not be empty');
  return value;
};

/** A whole number within bounds, both included. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueParser<number> {
  const words = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(number) || number < min || number > max)
      throw new SvcError('usage', `must be a whole number ${words}`);
    return number;
  };
}

/** A regular expression, Unicode-aware. */
export const pattern: ValueParser<RegExp> = (value) => {
  try {
    return new RegExp(value, 'u');
  } catch {
    throw new SvcError('usage', 'must be a regular expression');
  }
};

/** A SHA-256 as hexadecimal digits, in lower case whichever was typed. */
export const sha256: ValueParser<string> = (value) => {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new SvcError('usage', 'must be a SHA-256: 64 hexadecimal digits');
  return value.toLowerCase();
};

/** The name of a host, without a port. */
export const hostName: ValueParser<string> = (value) => {
  if (!/^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])$/i.test(value))
    throw new SvcError('usage', 'must be the name of a host, without scheme and port');
  return value;
};

/** One of several comma-separated words kept in order, as `--fields` takes them. */
export const words: ValueParser<string> = (value) => {
  if (value.split(',').some((word) => word.trim() === ''))
    throw new SvcError('usage', 'must be a comma-separated list');
  return value;
};
