import { fileSource } from '../../client/transfer/source.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { rowKey, tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { contentKey, type MatchOptions, ResultRows } from '../results/result-rows.ts';

/** A file of results, and the requests that they are of; undefined if one of these is not readable. */
export interface ResultSource extends MatchOptions {
  readonly file: string;
  readonly requests: readonly string[] | undefined;
}

/** The key of a result. Two results with the same key belong to the same row. */
interface ResultKey {
  readonly key: string;
  /** Whether the key identifies a row of a request; otherwise it is the content of the result. */
  readonly isRow: boolean;
}

/** Returns the key of a result. Must be called for every result of a file, in order. */
type KeyOf = (row: ResultRow) => ResultKey;

/**
 * Decides which results count where requests of a cycle share rows: the results of a row in the last file that has it. Results
 * name no merchant. Where it is not known which row of a token a result belongs to, equal results are taken to be of the
 * same rows, so that those of the file with most of them count.
 */
export class SharedResults {
  readonly #keyed: readonly (() => KeyOf)[];
  /** The number of the file, starting at 1, whose results of a row count. */
  readonly #counting = new TokenTable({ words: 3 });

  private constructor(keyed: readonly (() => KeyOf)[]) {
    this.#keyed = keyed;
  }

  /** Reads the files of a cycle, oldest first. */
  static async of(sources: readonly ResultSource[]): Promise<SharedResults> {
    const shared = new SharedResults(await keysOf(sources));
    const most = new TokenTable({ words: 3 });
    for (const [index, { file }] of sources.entries()) {
      const keyOf = shared.#keyed[index]?.() ?? byContent;
      const own = new TokenTable({ words: 3 });
      for await (const rows of readResults((await fileSource(file)).open()))
        for (const row of rows) {
          const { key, isRow } = keyOf(row);
          const count = own.get(key) + 1;
          own.set(key, count);
          if (!isRow && count < most.get(key)) continue;
          most.set(key, count);
          shared.#counting.set(key, index + 1);
        }
    }
    return shared;
  }

  /** Returns a function that takes the results of a file one after the other, and tells whether they count. */
  counting(index: number): (row: ResultRow) => boolean {
    const keyOf = this.#keyed[index]?.();
    return (row) => keyOf !== undefined && this.#counting.get(keyOf(row).key) === index + 1;
  }
}

async function keysOf(sources: readonly ResultSource[]): Promise<readonly (() => KeyOf)[]> {
  // Without a request, any token may have rows for several merchants.
  if (sources.some(({ requests }) => requests === undefined)) return sources.map(() => () => byContent);
  const several = await withSeveralMerchants(new Set(sources.flatMap(({ requests = [] }) => requests)));
  if (several.size === 0) return sources.map(() => () => byToken);
  const placed = await Promise.all(sources.map((source) => PlacedResults.of(source, several)));
  const unclear = new Set(placed.flatMap(({ unplaced }) => [...unplaced]));
  return placed.map((results) => () => {
    const merchantOfNext = results.placing();
    return (row) => {
      const key = tokenKey(row.token);
      if (!several.has(key)) return { key, isRow: true };
      if (unclear.has(key)) return byContent(row);
      return { key: rowKey(row.token, merchantOfNext(row.token) ?? ''), isRow: true };
    };
  });
}

function byToken({ token }: ResultRow): ResultKey {
  return { key: tokenKey(token), isRow: true };
}

function byContent(row: ResultRow): ResultKey {
  return { key: contentKey(row), isRow: false };
}

/** Returns the tokens that have rows for several merchants in the requests together. */
export async function withSeveralMerchants(requests: Iterable<string>): Promise<ReadonlySet<string>> {
  const numbers = new Map<string, number>();
  const first = new TokenTable({ words: 3 });
  const several = new Set<string>();
  for (const request of requests)
    for await (const rows of readRequest((await fileSource(request)).open()))
      for (const row of rows) {
        const merchant = merchantOf(row);
        const number = numbers.get(merchant) ?? numbers.size + 1;
        numbers.set(merchant, number);
        const earlier = first.setIfAbsent(tokenKey(row.token), number);
        if (earlier !== 0 && earlier !== number) several.add(tokenKey(row.token));
      }
  return several;
}

/** The results of one request or of several, for tokens with several merchants. */
class PlacedResults {
  /** The tokens for which it is not known to which row each result belongs. */
  readonly unplaced: ReadonlySet<string>;
  readonly #placing: ResultRows['placing'];
  readonly #merchants: ReadonlyMap<string, readonly string[]>;

  private constructor(
    placing: ResultRows['placing'],
    merchants: ReadonlyMap<string, readonly string[]>,
    unplaced: ReadonlySet<string>,
  ) {
    this.#placing = placing;
    this.#merchants = merchants;
    this.unplaced = unplaced;
  }

  static async of(
    { file, requests = [], ...options }: ResultSource,
    tokens: ReadonlySet<string>,
  ): Promise<PlacedResults> {
    const results = await fileSource(file);
    const merchants = await merchantsIn(requests, tokens);
    const [only] = requests;
    const placing =
      only !== undefined && requests.length === 1
        ? await placingIn(only, results, options)
        : await placingOfOnly(merchants, results);
    const unplaced = new Set<string>();
    const placed = new PlacedResults(placing, merchants, unplaced);
    const merchantOfNext = placed.placing();
    for await (const rows of readResults(results.open()))
      for (const { token } of rows) {
        const key = tokenKey(token);
        if (tokens.has(key) && merchantOfNext(token) === undefined) unplaced.add(key);
      }
    return placed;
  }

  /** Returns a function that returns the merchant of each result, one after the other; undefined if it is not known. */
  placing(): (token: string) => string | undefined {
    const placeOf = this.#placing();
    return (token) => this.#merchants.get(tokenKey(token))?.[placeOf(token) ?? -1];
  }
}

/** Returns the merchants of some tokens in the order of their rows. Requests can share rows, which count once. */
async function merchantsIn(
  requests: readonly string[],
  tokens: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const merchants = new Map<string, string[]>();
  for (const request of requests)
    for await (const rows of readRequest((await fileSource(request)).open()))
      for (const row of rows) {
        const key = tokenKey(row.token);
        if (!tokens.has(key)) continue;
        const known = merchants.get(key) ?? [];
        if (!known.includes(merchantOf(row))) merchants.set(key, [...known, merchantOf(row)]);
      }
  return merchants;
}

/**
 * Places the result of a token that has one merchant in the requests. Where the file has more of its results, some belong to
 * a row of another request, and none is placed.
 */
async function placingOfOnly(
  merchants: ReadonlyMap<string, readonly string[]>,
  results: Rereadable,
): Promise<ResultRows['placing']> {
  const counts = new Map<string, number>();
  for await (const rows of readResults(results.open()))
    for (const key of rows.map(({ token }) => tokenKey(token)))
      if (merchants.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isKnown = (key: string): boolean => merchants.get(key)?.length === 1 && counts.get(key) === 1;
  return () => (token) => (isKnown(tokenKey(token)) ? 0 : undefined);
}

async function placingIn(request: string, results: Rereadable, options: MatchOptions): Promise<ResultRows['placing']> {
  const rows = await ResultRows.match(await fileSource(request), results, options);
  return () => rows.placing();
}
