import path from 'node:path';
import { parseDuration } from '../config/choices.ts';
import { SvcError } from '../errors.ts';
import { inspectTarget } from '../transfer/target.ts';
import type { Context } from './command.ts';

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

/** Reads a duration such as `90s`, `15m`, `1h30m` or `7d`, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new SvcError('usage', 'must be a duration such as 90s, 15m, 1h30m or 7d');
  return ms;
}

/** A duration longer than nothing. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new SvcError('usage', 'must be longer than nothing');
  return ms;
}

/** A point in time as typed; what it means can depend on now. Milliseconds since the epoch. */
export type Moment = (now: number) => number;

const DAY_MS = 86_400_000;
const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-](\d{2}):(\d{2}))$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads RFC 3339 with an offset, a date (its start, UTC), a duration ago (`2h`), `now` or `yesterday`. */
export function moment(text: string): Moment {
  if (text === 'now') return (now) => now;
  if (text === 'yesterday') return (now) => startOfDay(now) - DAY_MS;
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = isRealTime(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (!Number.isNaN(at)) return () => at;
  throw new SvcError(
    'usage',
    'must be a time: 2026-01-31T09:00:00Z, 2026-01-31 (UTC), 2h (ago), now or yesterday',
  );
}

function startOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}

// Date.parse moves 30 February to March: a date that does not exist is a mistake, not another date.
function isRealTime(text: string): boolean {
  if (DATE.test(text)) return isRealDate(text);
  const parts = RFC3339.exec(text);
  if (!parts || !isRealDate(parts[1] ?? '')) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = [2, 3, 4, 7, 8].map((index) =>
    Number(parts[index] ?? 0),
  );
  return (
    (hour ?? 99) < 24 &&
    (minute ?? 99) < 60 &&
    (second ?? 99) < 60 &&
    (offsetHour ?? 99) < 24 &&
    (offsetMinute ?? 99) < 60
  );
}

function isRealDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Reads a percentage such as `80%` or `80`, as a number of hundredths: 80. More than 100 % is one too. */
export function percent(text: string): number {
  const digits = /^(\d{1,4}(?:\.\d{1,3})?)%$/.exec(text)?.[1] ?? /^\d{1,4}$/.exec(text)?.[0];
  if (digits === undefined || Number(digits) === 0)
    throw new SvcError('usage', 'must be a percentage above zero, such as 80%');
  return Number(digits);
}

/** One `name=value` as typed. */
export interface NameValue {
  readonly name: string;
  readonly value: string;
}

/** Reads `name=value`; the value may be empty, and may hold further equals signs. */
export const nameValue: ValueParser<NameValue> = (typed) => {
  const at = typed.indexOf('=');
  if (at < 1) throw new SvcError('usage', 'must be a name, =, and a value');
  return { name: typed.slice(0, at), value: typed.slice(at + 1) };
};

/** A path as typed, from the directory that the command runs in. */
export function resolvePath({ system }: Pick<Context, 'system'>, typed: string): string {
  return path.resolve(system.cwd, typed);
}

/** Looks at the place of a file that is to be written whole. @throws SvcError `usage` when it is taken, or none for a file */
export async function requireFile(target: string, force: boolean): Promise<void> {
  const { kind } = await inspectTarget(target, force);
  if (kind === 'file') return;
  throw new SvcError('usage', `${target} is not a file`, { hint: 'Give a file, not a pipe or a device.' });
}

/** A value for a dotted path of a body. */
export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Reads `a.b=value`; the value is a text. */
export const textAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  return { path: pathIn(name), value };
};

/** Reads `a.b=<json>`. */
export const jsonAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  try {
    return { path: pathIn(name), value: JSON.parse(value) as unknown };
  } catch {
    throw new SvcError('usage', 'must be a path, =, and JSON, such as amount=10 or tags=["a"]');
  }
};

/** The body with the values put in; objects are made where there are none, lists take an index. The body itself stays. */
export function assigned(body: unknown, assignments: readonly Assignment[]): unknown {
  return assignments.reduce((result, { path, value }) => put(result, path, value), body);
}

function put(target: unknown, [part, ...rest]: readonly string[], value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(target)) return putItem(target, part, rest, value);
  if (target !== undefined && (typeof target !== 'object' || target === null)) throw blocked();
  const members: Readonly<Record<string, unknown>> = { ...target };
  const inner = Object.hasOwn(members, part) ? members[part] : undefined;
  return { ...members, [part]: put(inner, rest, value) };
}

function putItem(list: readonly unknown[], part: string, rest: readonly string[], value: unknown): unknown[] {
  const index = /^\d{1,6}$/.test(part) ? Number(part) : Infinity;
  if (index > list.length) throw blocked();
  return [...list.slice(0, index), put(list[index], rest, value), ...list.slice(index + 1)];
}

function pathIn(name: string): string[] {
  const parts = name.split('.');
  if (parts.includes(''))
    throw new SvcError('usage', 'must be a path, =, and a value: a part of the path is empty');
  return parts;
}

function blocked(): SvcError {
  return new SvcError(
    'refused_input',
    'a path given with --set leads through something that is no object in the body',
    {
      hint: 'Make it an object in the file, or leave it out there.',
    },
  );
}
