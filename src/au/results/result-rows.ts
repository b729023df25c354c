import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import { reconcile, type Rereadable } from './reconcile.ts';

export interface MatchOptions {
  /** Whether a token may have results of other rows, because another machine sent it for several merchants in one job. */
  readonly mayHaveMore?: boolean | undefined;
  /** Tells by the key of a token whether its results may have another order than its rows have in the request. */
  readonly isUnordered?: ((key: string) => boolean) | undefined;
}

/**
 * Finds the row of a request to which each result belongs. Results name no merchant, so that those of a token with several
 * merchants are matched in order. That is possible if all results have the order of the request, and each row of the
 * token has one. Where only the order of a token's rows is not known, its results must all be equal.
 */
export class ResultRows {
  /** For each token with several rows or results, the number of its rows. */
  readonly #rows: ReadonlyMap<string, number>;
  readonly #known: ReadonlySet<string>;
  readonly #more: ReadonlySet<string>;

  private constructor(rows: ReadonlyMap<string, number>, known: ReadonlySet<string>, more: ReadonlySet<string>) {
    this.#rows = rows;
    this.#known = known;
    this.#more = more;
  }

  /** Reads a request, to count the rows of its tokens. */
  static async of(request: Rereadable): Promise<ResultRows> {
    return new ResultRows(await rowsByToken(request), new Set(), new Set());
  }

  /** Reads a request, and the results too if a token has several rows or may have more results than rows. */
  static async match(
    request: Rereadable,
    results: Rereadable,
    { mayHaveMore = false, isUnordered }: MatchOptions = {},
  ): Promise<ResultRows> {
    const rows = await rowsByToken(request);
    const more = new Set<string>();
    if (mayHaveMore)
      for (const [key, count] of await repeatedTokens(tokensOfResults(results))) {
        if (count > (rows.get(key) ?? 1)) more.add(key);
        rows.set(key, rows.get(key) ?? 1);
      }
    if (rows.size === 0) return new ResultRows(rows, new Set(), more);
    const others = more.size === 0 ? results : onlyResults(results, (token) => !more.has(tokenKey(token)));
    const { matchedBy } = await reconcile(request, others);
    const found = matchedBy === 'order' ? await countByToken(results, rows) : new Map<string, number>();
    const whole = [...rows].filter(([key, count]) => found.get(key) === count).map(([key]) => key);
    const unordered = new Set(isUnordered ? whole.filter((key) => isUnordered(key)) : []);
    const unclear = unordered.size === 0 ? unordered : await unequalResults(results, (key) => unordered.has(key));
    const known = whole.filter((key) => !unclear.has(key));
    return new ResultRows(rows, new Set(known), more);
  }

  /**
   * Returns a function that places the results one after the other: 0 for the first row of the token, 1 for its second one,
   * and undefined if the row is not known.
   */
  placing(): (token: string) => number | undefined {
    const placeOf = this.counting();
    return (token) => (this.isKnown(token) ? placeOf(token) : undefined);
  }

  /** Tells whether it is known to which rows the results of a token belong. */
  isKnown(token: string): boolean {
    const key = tokenKey(token);
    return !this.#rows.has(key) || this.#known.has(key);
  }

  /** Returns the keys of the tokens with several rows or results. */
  repeated(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** Whether a token has more results than rows. */
  get hasMore(): boolean {
    return this.#more.size > 0;
  }

  /** Tells whether this token has more results than rows. */
  hasMoreOf(token: string): boolean {
    return this.#more.has(tokenKey(token));
  }

  /** Returns the number of rows that the request has of a token. */
  rowsOf(token: string): number {
    return this.#rows.get(tokenKey(token)) ?? 1;
  }

  /** Returns a function that counts the rows of the request one after the other, by token, from 0. */
  counting(): (token: string) => number {
    const taken = new Map<string, number>();
    return (token) => {
      const key = tokenKey(token);
      if (!this.#rows.has(key)) return 0;
      const place = taken.get(key) ?? 0;
      taken.set(key, place + 1);
      return place;
    };
  }
}

/** Returns the number of rows of each token that has several rows in a request. */
async function rowsByToken(request: Rereadable): Promise<Map<string, number>> {
  return (await hasSeveralMerchants(request)) ? repeatedTokens(tokensOfRequest(request)) : new Map();
}

/** Returns the keys of the tokens that have several results. */
export async function repeatedResults(results: Rereadable): Promise<ReadonlySet<string>> {
  return new Set((await repeatedTokens(tokensOfResults(results))).keys());
}

/** Returns a key that equal results share: their token and all that the service says of the row. */
export function contentKey(row: ResultRow): string {
  return [tokenKey(row.token), ...RESULT_COLUMNS.slice(1).map((name) => row[name])].join('\0');
}

/** Returns the keys of the tokens whose results are not all equal, of those that are asked for. */
export async function unequalResults(
  results: Rereadable,
  isWanted: (key: string) => boolean,
): Promise<ReadonlySet<string>> {
  const first = new Map<string, string>();
  const found = new Set<string>();
  for await (const rows of readResults(results.open()))
    for (const row of rows) {
      const key = tokenKey(row.token);
      if (!isWanted(key)) continue;
      const content = contentKey(row);
      if ((first.get(key) ?? content) !== content) found.add(key);
      first.set(key, content);
    }
  return found;
}

/** Tells whether rows differ in their merchant. A token has one row for each merchant, so that it has only one otherwise. */
async function hasSeveralMerchants(request: Rereadable): Promise<boolean> {
  let first: string | undefined;
  for await (const rows of readRequest(request.open()))
    for (const row of rows) {
      const merchant = merchantOf(row);
      first ??= merchant;
      if (merchant !== first) return true;
    }
  return false;
}

/** Returns the tokens that occur several times, with the number of times. */
async function repeatedTokens(tokens: AsyncIterable<readonly string[]>): Promise<Map<string, number>> {
  const all = new TokenTable({ words: 3 });
  const repeated = new Map<string, number>();
  for await (const keys of tokens)
    for (const key of keys) if (all.setIfAbsent(key, 1) !== 0) repeated.set(key, (repeated.get(key) ?? 1) + 1);
  return repeated;
}

async function* tokensOfRequest(request: Rereadable): AsyncGenerator<readonly string[]> {
  for await (const rows of readRequest(request.open())) yield rows.map(({ token }) => tokenKey(token));
}

async function* tokensOfResults(results: Rereadable): AsyncGenerator<readonly string[]> {
  for await (const rows of readResults(results.open())) yield rows.map(({ token }) => tokenKey(token));
}

/** Leaves out the results of tokens that are not wanted. */
export function onlyResults(results: Rereadable, isWanted: (token: string) => boolean): Rereadable {
  return {
    async *open() {
      yield Buffer.from(csvRow(RESULT_COLUMNS));
      for await (const rows of readResults(results.open())) {
        const wanted = rows.filter(({ token }) => isWanted(token));
        yield Buffer.from(csvRows(wanted.map((row) => RESULT_COLUMNS.map((name) => row[name]))));
      }
    },
  };
}

async function countByToken(
  results: Rereadable,
  wanted: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const keys of tokensOfResults(results))
    for (const key of keys) if (wanted.has(key)) found.set(key, (found.get(key) ?? 0) + 1);
  return found;
}
