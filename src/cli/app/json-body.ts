import { readFailure, SvcError } from '../../base/errors.ts';
import { readFileOrPipe } from '../../base/files/read.ts';
import type { InputStream } from '../../base/system.ts';
import { JsonFault, plainValue, positionOf, readJson } from '../config/json-text.ts';
import { readInput } from './read-input.ts';
import type { Context } from './command.ts';
import { resolvePath } from './typed-path.ts';
import { nameValue, type ValueParser } from './value-parsers.ts';

const LARGEST_BODY = 1_000_000;

/**
 * Reads JSON in UTF-8 from a file, or from standard input for `-`; `//` comments are allowed. Messages never quote the
 * content.
 * @throws SvcError `refused_input` with the line of a syntax error; `local` if the file cannot be read
 */
export async function readJsonBody(context: Context, typed: string): Promise<unknown> {
  const { name, text } = await readTextFile(context, typed);
  return jsonIn(text, name);
}

/** Reads a text file, or standard input for `-`, and returns it with its name for messages. */
export async function readTextFile(context: Context, typed: string): Promise<{ name: string; text: string }> {
  const name = typed === '-' ? 'standard input' : typed;
  return { name, text: decoded(await bytesOf(context, typed, name), name) };
}

export function jsonIn(text: string, name: string): unknown {
  try {
    return plainValue(readJson(text, 'comments'));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { line, column } = positionOf(text, error.at);
    const where = text.trim() === '' ? 'it is empty' : `line ${line}, column ${column}: ${error.message}`;
    throw new SvcError('refused_input', `${name} is not JSON: ${where}`, {
      hint: 'Fix it there and run the command again.',
      facts: { line, column },
    });
  }
}

async function bytesOf(context: Context, typed: string, name: string): Promise<Buffer> {
  if (typed !== '-') {
    const file = resolvePath(context, typed);
    const bytes = await readFileOrPipe(file, LARGEST_BODY + 1, context).catch((error: unknown) => {
      throw readFailure(name, error);
    });
    if (bytes.length > LARGEST_BODY) throw tooLong(name);
    return bytes;
  }
  const { stdin } = context.system;
  if (stdin.isTTY === true) {
    throw new SvcError('input_needed', 'standard input is a terminal, not a file', {
      hint: 'Pipe the body in, or name its file.',
    });
  }
  return gathered(stdin, context.signal);
}

async function gathered(stdin: InputStream, signal: AbortSignal): Promise<Buffer> {
  // A pipe that stays silent must not keep an interrupted command alive.
  const stop = (): void => void stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await readInput(stdin, LARGEST_BODY).catch((error: unknown) => {
      throw readFailure('standard input', error);
    });
  } finally {
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  }
}

function tooLong(name: string): SvcError {
  return new SvcError('refused_input', `${name} is longer than ${LARGEST_BODY} bytes: no request is`, {
    hint: 'Check that it is the right file.',
  });
}

function decoded(bytes: Buffer, name: string): string {
  try {
    // A byte order mark at the start is dropped.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SvcError('refused_input', `${name} is not UTF-8 text`, { hint: 'Save it as UTF-8.' });
  }
}

export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Parses `a.b=value`. The value is a text. */
export const textAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  return { path: pathIn(name), value };
};

export const jsonAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  try {
    return { path: pathIn(name), value: JSON.parse(value) as unknown };
  } catch {
    throw new SvcError('usage', 'must be a path, =, and JSON, such as amount=10 or tags=["a"]');
  }
};

/** Returns a copy of the body with the values set. Missing objects are created; a list takes an index. */
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
  if (parts.includes('')) throw new SvcError('usage', 'must be a path, =, and a value: a part of the path is empty');
  return parts;
}

function blocked(): SvcError {
  return new SvcError(
    'refused_input',
    'a path given with --set leads through something that is no object in the body',
    { hint: 'Make it an object in the file, or leave it out there.' },
  );
}
