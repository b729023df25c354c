import { csvRow } from '../csv-row.ts';
import { SvcError } from '../errors.ts';
import { type Actions, stepFor } from './actions.ts';
import type { Answers } from './answers.ts';
import type { Answer } from './packed-answers.ts';
import { checkRow } from './check-row.ts';
import { cellsOf, readRequest, type RequestRow } from './read-request.ts';

/** What became of one row of a request. */
export interface NextRow {
  readonly request: RequestRow;
  /** `mend`: kept as it was, but the service took offence at it. */
  readonly kind: 'replaced' | 'kept' | 'mend' | 'dropped';
  /** The row of the next request, without a line end; empty when it was dropped. */
  readonly line: string;
  /** Of its answer; undefined where nothing about it changed. */
  readonly code?: string | undefined;
}

/**
 * The next cycle's request, row by row in the order of the last one: new tokens in place of old ones with the
 * expirations that came with them, excluded ones dropped, all others as they were. In batches, in flat memory.
 * @throws SvcError `altered` when a new token cannot stand in a request file
 */
export async function* nextRequest(
  request: AsyncIterable<Uint8Array>,
  answers: Answers,
  actions: Actions,
): AsyncGenerator<readonly NextRow[], void> {
  try {
    for await (const rows of readRequest(request)) {
      const batch: NextRow[] = [];
      for (const row of rows) {
        const answer = answers.take(row.token);
        // Most rows have no answer, or have it at hand, and waiting for nothing costs.
        const at = answer instanceof Promise ? await answer : answer;
        batch.push(at === undefined ? kept(row) : nextRow(row, at, actions));
      }
      yield batch;
    }
  } finally {
    await answers.close();
  }
}

function nextRow(request: RequestRow, answer: Answer, actions: Actions): NextRow {
  const { result_code: code } = answer;
  const step = stepFor(code, actions);
  if (step === 'exclude') return { request, kind: 'dropped', line: '', code };
  if (step === 'mend') return { request, kind: 'mend', line: request.line, code };
  if (step !== 'replace' || answer.new_token === '') return kept(request, code);
  return { request, kind: 'replaced', line: replacement(request, answer), code };
}

function kept(request: RequestRow, code?: string): NextRow {
  return { request, kind: 'kept', line: request.line, code };
}

function replacement(request: RequestRow, answer: Answer): string {
  const { new_token, new_expiration_year: year, new_expiration_month: month, row } = answer;
  const merchant = cellsOf(request)[3] ?? '';
  const line = csvRow([new_token, twoDigitYear(year), twoDigitMonth(month), merchant]).slice(0, -1);
  // The common token, which any request file may hold; the other cells were checked or are made here.
  if (UUID.test(new_token)) return line;
  const [finding] = checkRow(Buffer.from(line)).findings;
  if (finding === undefined) return line;
  throw new SvcError(
    'altered',
    `row ${row} of the results gives a new token that no request file may hold: ${finding.problem}`,
    { hint: 'Download the results again; if they stay as they are, contact support with the job id.' },
  );
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

// An expiration that is no date is left out: the new token stores its own.
function twoDigitYear(year: string): string {
  return /^(?:20)?([0-9]{2})$/.exec(year)?.[1] ?? '';
}

function twoDigitMonth(month: string): string {
  return /^(?:0?[1-9]|1[0-2])$/.test(month) ? month.padStart(2, '0') : '';
}
