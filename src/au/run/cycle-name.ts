import { SvcError } from '../../base/errors.ts';
import { textToSend, type ValueParser } from '../../cli/app/value-parsers.ts';

/** Parses the name of a cycle, which is not case-sensitive, and refuses a card number. */
export const cycleName: ValueParser<string> = (value) => {
  const name = textToSend(value).trim().toLowerCase();
  // A cycle is also the name of a directory, where dots alone name another one.
  if (/^[a-z0-9._-]{1,40}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new SvcError(
    'usage',
    'must be 1 to 40 letters, digits, dots, underscores or hyphens, and not only dots, such as 2026-12',
  );
};
