import { SvcError } from '../errors.ts';
import { csvRow } from '../output/csv.ts';
import { checkRow } from './request-rules.ts';
import { readResults, type ResultRow } from './read-results.ts';
import { ResultCursor } from './reconcile.ts';
import { cellsOf, readRequest, type RequestRow } from './request-lines.ts';
import { type Actions, stepFor } from './result-codes.ts';
import { TokenTable } from './token-table.ts';

/** What became of one row of a request. */
export interface NextRow {
  readonly request: RequestRow;
  /** `fix`: kept as it was, but the service rejected it. */
  readonly kind: 'replaced' | 'kept' | 'fix' | 'dropped';
  /** The row of the next request, without a line end; empty when it was dropped. */
  readonly line: string;
  /** Of its answer; undefined where nothing about it changed. */
  readonly code?: string | undefined;
}

/**
 * The next cycle's request, row by row in the order of the last one: new tokens in place of old ones with the
 * expirations that came with them, excluded ones dropped, all others as they were. In batches, in flat memory.
 * @throws SvcError `checksum_mismatch` when a new token cannot stand in a request file
 */
export async function* nextRequest(
  request: AsyncIterable<Uint8Array>,
  answers: ResultsByToken,
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

function nextRow(request: RequestRow, answer: PackedResult, actions: Actions): NextRow {
  const { result_code: code } = answer;
  const step = stepFor(code, actions);
  if (step === 'exclude') return { request, kind: 'dropped', line: '', code };
  if (step === 'fix') return { request, kind: 'fix', line: request.line, code };
  if (step !== 'replace' || answer.new_token === '') return kept(request, code);
  return { request, kind: 'replaced', line: replacement(request, answer), code };
}

function kept(request: RequestRow, code?: string): NextRow {
  return { request, kind: 'kept', line: request.line, code };
}

function replacement(request: RequestRow, answer: PackedResult): string {
  const { new_token, new_expiration_year: year, new_expiration_month: month, row } = answer;
  const merchant = cellsOf(request)[3] ?? '';
  const line = csvRow([new_token, twoDigitYear(year), twoDigitMonth(month), merchant]).slice(0, -1);
  // The common token, which any request file may hold; the other cells were checked or are made here.
  if (UUID.test(new_token)) return line;
  const [finding] = checkRow(Buffer.from(line)).findings;
  if (finding === undefined) return line;
  throw new SvcError(
    'checksum_mismatch',
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

/** What a row of the results says for the next request. */
export type PackedResult = Pick<
  ResultRow,
  'result_code' | 'new_token' | 'new_expiration_year' | 'new_expiration_month' | 'row'
>;

const FEWEST = 2 ** 12;
const LINKS = 3; // of an answer: the one after it to the same token, where its text stands, and how long that is
// of an answer: the one after it to the same token, where its text stands, and how long that is
const SLAB_BITS = 20;

/**
 * Answers by token, in the order in which they came: about 70 bytes each, a sixth of what rows as objects take. Tokens
 * are told apart by 96 bits of hash.
 */
export class PackedResults {
  count = 0;
  /** By token, its last answer plus one. */
  readonly #last = new TokenTable({ words: 3 });
  #links: Int32Array = new Int32Array(FEWEST * LINKS);
  readonly #slabs: Buffer[] = [];
  #slabTo = 0;
  readonly #codes: string[] = [];
  readonly #codeNumbers = new Map<string, number>();

  /** Takes in the next row of the results. */
  add(row: ResultRow): void {
    const slot = this.#last.find(row.token);
    const last = this.#last.valueAt(slot);
    const answer = this.#store(row);
    // The answers to one token are a ring, entered at the last: the one behind it is the first.
    this.#links[answer * LINKS] = last === 0 ? answer : (this.#links[(last - 1) * LINKS] ?? 0);
    if (last !== 0) this.#links[(last - 1) * LINKS] = answer;
    this.#last.put(slot, answer + 1);
  }

  /** The next answer to the token; the last one again and again; undefined where there is none. */
  take(token: string): PackedResult | undefined {
    const last = this.#last.valueAt(this.#last.find(token)) - 1;
    if (last === -1) return undefined;
    const first = this.#links[last * LINKS] ?? 0;
    if (first !== last) this.#links[last * LINKS] = this.#links[first * LINKS] ?? 0;
    return this.#read(first);
  }

  #store(row: ResultRow): number {
    const code = this.#codeNumbers.get(row.result_code) ?? this.#codes.push(row.result_code) - 1;
    this.#codeNumbers.set(row.result_code, code);
    const text = JSON.stringify([code, row.new_token, row.new_expiration_year, row.new_expiration_month]);
    const length = Buffer.byteLength(text);
    const slab = this.#slabFor(length);
    slab.write(text, this.#slabTo);
    const answer = this.count;
    this.count += 1;
    if (this.count * LINKS > this.#links.length) this.#links = doubled(this.#links);
    this.#links[answer * LINKS + 1] = ((this.#slabs.length - 1) << SLAB_BITS) | this.#slabTo;
    this.#links[answer * LINKS + 2] = length;
    this.#slabTo += length;
    return answer;
  }

  #slabFor(length: number): Buffer {
    const slab = this.#slabs.at(-1);
    if (slab && this.#slabTo + length <= slab.length && this.#slabTo < 1 << SLAB_BITS) return slab;
    const next = Buffer.allocUnsafeSlow(Math.max(length, 1 << SLAB_BITS));
    this.#slabs.push(next);
    this.#slabTo = 0;
    return next;
  }

  #read(answer: number): PackedResult {
    const place = this.#links[answer * LINKS + 1] ?? 0;
    const at = place & ((1 << SLAB_BITS) - 1);
    const length = this.#links[answer * LINKS + 2] ?? 0;
    const text = this.#slabs[place >>> SLAB_BITS]?.toString('utf8', at, at + length) ?? '';
    const [code, token, year, month] = JSON.parse(text) as [number, string, string, string];
    return {
      result_code: this.#codes[code] ?? '',
      new_token: token,
      new_expiration_year: year,
      new_expiration_month: month,
      row: answer + 1,
    };
  }
}

function doubled(links: Int32Array): Int32Array {
  const longer = new Int32Array(links.length * 2);
  longer.set(links);
  return longer;
}

/** Gives to each row of a request, asked in its order, the row of the results that answers it. */
export interface ResultsByToken {
  /** The answer, or undefined at once where there is none. */
  take(token: string): Promise<PackedResult> | PackedResult | undefined;
  /** Closes the results. */
  close(): Promise<void>;
}

/** The most rows of results that are held in memory, where they do not stand in the order of the request. */
const MAX_BUFFERED = 1_000_000;

/** Answers that stand in the order of the request: read along with it, in no memory. */
export async function resultsInOrder(results: AsyncIterable<Uint8Array>): Promise<ResultsByToken> {
  const answers = await ResultCursor.open(results);
  return {
    take(token) {
      const { row } = answers;
      if (row?.token !== token) return undefined;
      return answers.advance()?.then(() => row) ?? row;
    },
    close: () => answers.close(),
  };
}

/**
 * Answers in any order, held in memory. A token that was requested again takes its next answer, and where there is
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
    `the results do not stand in the order of the request, or a token is requested twice; of such, ${mostHeld} rows can be held in memory, and there are more`,
    { hint: "Take the results as 'svc au download' gives them, and a request that names each token once." },
  );
}
