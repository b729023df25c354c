import { readRequest } from './read-request.ts';
import { readResults, type ResultRow } from './read-results.ts';

/** A file that can be read from its beginning again and again. */
export interface Rereadable {
  open(): AsyncIterable<Uint8Array>;
}

/** How the two files were held together. */
export type MatchedBy =
  /** The results stand in the order of the request. */
  | 'order'
  /** They do not: by the tokens of the request. */
  | 'token'
  /** They do not, and the request holds more tokens than memory may: the rows were counted, no more. */
  | 'count';

/** A row of the results that matches no row of the request. */
export interface Mismatch {
  /** Of the results; the first row below the header is 1. */
  readonly row: number;
  readonly type: 'not_requested' | 'duplicate';
}

/** Results held against the request that they answer. */
export interface Reconciliation {
  /** Rows of the request. */
  readonly requested: number;
  /** Rows of the results. */
  readonly answered: number;
  /** Rows of the request that no row of the results answers: nothing about them changed. */
  readonly unchanged: number;
  /** Rows of the results whose token is not in the request. */
  readonly notRequested: number;
  /** Rows of the results whose token was answered before, as often as it was requested. */
  readonly duplicates: number;
  /** The first 20 such rows. */
  readonly mismatches: readonly Mismatch[];
  readonly matchedBy: MatchedBy;
}

const KEPT = 20;

/**
 * Tells whether each row of the results answers a row of the request. Where the results stand in the order of the
 * request, as the service's do, both are read once, side by side; else the request's tokens are looked up by their
 * hashes. The request is a file that was checked. Memory is flat either way.
 */
export async function reconcile(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex = new TokenIndex(),
): Promise<Reconciliation> {
  const counts = await compareInOrder(request, results);
  if (counts !== undefined) return { ...summed(counts.requested, counts.answered, []), matchedBy: 'order' };
  return compareByToken(request, results, index);
}

interface Counts {
  readonly requested: number;
  readonly answered: number;
}

/** Undefined when a row of the results has no counterpart in the rest of the request. */
async function compareInOrder(request: Rereadable, results: Rereadable): Promise<Counts | undefined> {
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
    return answers.row === undefined ? { requested, answered } : undefined;
  } finally {
    await answers.close();
  }
}

async function compareByToken(
  request: Rereadable,
  results: Rereadable,
  index: TokenIndex,
): Promise<Reconciliation> {
  let requested = 0;
  for await (const rows of readRequest(request.open())) {
    requested += rows.length;
    for (const { token } of rows) index.expect(token);
  }
  let answered = 0;
  const mismatches = new Mismatches();
  for await (const rows of readResults(results.open())) {
    answered += rows.length;
    if (index.isFull) continue;
    for (const { token, row } of rows) {
      const found = index.answer(token);
      if (found !== 'expected') mismatches.add(row, found === 'duplicate' ? found : 'not_requested');
    }
  }
  const odd = mismatches.counts.duplicate + mismatches.counts.not_requested;
  return {
    ...summed(requested, answered - odd, mismatches.first),
    answered,
    notRequested: mismatches.counts.not_requested,
    duplicates: mismatches.counts.duplicate,
    matchedBy: index.isFull ? 'count' : 'token',
  };
}

function summed(
  requested: number,
  answered: number,
  mismatches: readonly Mismatch[],
): Omit<Reconciliation, 'matchedBy'> {
  const unchanged = Math.max(0, requested - answered);
  return { requested, answered, unchanged, notRequested: 0, duplicates: 0, mismatches };
}

class Mismatches {
  readonly first: Mismatch[] = [];
  readonly counts: Record<Mismatch['type'], number> = { not_requested: 0, duplicate: 0 };

  add(row: number, type: Mismatch['type']): void {
    this.counts[type] += 1;
    if (this.first.length < KEPT) this.first.push({ row, type });
  }
}

/** Goes over a result file beside another file: one row in sight, and the next when it is asked for. */
export class ResultCursor {
  /** The row in sight; undefined behind the last. */
  row: ResultRow | undefined;
  readonly #batches: AsyncGenerator<readonly ResultRow[], void>;
  #batch: readonly ResultRow[] = [];
  #at = 0;

  private constructor(source: AsyncIterable<Uint8Array>) {
    this.#batches = readResults(source);
  }

