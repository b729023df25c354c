import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { repeated, suggesting } from '../../cli/app/parameter.ts';
import { type Check, CHECKS } from './checks.ts';

/** The option `--accept`, which says that what a check of a whole file found is meant. */
export const acceptParameter = suggesting(
  { wordsOf: 'check' },
  repeated('--accept <check>', `go on although a check of the file stops it: ${CHECKS.join(', ')}`, checkName),
);

function checkName(typed: string): Check {
  const known = CHECKS.find((check) => check === typed);
  if (known !== undefined) return known;
  throw new SvcError('usage', `must be one of ${CHECKS.join(', ')}`, { hint: didYouMean(typed, CHECKS) });
}
