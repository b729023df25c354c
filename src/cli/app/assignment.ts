import { SvcError } from '../../base/errors.ts';
import { ownMember } from '../../schema/own-member.ts';
import { refuseInexactNumber } from './inexact-number.ts';
import { nameValue, type ValueParser } from './value-parsers.ts';

/** A value for a request body, typed as `--set path=value` or `--set-json path=value`. */
export interface Assignment {
  /** The member names and list indexes that lead to the value. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Parses `a.b=value` into a string value. */
export const textAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  return { path: pathIn(name), value };
};

/** Parses `a.b=value` where the value is JSON. */
export const jsonAssignment: ValueParser<Assignment> = (typed) => {
  const { name, value } = nameValue(typed);
  const assignment = { path: pathIn(name), value: jsonIn(value) };
  refuseInexactNumber(assignment.value);
  return assignment;
};

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SvcError('usage', 'must be a path, =, and JSON, such as amount=10 or tags=["a"]');
  }
}

/** Returns a copy of the body with the values set. Creates missing objects; in a list, the path has an index. */
export function withAssignments(body: unknown, assignments: readonly Assignment[]): unknown {
  return assignments.reduce((result, { path, value }) => put(result, path, value), body);
}

function put(target: unknown, [part, ...rest]: readonly string[], value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(target)) return putItem(target, part, rest, value);
  if (target !== undefined && (typeof target !== 'object' || target === null)) throw blocked();
  const members: Readonly<Record<string, unknown>> = { ...target };
  const inner = ownMember(members, part);
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
