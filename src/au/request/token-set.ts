import { TokenTable } from './token-table.ts';

/** The limit on slots: about three million different tokens, as many as ten jobs take, in 48 MiB. */
const MOST_SLOTS = 2 ** 22;

/** A set of tokens. Takes 15 bytes per token if the number of tokens is known; a set of strings takes ten times as much. */
export class TokenSet {
  readonly #table: TokenTable;

  /** Creates a set with room for `expected` tokens. It grows when there are more. */
  constructor(expected = 0, mostSlots = MOST_SLOTS) {
    // A shorter hash could drop a row as a repeat, and the error would not be noticed.
    this.#table = new TokenTable({ words: 3, hasValues: false, expected, mostSlots });
  }

  /** Whether a token was left out because there were too many. */
  get isFull(): boolean {
    return this.#table.isFull;
  }

  /** Adds a token. Returns false for a token that is already in the set, or if the set is full. */
  add(token: string): boolean {
    return this.#table.setIfAbsent(token, 1) === 0 && !this.isFull;
  }
}
