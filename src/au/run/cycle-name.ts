import { SvcError } from '../../base/errors.ts';
import type { ValueParser } from '../../cli/app/value-parsers.ts';

/** Parses the name of a cycle, which is not case-sensitive. */
export const cycleName: ValueParser<string> = (value) => {
  const name = value.trim().toLowerCase();
  if (/^[a-z0-9._-]{1,40}$/.test(name)) return name;
  throw new SvcError('usage', 'must be 1 to 40 letters, digits, dots, underscores or hyphens, such as 2026-12');
};
