// Matches the rows of results with the rows of their request.

import type { UploadSource } from '../../client/transfer/source.ts';
import { readRequest } from '../request/request-lines.ts';
import { isSameToken, tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults, type ResultRow } from '../result-codes.ts';

export type Rereadable = Pick<UploadSource, 'open'>;

export type MatchedBy =
  /** The results are in the order of the request. */
  | 'order'
  /** The results are in another order, so rows were matched by their tokens. */
  | 'token'
  /** The results are in another order, and the request has too many tokens for memory. The rows were only counted. */
  | 'count';

/** A result row that matches no row of the request. */
export interface Mismatch {
  /** The number of the result row. The first row below the header is 1. */
  readonly row: number;
  readonly type: 'not_requested' | 'duplicate';
}

export interface Reconciliation {
  /** The rows of the request. */
  readonly rows: number;
  /** The rows of the results. */
  readonly answered: number;
  /** Rows of the request without a result: their cards did not change. */
  readonly unchanged: number;
  /** Result rows whose token is not in the request. */
  readonly not_requested: number;
  /** Result rows beyond one for each request row of their token. */
  readonly duplicates: number;
  /** The first 20 mismatched rows. */
  readonly mismatches: readonly Mismatch[];
  readonly matched_by: MatchedBy;
}

const MAX_MISMATCHES = 20;

/**
 * Matches each result row with a row of the request, which must be a valid file. If the results are in the request's
 * order, as the service returns them, reads both files once, side by side. Otherwise looks up the hashes of tokens.
 * Uses constant memory either way. `withRepeats` is the request with its repeated rows, if it has any: svc sends none of them, but
 * another client may have, and each then has a result.
 */
export async function reconcile(
  request: Rereadable,
  results: Rereadable,
  {
    withRepeats,
    index = new TokenIndex(),
  }: { readonly withRepeats?: Rereadable | undefined; readonly index?: TokenIndex | undefined } = {},
): Promise<Reconciliation> {
  const compared = (await compareInOrder(request, results)) ?? (await compareByToken(request, results, index));
  if (withRepeats === undefined || compared.duplicates === 0) return compared;
  const { duplicates, mismatches } = await reconcile(withRepeats, results);
  return { ...compared, duplicates, mismatches };
}

/** Compares results in the order of the request. Returns undefined if they have another order, or rows of no request row. */
async function compareInOrder(request: Rereadable, results: Rereadable): Promise<Reconciliation | undefined> {
  const answers = await ResultCursor.open(results.open());
  let requested = 0;
  let answered = 0;
  try {
    for await (const rows of readRequest(request.open())) {
      requested += rows.length;
      for (const { token } of rows) {
        if (answers.row === undefined || !isSameToken(answers.row.token, token)) continue;
        answered += 1;
        const more = answers.advance();
        if (more) await more;
      }
    }
    if (answers.row !== undefined) return undefined;
    const noMismatch = { not_requested: 0, duplicates: 0, mismatches: [] };
    return { rows: requested, answered, unchanged: requested - answered, ...noMismatch, matched_by: 'order' };
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
      if (mismatches.length < MAX_MISMATCHES) mismatches.push({ row, type });
    }
  }
  const { not_requested, duplicate: duplicates } = counts;
  const unchanged = Math.max(0, requested - (answered - duplicates - not_requested));
  const matched_by = index.isFull ? 'count' : 'token';
  return { rows: requested, answered, unchanged, not_requested, duplicates, mismatches, matched_by };
}

/** Reads a results file row by row. */
export class ResultCursor {
  /** The current row; undefined after the last one. */
  row: ResultRow | undefined;
  readonly #batches: AsyncGenerator<readonly ResultRow[], void>;
  #batch: readonly ResultRow[] = [];
  #at = 0;

  private constructor(source: AsyncIterable<Uint8Array>) {
    this.#batches = readResults(source);
  }

  /** Opens a file at its first row. Throws the errors of `readResults`. */
  static async open(source: AsyncIterable<Uint8Array>): Promise<ResultCursor> {
    const cursor = new ResultCursor(source);
    await cursor.#refill();
    return cursor;
  }

  /** Moves to the next row. Returns a promise only if the row must be awaited: most rows are in memory. */
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

const MAX_SLOTS = 2 ** 22;

/**
 * Counts the outstanding results of each requested token, in at most 64 MiB. After about 3.3 million different tokens it is full
 * (`isFull`), and its responses are meaningless. The table stores the number of outstanding results plus one.
 */
export class TokenIndex {
  readonly #table: TokenTable;

  constructor(mostSlots = MAX_SLOTS) {
    this.#table = new TokenTable({ mostSlots });
  }

  get isFull(): boolean {
    return this.#table.isFull;
  }

  /** Adds a requested token, which may be in the index already. */
  expect(token: string): void {
    if (this.isFull) return;
    const key = tokenKey(token);
    this.#table.set(key, Math.max(1, this.#table.get(key)) + 1);
  }

  /** Counts a result. Returns `duplicate` if its token already has a result for each of its request rows. */
  take(token: string): Mismatch['type'] | 'expected' {
    const key = tokenKey(token);
    const left = this.#table.get(key);
    if (left <= 1) return left === 0 ? 'not_requested' : 'duplicate';
    this.#table.set(key, left - 1);
    return 'expected';
  }
}
