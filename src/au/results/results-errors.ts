// The errors of comparisons between results and their request.

import { SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/number.ts';
import type { Threshold } from './fail-on.ts';
import type { Reconciliation } from './reconcile.ts';
import type { ReportRequest } from './report-view.ts';

/** Returns the error for a request with too many tokens to compare, so that rows were only counted. */
export function onlyCountedError(file: string, { file: request, rows }: ReportRequest): SvcError {
  return new SvcError('truncated', `the rows of ${file} were counted only: ${request} contains too many tokens`, {
    hint: 'Results in the order of the request can be compared at any size: use them as they were downloaded.',
    facts: { rows_requested: rows },
  });
}

/** Explains a token with more results than request rows. */
const MORE_RESULTS =
  'A token has more results than rows: another machine may have sent it for several merchants in one job.';

/** Returns the error for result rows that match no request row. `next` compares the two files. */
export function unmatchedRowsError(
  { results, request }: Readonly<Record<'results' | 'request', string>>,
  { not_requested, duplicates, mismatches }: Pick<Reconciliation, 'not_requested' | 'duplicates' | 'mismatches'>,
  next?: readonly string[],
): SvcError {
  const first = mismatches.slice(0, 3).map(({ row }) => row);
  const rows = `${first.join(', ')}${mismatches.length > 3 ? ' …' : ''}`;
  const why = duplicates > 0 && not_requested === 0 ? `${MORE_RESULTS} ` : '';
  return new SvcError(
    'checksum_mismatch',
    `no row of ${request} matches ${countText(not_requested + duplicates, 'row')} of ${results}: ${rows}`,
    {
      hint: `${why}Check that the two files belong together; else contact support with the job id.`,
      next,
      facts: { not_requested, duplicates, mismatches },
    },
  );
}

/** Returns the error for more rows than `--fail-on` allows. */
export function failOnError(
  met: number,
  { words }: Threshold,
  {
    file,
    nextFile,
    errors,
    warned,
    unknown,
  }: Readonly<Record<'errors' | 'warned' | 'unknown', number> & Record<'file' | 'nextFile', string>>,
): SvcError {
  return new SvcError('threshold', `${countText(met, 'row')} met --fail-on ${words}`, {
    hint: `The results went to ${file}; the list above has the action for each result code.`,
    next: ['au', 'report', nextFile],
    facts: { errors, warned, unknown, results: file },
  });
}
