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
  readonly requested: number;
  readonly answered: number;
  /** Rows of the request without a result, because nothing about them changed. */
  readonly unchanged: number;
  /** Result rows whose token is not in the request. */
  readonly notRequested: number;
  /** Result rows for a token that already had one result for each of its rows in the request. */
  readonly duplicates: number;
  /** The first 20 mismatched rows. */
  readonly mismatches: readonly Mismatch[];
  readonly matchedBy: MatchedBy;
}

const KEPT = 20;

/**
 * Matches each result row with a row of the request, which must be a valid file. If the results are in the request's
 * order, as the service returns them, reads both files once, side by side. Otherwise looks up the hashes of tokens.
 * Uses constant memory either way.
 */
export async function reconcile(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex = new TokenIndex(),
): Promise<Reconciliation> {
  return (await compareInOrder(request, results)) ?? compareByToken(request, results, index);
}

/**
 * Matches results with a request file, of which a repeated row counts once. Earlier builds sent repeated rows too:
 * results with a row for each of them are matched with the whole file.
 */
export async function reconcileFile({ source, whole }: Record<'source' | 'whole', Rereadable>, results: Rereadable) {
  const found = await reconcile(source, results);
  if (source === whole || found.duplicates === 0) return { found, source };
  const ofWhole = await reconcile(whole, results);
  return ofWhole.duplicates === 0 ? { found: ofWhole, source: whole } : { found, source };
}

/** Compares files in the same order. Returns undefined if a result row matches no remaining row of the request. */
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

/** Reads a result file row by row alongside another file. */
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

  /**
   * Moves to the next row. Returns a promise only if the row must be awaited, because most rows are already in memory.
   */
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
 * The requested tokens, in at most 50 MB. After about 3.3 million different tokens it is full (`isFull`), and what it returns
 * no longer counts. The table stores, for each token, the number of its outstanding results plus one.
 */
export class TokenIndex {
  readonly #table: TokenTable;

  constructor(mostSlots = MOST_SLOTS) {
    this.#table = new TokenTable({ words: 2, mostSlots });
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

  /**
   * Counts a result. Returns `duplicate` for a token that already has as many results as it has rows in the request.
   */
  take(token: string): Mismatch['type'] | 'expected' {
    const key = tokenKey(token);
    const left = this.#table.get(key);
    if (left <= 1) return left === 0 ? 'not_requested' : 'duplicate';
    this.#table.set(key, left - 1);
    return 'expected';
  }
}