  /** Stands on the first row. Fails as `readResults` does. */
  static async open(source: AsyncIterable<Uint8Array>): Promise<ResultCursor> {
    const cursor = new ResultCursor(source);
    await cursor.#refill();
    return cursor;
  }

  /** Goes on by one row. Most rows are there already: only what it gives is to be waited for. */
  advance(): Promise<void> | undefined {
    this.#at += 1;
    this.row = this.#batch[this.#at];
    return this.row === undefined ? this.#refill() : undefined;
  }

  /** Closes the file. */
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

const FIELDS = 3; // two halves of a 64-bit hash, and how often the token is still to be answered, plus one
// two halves of a 64-bit hash, and how often the token is still to be answered, plus one
const FEWEST_SLOTS = 2 ** 12;
const MOST_SLOTS = 2 ** 22;
const LARGE = 2 ** 20;

/** What the answer to a token turned out to be. */
export type TokenState = 'expected' | 'duplicate' | 'unknown';

/**
 * Which tokens were asked for, by a 64-bit hash, in bounded memory: 12 bytes a slot, at most 50 MB. It takes
 * 3,145,728 different tokens; from then on `isFull`, and it can tell nothing more.
 */
export class TokenIndex {
  isFull = false;
  readonly #mostSlots: number;
  #slots: number;
  #table: Int32Array;
  #free: number;
  // The hash last taken: two numbers out of one function, without an object for each of millions of tokens.
  #low = 0;
  #high = 0;

  /** `mostSlots` is a power of two. */
  constructor(mostSlots = MOST_SLOTS) {
    this.#mostSlots = mostSlots;
    this.#slots = Math.min(FEWEST_SLOTS, mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = this.#slots * 0.75;
  }

  /** Takes in a token that was asked for, perhaps not for the first time. */
  expect(token: string): void {
    if (this.isFull) return;
    this.#hash(token);
    const at = this.#find(this.#low, this.#high);
    const left = this.#table[at + 2] ?? 0;
    if (left === 0) this.#insert(at, this.#low, this.#high, 2);
    else this.#table[at + 2] = left + 1;
  }

  /** Takes in an answer: `duplicate` when the token was answered as often as it was asked for before. */
  answer(token: string): TokenState {
    this.#hash(token);
    const at = this.#find(this.#low, this.#high);
    const left = this.#table[at + 2] ?? 0;
    if (left === 0) return 'unknown';
    if (left === 1) return 'duplicate';
    this.#table[at + 2] = left - 1;
    return 'expected';
  }

  #hash(token: string): void {
    let low = token.length | 0;
    let high = 0x9e3779b9 | 0;
    for (let at = 0; at < token.length; at += 1) {
      const unit = token.charCodeAt(at);
      low = Math.imul(low ^ unit, 0x85ebca6b);
      high = Math.imul(high ^ unit, 0xc2b2ae35);
      low ^= high >>> 15;
      high ^= low >>> 13;
    }
    this.#low = Math.imul(low ^ (high >>> 16), 0x27d4eb2f);
    this.#high = high;
  }

  /** Where the hash stands in the table, or the empty slot where it would go. */
  #find(low: number, high: number): number {
    const mask = this.#slots - 1;
    for (let slot = (low ^ (low >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * FIELDS;
      if (this.#table[at + 2] === 0 || (this.#table[at] === low && this.#table[at + 1] === high)) return at;
    }
  }

  #insert(at: number, low: number, high: number, left: number): void {
    if (this.#free === 0) {
      this.isFull = true;
      return;
    }
    this.#free -= 1;
    this.#table[at] = low;
    this.#table[at + 1] = high;
    this.#table[at + 2] = left;
    if (this.#free === 0 && this.#slots < this.#mostSlots) this.#grow();
  }

  #grow(): void {
    const old = this.#table;
    // A large table is not made larger than it need be.
    this.#slots = Math.min(this.#slots * (this.#slots < LARGE ? 4 : 2), this.#mostSlots);
    this.#table = new Int32Array(this.#slots * FIELDS);
    this.#free = this.#slots * 0.75;
    for (let at = 0; at < old.length; at += FIELDS) {
      const [low = 0, high = 0, left = 0] = old.subarray(at, at + FIELDS);
      if (left !== 0) this.#insert(this.#find(low, high), low, high, left);
    }
  }
}
