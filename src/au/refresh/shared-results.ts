import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { rowKey, tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import { ResultRows } from '../results/result-rows.ts';

/** A file of results, and the request that they are of, if that is readable. */
export interface ResultSource {
  readonly file: string;
  readonly request: string | undefined;
}

/** Returns what the results of a file are known by, one after the other. Two with the same key are of the same row. */
type KeyOf = (row: ResultRow) => string;

/**
 * Decides which results count where requests of a cycle share rows: of the results of a row, those in the last file. Results
 * name no merchant. Where it is not known which row of a token a result belongs to, equal results are taken to be of the
 * same row.
 */
export class SharedResults {
  readonly #keyed: readonly (() => KeyOf)[];
  /** The number of the last file, starting at 1, with results of a row. */
  readonly #last = new TokenTable({ words: 3 });

  private constructor(keyed: readonly (() => KeyOf)[]) {
    this.#keyed = keyed;
  }

  /** Reads the files of a cycle, oldest first. */
  static async of(sources: readonly ResultSource[]): Promise<SharedResults> {
    const shared = new SharedResults(await keysOf(sources));
    for (const [index, { file }] of sources.entries()) {
      const keyOf = shared.#keyed[index]?.();
      for await (const rows of readResults((await fileSource(file)).open()))
        for (const row of rows) if (keyOf) shared.#last.set(keyOf(row), index + 1);
    }
    return shared;
  }

  /** Returns a function that takes the results of a file one after the other, and tells whether they count. */
  counting(index: number): (row: ResultRow) => boolean {
    const keyOf = this.#keyed[index]?.();
    return (row) => keyOf !== undefined && this.#last.get(keyOf(row)) === index + 1;
  }
}

async function keysOf(sources: readonly ResultSource[]): Promise<readonly (() => KeyOf)[]> {
  const requests = sources.flatMap(({ request }) => request ?? []);
  // Without a request, any token may have rows for several merchants.
  if (requests.length < sources.length) return sources.map(() => () => contentKey);
  const several = await withSeveralMerchants(requests);
  if (several.size === 0)
    return sources.map(
      () =>
        () =>
        ({ token }) =>
          tokenKey(token),
    );
  const placed = await Promise.all(sources.map((source) => PlacedResults.of(source, several)));
  const unclear = new Set(placed.flatMap(({ unplaced }) => [...unplaced]));
  return placed.map((results) => () => {
    const merchantOfNext = results.placing();
    return (row) => {
      const key = tokenKey(row.token);
      if (!several.has(key)) return key;
      return unclear.has(key) ? contentKey(row) : rowKey(row.token, merchantOfNext(row.token) ?? '');
    };
  });
}

function contentKey(row: ResultRow): string {
  return [tokenKey(row.token), ...RESULT_COLUMNS.slice(1).map((name) => row[name])].join('\0');
}

/** Returns the tokens that have rows for several merchants in the requests together. */
async function withSeveralMerchants(requests: readonly string[]): Promise<ReadonlySet<string>> {
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

/** The results of a request, for tokens with several merchants. */
class PlacedResults {
  /** The tokens with results of which it is not known to which rows they belong. */
  readonly unplaced: ReadonlySet<string>;
  readonly #rows: ResultRows;
  readonly #merchants: ReadonlyMap<string, readonly string[]>;

  private constructor(rows: ResultRows, merchants: ReadonlyMap<string, readonly string[]>, unplaced: Set<string>) {
    this.#rows = rows;
    this.#merchants = merchants;
    this.unplaced = unplaced;
  }

  static async of({ file, request = '' }: ResultSource, tokens: ReadonlySet<string>): Promise<PlacedResults> {
    const [requested, results] = [await fileSource(request), await fileSource(file)];
    const merchants = new Map<string, string[]>();
    for await (const rows of readRequest(requested.open()))
      for (const row of rows) {
        const key = tokenKey(row.token);
        if (tokens.has(key)) merchants.set(key, [...(merchants.get(key) ?? []), merchantOf(row)]);
      }
    const unplaced = new Set<string>();
    const placed = new PlacedResults(await ResultRows.match(requested, results), merchants, unplaced);
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
    const placeOf = this.#rows.placing();
    return (token) => this.#merchants.get(tokenKey(token))?.[placeOf(token) ?? -1];
  }
}
