// The errors of `svc au next`.

import { SvcError } from '../../base/errors.ts';
import { countText, fixedPercent, formatNumber } from '../../cli/output/number.ts';

/** Returns the error for results in another order that do not fit into memory. */
export function tooManyToMatch(most: number): SvcError {
  return new SvcError(
    'refused_input',
    `the results are not in the order of the request, or a token is requested twice; at most ${most} such rows fit in memory`,
    { hint: 'Use the results as they were downloaded, and a request that names each token once.' },
  );
}

/** Returns the error for results that are not proven whole: they would become billable rows. */
export function notProven(results: string): SvcError {
  return new SvcError('refused_input', `${results} is kept because it is not proven whole`, {
    hint: 'To compare it with its request, use svc au report. If it is right, accept it:',
    next: ['au', 'download', '<job>', '--accept-unproven'],
    facts: { file: results, file_kind: 'unproven' },
  });
}

/** Returns the warning of rows whose result codes have an unknown beginning. */
export function unknownCodesText(count: number, results: string): string {
  const [have, stay] = count === 1 ? ['has a result code', 'stays'] : ['have result codes', 'stay'];
  return `${countText(count, 'row')} of ${results} ${have} that svc does not know, and ${stay} in the next request: svc au report ${results} shows the codes, and --action chooses what to do`;
}

/** Returns the error for a next request with too many rows that need fixing. */
export function tooManyToFix(
  { rows, fix }: { readonly rows: number; readonly fix: number },
  results: string,
): SvcError {
  const share = `${formatNumber(fix)} of ${countText(rows, 'row')} of the next request (${fixedPercent(fix / rows)})`;
  return new SvcError('threshold', `${share} need fixing before they are submitted again; nothing was written`, {
    hint: 'Each row is billed again. Write these rows into todo/fix.csv and correct them in the file that they came from, or allow a larger share with --fail-on, such as err=50%:',
    next: ['au', 'report', results, '--split-into', 'todo'],
    facts: { fix, rows },
  });
}
