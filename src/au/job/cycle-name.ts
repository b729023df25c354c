import { SvcError } from '../../base/errors.ts';
import { textToSend, type ValueParser } from '../../cli/app/value-parsers.ts';
import { isJobId } from './job.ts';

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

/**
 * Checks that the name of a new cycle cannot be mistaken for a job or an option.
 * @throws SvcError `usage`
 */
export function requireClearName(cycle: string | undefined): void {
  if (cycle === undefined || !(isJobId(cycle) || cycle.startsWith('-'))) return;
  const what = isJobId(cycle) ? 'the id of a job' : 'an option';
  throw new SvcError('usage', `no cycle can begin with the name ${cycle}, which looks like ${what}`, {
    hint: 'Nothing was submitted. Choose another name, such as 2026-12.',
  });
}
