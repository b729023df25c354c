// Groups millions of rows by their hashes, to find repeated rows quickly and in bounded memory.

/** The number of words of a row: its hash, and its line. */
export const ROW_WORDS = 4;
const BUCKETS = 256;
/** Rows are moved out of a bucket's open piece in pieces of this many words, of 4 KiB. */
const PIECE_WORDS = 1024;
/** The number of pieces that are read at a time from outside memory. */
const MAX_READ = 32;
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
/** The usual limit on rows in memory, which take 16 MiB: three times what one job takes. */
const MAX_IN_MEMORY = 2 ** 20;

/** Storage outside memory: a private file. */
export interface Overflow {
  /** Appends pieces. Returns the offset of the first one, in bytes. */
  append(pieces: readonly Int32Array[]): Promise<number>;
  /** Reads `words` from an offset in bytes. */
  read(at: number, words: Int32Array): Promise<void>;
  release(): Promise<void>;
}

interface Stored {
  readonly at: number;
  readonly pieces: number;
}

/**
 * Rows in the order in which they were added, divided by their hashes into buckets that are small enough for the
 * processor's cache. A single table of millions of rows is slower by far, because each lookup in it waits for memory.
 */
export class RowBuckets {
  /** The piece of each bucket that gets the next row; undefined if the last piece is full. */
  readonly #open: (Int32Array | undefined)[] = Array.from({ length: BUCKETS });
  /** The number of words in each open piece. */
  readonly #used = new Int32Array(BUCKETS);
  readonly #full: Int32Array[][] = emptyLists();
  /** Pieces to use again. */
  readonly #empty: Int32Array[] = [];
  #fullPieces = 0;
  readonly #stored: Stored[][] = emptyLists();
  readonly #openOverflow: (() => Promise<Overflow>) | undefined;
  #overflow: Overflow | undefined;
  readonly #mostPieces: number;
  /** The words that were last read from outside memory. */
  readonly #read = new Int32Array(MAX_READ * PIECE_WORDS);

  /** Without `openOverflow`, memory takes all rows. */
  constructor(openOverflow: (() => Promise<Overflow>) | undefined, mostInMemory = MAX_IN_MEMORY) {
    this.#openOverflow = openOverflow;
    this.#mostPieces = (mostInMemory * ROW_WORDS) / PIECE_WORDS;
  }

  add(first: number, second: number, third: number, line: number): void {
    const bucket = first >>> 24;
    const piece = this.#open[bucket] ?? this.#begin(bucket);
    const at = this.#used[bucket] ?? 0;
    piece[at] = first;
    piece[at + 1] = second;
    piece[at + 2] = third;
    piece[at + 3] = line;
    this.#used[bucket] = at + ROW_WORDS;
    if (at + ROW_WORDS === PIECE_WORDS) this.#close(bucket, piece);
  }

  /** Moves rows out of memory if there are many. Callers call it now and then between rows. */
  async relieve(): Promise<void> {
    if (this.#fullPieces <= this.#mostPieces || this.#openOverflow === undefined) return;
    this.#overflow ??= await this.#openOverflow();
    let at = await this.#overflow.append(this.#full.flat());
    for (const [bucket, pieces] of this.#full.entries()) {
      if (pieces.length > 0) this.#stored[bucket]?.push({ at, pieces: pieces.length });
      at += pieces.length * PIECE_WORDS * WORD_BYTES;
      this.#empty.push(...pieces.splice(0));
    }
    this.#fullPieces = 0;
  }

  /** Yields the rows of each bucket in pieces. Equal rows are in the same bucket. A piece is valid until the next one. */
  *buckets(): Generator<AsyncIterable<Int32Array>> {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) yield this.#pieces(bucket);
  }

  /** Removes the rows that were moved out of memory. */
  async release(): Promise<void> {
    await this.#overflow?.release();
  }

  async *#pieces(bucket: number): AsyncGenerator<Int32Array> {
    for (const { at, pieces } of this.#stored[bucket] ?? []) {
      for (let done = 0; done < pieces; done += MAX_READ) {
        const words = this.#read.subarray(0, Math.min(pieces - done, MAX_READ) * PIECE_WORDS);
        await this.#overflow?.read(at + done * PIECE_WORDS * WORD_BYTES, words);
        yield words;
      }
    }
    yield* this.#full[bucket] ?? [];
    const open = this.#open[bucket];
    if (open !== undefined) yield open.subarray(0, this.#used[bucket]);
  }

  #begin(bucket: number): Int32Array {
    const piece = this.#empty.pop() ?? new Int32Array(PIECE_WORDS);
    this.#open[bucket] = piece;
    this.#used[bucket] = 0;
    return piece;
  }

  #close(bucket: number, piece: Int32Array): void {
    this.#full[bucket]?.push(piece);
    this.#fullPieces += 1;
    this.#open[bucket] = undefined;
    this.#used[bucket] = 0;
  }
}

function emptyLists<T>(): T[][] {
  return Array.from({ length: BUCKETS }, () => []);
}
