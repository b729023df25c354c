import { SvcError } from '../../base/errors.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { ResultCursor } from '../results/reconcile.ts';
import {
  type Actions,
  groupOf,
  readResults,
  type ResultRow,
  type RowGroup,
  wrongResults,
} from '../results/result-codes.ts';
import type { Exclusions } from './exclusions.ts';
import { twoDigitMonth, twoDigitYear } from './prepare-date.ts';
import { cellsOf, readRequest, type RequestRow } from './request-lines.ts';
import { checkRow } from './request-rules.ts';
import { TokenTable } from './token-table.ts';

/** What became of one row of a request. */
export interface NextRow {
  readonly request: RequestRow;
  /** `unchanged` where it has no result; `excluded before` where the operator's list of exclusions has its token. */
  readonly group: RowGroup | 'unchanged' | 'excluded before';
  /** The row of the next request, without a line end; empty where it is left out. */
  readonly line: string;
  /** The code of its result; undefined where nothing about it changed. */
  readonly code?: string | undefined;
  /** The line of its token in the list of exclusions, where it was excluded before. */
  readonly excludedOn?: number | undefined;
}

/**
 * The next cycle's request, row by row in the order of the last one: new tokens in place of old ones with the
 * expirations that came with them, excluded ones left out, all others as they were. In batches, in flat memory.
 * @throws SvcError `checksum_mismatch` when a new token is not allowed in a request file
 */
export async function* nextRequest(
  request: AsyncIterable<Uint8Array>,
  results: ResultsByToken,
  actions: Actions,
  exclusions?: Pick<Exclusions, 'lineOf'>,
): AsyncGenerator<readonly NextRow[], void> {
  try {
    for await (const rows of readRequest(request)) {
      const batch: NextRow[] = [];
      for (const row of rows) {
        const taken = results.take(row.token);
        // Most rows have no result, or have it at hand, and waiting for nothing costs.
        const result = taken instanceof Promise ? await taken : taken;
        const excludedOn = exclusions?.lineOf(row.token) ?? 0;
        if (excludedOn > 0) batch.push({ request: row, group: 'excluded before', line: '', excludedOn });
        else if (result === undefined) batch.push({ request: row, group: 'unchanged', line: row.line });
        else batch.push(nextRow(row, result, actions));
      }
      yield batch;
    }
  } finally {
    await results.close();
  }
}

function nextRow(request: RequestRow, result: PackedResult, actions: Actions): NextRow {
  const { result_code: code } = result;
  const group = groupOf(code, result.new_token !== '', actions);
  if (group === 'exclude') return { request, group, line: '', code };
  return { request, group, line: group === 'replace' ? replacement(request, result) : request.line, code };
}

function replacement(request: RequestRow, result: PackedResult): string {
  const { new_token, new_expiration_year: year, new_expiration_month: month, row } = result;
  const merchant = cellsOf(request)[3] ?? '';
  // An expiration that is no date is left out: the new token stores its own.
  const date = [twoDigitYear(year) ?? '', twoDigitMonth(month) ?? ''];
  const line = csvRow([new_token, ...date, merchant]).slice(0, -1);
  // The common token, which any request file may contain; the other cells were checked or are made here.
  if (UUID.test(new_token)) return line;
  const [finding] = checkRow(Buffer.from(line)).findings;
  if (finding === undefined) return line;
  const what = 'gives a new token that is not allowed in a request file';
  throw wrongResults(`row ${row} of the results ${what}: ${finding.problem}`);
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What a row of the results says for the next request. */
export type PackedResult = Pick<
  ResultRow,
  'result_code' | 'new_token' | 'new_expiration_year' | 'new_expiration_month' | 'row'
>;

/** Results by token, in the order in which they came. As text each takes about 100 bytes; as an object, 400. */
export class PackedResults {
  /** By token, its last result plus one. */
  readonly #last = new TokenTable({ words: 3 });
  // The results of one token are a ring, entered at the last: the one after it is the first.
  readonly #following: number[] = [];
  readonly #texts: string[] = [];

  add(row: ResultRow): void {
    const { token, result_code, new_token, new_expiration_year, new_expiration_month } = row;
    const slot = this.#last.find(token);
    const last = this.#last.valueAt(slot) - 1;
    const added = this.#texts.length;
    this.#texts.push(JSON.stringify([result_code, new_token, new_expiration_year, new_expiration_month]));
    this.#following.push(last === -1 ? added : (this.#following[last] ?? 0));
    if (last !== -1) this.#following[last] = added;
    this.#last.put(slot, added + 1);
  }

  /** The next result of the token; the last one again and again; undefined where there is none. */
  take(token: string): PackedResult | undefined {
    const last = this.#last.valueAt(this.#last.find(token)) - 1;
    if (last === -1) return undefined;
    const first = this.#following[last] ?? 0;
    this.#following[last] = this.#following[first] ?? 0;
    const [code, newToken, year, month] = JSON.parse(this.#texts[first] ?? '') as readonly string[];
    return {
      result_code: code ?? '',
      new_token: newToken ?? '',
      new_expiration_year: year ?? '',
      new_expiration_month: month ?? '',
      row: first + 1,
    };
  }
}

/** Returns for each row of a request, in its order, the row of the results that belongs to it. */
export interface ResultsByToken {
  /** The result, or undefined at once where there is none. */
  take(token: string): Promise<PackedResult> | PackedResult | undefined;
  close(): Promise<void>;
}

/** The most rows of results that are held in memory, where they are not in the order of the request. */
const MAX_BUFFERED = 1_000_000;

/** Results in the order of the request: read along with it, in no memory. */
export async function resultsInOrder(results: AsyncIterable<Uint8Array>): Promise<ResultsByToken> {
  const cursor = await ResultCursor.open(results);
  return {
    take(token) {
      const { row } = cursor;
      if (row?.token !== token) return undefined;
      return cursor.advance()?.then(() => row) ?? row;
    },
    close: () => cursor.close(),
  };
}

/**
 * Results in any order, held in memory. A token that was requested again takes its next result, and where there is
 * none left, the last one once more: an update counts for each row of the token.
 * @throws SvcError `refused_input` when there are more than may be held
 */
export async function indexResults(
  results: AsyncIterable<Uint8Array>,
  mostHeld = MAX_BUFFERED,
): Promise<ResultsByToken> {
  const held = new PackedResults();
  for await (const rows of readResults(results)) {
    for (const row of rows) {
      if (row.row > mostHeld) throw tooMany(mostHeld);
      held.add(row);
    }
  }
  return { take: (token) => held.take(token), close: () => Promise.resolve() };
}

function tooMany(mostHeld: number): SvcError {
  return new SvcError(
    'refused_input',
    `the results are not in the order of the request, or a token is requested twice; at most ${mostHeld} such rows fit in memory`,
    { hint: 'Use the results as they were downloaded, and a request that names each token once.' },
  );
}
