import { SvcError } from '../../base/errors.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { checkRow } from '../request/request-rules.ts';
import { isUuid } from '../request/row-key.ts';
import { type ResultRow, wrongResults } from '../result-codes.ts';

/** A result row with a new token. */
type WithNewToken = Pick<ResultRow, 'new_token' | 'row'>;

/**
 * Checks that a new token is allowed in a request file and was not invented by a rehearsal.
 * @throws SvcError `checksum_mismatch` for a token that is not allowed, such as a card number; `refused_input` for an invented
 *   token, unless the command is a rehearsal
 */
export function requireNewToken({ new_token: token, row }: WithNewToken, isRehearsal: boolean): void {
  // A UUID is valid in any request file.
  if (token === '' || isUuid(token)) return;
  const [finding] = checkRow(Buffer.from(csvRow([token, '', '', '']).slice(0, -1))).findings;
  if (finding === undefined) return;
  if (finding.rule !== 'rehearsal_token')
    throw wrongResults(
      `row ${row} of the results gives a new token that is not allowed in a request file: ${finding.problem}`,
    );
  if (!isRehearsal) throw inventedTokenError(row);
}

/** Returns the error for results of a rehearsal, which must change no real card. */
function inventedTokenError(row: number): SvcError {
  return new SvcError('refused_input', `row ${row} of the results has a token that a rehearsal invented`, {
    hint: 'Nothing was written: no card has this token. Use the results of a job that the service completed.',
  });
}
