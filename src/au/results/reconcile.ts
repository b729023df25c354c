import type { UploadSource } from '../../client/transfer/source.ts';
import { readRequest } from '../request/request-lines.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults, type ResultRow } from './result-codes.ts';

export type Rereadable = Pick<UploadSource, 'open'>;

export type MatchedBy =
  /** The results are in the order of the request. */
  | 'order'
  /** They are not: by the tokens of the request. */
  | 'token'
  /** They are not, and the request has more tokens than fit in memory: the rows were only counted. */
  | 'count';

/** A row of the results that matches no row of the request. */
export interface Mismatch {
  /** Of the results; the first row below the header is 1. */
  readonly row: number;
  readonly type: 'not_requested' | 'duplicate';
}

export interface Reconciliation {
  readonly requested: number;
  readonly answered: number;
  /** Rows of the request without a result: nothing about them changed. */
  readonly unchanged: number;
  /** Rows of the results whose token is not in the request. */
  readonly notRequested: number;
  /** Rows of the results whose token already had as many results as it was requested. */
  readonly duplicates: number;
  /** The first 20 such rows. */
  readonly mismatches: readonly Mismatch[];
  readonly matchedBy: MatchedBy;
}

const KEPT = 20;

/**
 * Finds whether each row of the results belongs to a row of the request. Where the results are in the order of the
 * request, as the service's do, both are read once, side by side; else the request's tokens are looked up by their
 * hashes. The request is a file that was checked. Memory is flat either way.
 */
export async function reconcile(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex = new TokenIndex(),
): Promise<Reconciliation> {
  return (await compareInOrder(request, results)) ?? compareByToken(request, results, index);
}

/** Undefined when a row of the results has no counterpart in the rest of the request. */
async function compareInOrder(request: Rereadable, results: Rereadable): Promise<Reconciliation | undefined> {
  const answers = await ResultCursor.open(results.open());
  let requested = 0;
  let answered = 0;
  try {
    for await (const rows of readRequest(request.open())) {
      requested += rows.length;
      for (const { token } of rows) {
        if (answers.row?.token !== token) continue;
        answered += 1;
        const more = answers.advance();
        if (more) await more;
      }
    }
    if (answers.row !== undefined) return undefined;
    const noMismatch = { notRequested: 0, duplicates: 0, mismatches: [] };
    return { requested, answered, unchanged: requested - answered, ...noMismatch, matchedBy: 'order' };
  } finally {
    await answers.close();
  }
}

async function compareByToken(request: Rereadable, results: Rereadable, index: TokenIndex): Promise<Reconciliation> {
  let requested = 0;
  for await (const rows of readRequest(request.open())) {
    requested += rows.length;
    for (const { token } of rows) index.expect(token);
  }
  let answered = 0;
  const counts = { not_requested: 0, duplicate: 0 };
  const mismatches: Mismatch[] = [];
  for await (const rows of readResults(results.open())) {
    answered += rows.length;
    if (index.isFull) continue;
    for (const { token, row } of rows) {
      const type = index.take(token);
      if (type === 'expected') continue;
      counts[type] += 1;
      if (mismatches.length < KEPT) mismatches.push({ row, type });
    }
  }
  const { not_requested: notRequested, duplicate: duplicates } = counts;
  const unchanged = Math.max(0, requested - (answered - duplicates - notRequested));
  const matchedBy = index.isFull ? 'count' : 'token';
  return { requested, answered, unchanged, notRequested, duplicates, mismatches, matchedBy };
}

/** Reads a result file row by row beside another file. */
export class ResultCursor {
  /** The current row; undefined after the last. */
  row: ResultRow | undefined;
  readonly #batches: AsyncGenerator<readonly ResultRow[], void>;
  #batch: readonly ResultRow[] = [];
  #at = 0;

  private constructor(source: AsyncIterable<Uint8Array>) {
    this.#batches = readResults(source);
  }

  /** Opens a file at its first row. Fails as `readResults` does. */
  static async open(source: AsyncIterable<Uint8Array>): Promise<ResultCursor> {
    const cursor = new ResultCursor(source);
    await cursor.#refill();
    return cursor;
  }

  /** Moves to the next row; wait only where a promise is returned: most rows are there already. */
  advance(): Promise<void> | undefined {
    this.#at += 1;
    this.row = this.#batch[this.#at];
    return this.row === undefined ? this.#refill() : undefined;
  }

  async close(): Promise<void> {
    await this.#batches.return();
  }

  async #refill(): Promise<void> {
    const next = await this.#batches.next();
    this.#batch = next.done === true ? [] : next.value;
    this.#at = 0;
    this.row = this.#batch[0];
  }
}

const MOST_SLOTS = 2 ** 22;

/**
 * Which tokens were requested, in bounded memory: at most 50 MB. It takes 3,145,728 different tokens; from then on
 * `isFull`, and nothing more is known. A token's number is how many of its results are still to come, plus one.
 */
export class TokenIndex {
  readonly #table: TokenTable;

  constructor(mostSlots = MOST_SLOTS) {
    this.#table = new TokenTable({ words: 2, mostSlots });
  }

  get isFull(): boolean {
    return this.#table.isFull;
  }

  /** Takes in a token that was requested, perhaps not for the first time. */
  expect(token: string): void {
    if (this.isFull) return;
    const slot = this.#table.find(token);
    this.#table.put(slot, Math.max(1, this.#table.valueAt(slot)) + 1);
  }

  /** Takes in a result: `duplicate` when the token has had as many results as it was requested for. */
  take(token: string): Mismatch['type'] | 'expected' {
    const slot = this.#table.find(token);
    const left = this.#table.valueAt(slot);
    if (left <= 1) return left === 0 ? 'not_requested' : 'duplicate';
    this.#table.put(slot, left - 1);
    return 'expected';
  }
}
