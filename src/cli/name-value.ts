import { SvcError } from '../errors.ts';
import type { ValueParser } from './values.ts';

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
