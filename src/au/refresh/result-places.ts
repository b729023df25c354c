import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import type { Rereadable } from '../results/reconcile.ts';
import { onlyResults, ResultRows } from '../results/result-rows.ts';
import { anyToken } from '../results/unordered-tokens.ts';
import type { CycleSource } from './cycle-results.ts';

/** The row of a request that a result belongs to. */
export interface RowPlace {
  /** The place of the request in the cycle. */
  readonly request: number;
  /** The place of the row among those of its token in the request, counted from 0. */
  readonly place: number;
}

/** Returns the row of each result of a file, one after the other; undefined if it is not known. */
export type RowOf = (token: string) => RowPlace | undefined;

/** The rows of the results of a file. */
export interface ResultPlaces {
  readonly rowOf: RowOf;
  /** Whether a token may have results of rows that the requests do not have. */
  readonly hasMore: boolean;
}

/** Finds the rows of a file of results in its requests, which are given in the order of the places of the source. */
export async function resultPlaces(
  { file, places, mayHaveMore, isUnordered, isOrdered = false, unordered }: CycleSource,
  paths: readonly string[],
): Promise<ResultPlaces> {
  const results = await fileSource(file);
  const requests = await Promise.all(paths.map((path) => fileSource(path)));
  const [only] = requests;
  if (only !== undefined && requests.length === 1) {
    const rows = await ResultRows.match(only, results, { mayHaveMore, isUnordered });
    const placeOf = rows.placing();
    return { rowOf: (token) => placed(places[0], placeOf(token)), hasMore: rows.hasMore };
  }
  const joined = await JoinedRequests.of(requests);
  const isUnorderedAt = (index: number): boolean => unordered?.has(places[index] ?? -1) === true;
  const ofOne = await joined.matchEach(results, isUnorderedAt);
  const ofSeveral = isOrdered ? await joined.match(results) : undefined;
  const rowOf: RowOf = (token) => {
    const { request, place } = (joined.isSplit(token) ? ofSeveral : ofOne)?.(token) ?? {};
    return placed(places[request ?? -1], place);
  };
  return { rowOf, hasMore: !isOrdered };
}

function placed(request: number | undefined, place: number | undefined): RowPlace | undefined {
  return request === undefined || place === undefined ? undefined : { request, place };
}

/**
 * Several requests whose results are in one file. It has the result of a row where the last request with the row has it, so
 * that the rows of a token are split if the last request with the token does not have all of them.
 */
class JoinedRequests {
  readonly #requests: readonly Rereadable[];
  /** The number of the last request, starting at 1, by token and by row. */
  readonly #ofToken = new TokenTable({ words: 3 });
  readonly #ofRow = new TokenTable({ words: 3 });
  /** The rows of each token whose rows are split, in the order of the joined requests. */
  readonly #split = new Map<string, RowPlace[]>();

  private constructor(requests: readonly Rereadable[]) {
    this.#requests = requests;
  }

  static async of(requests: readonly Rereadable[]): Promise<JoinedRequests> {
    const joined = new JoinedRequests(requests);
    for (const [index, request] of requests.entries())
      for await (const rows of readRequest(request.open()))
        for (const row of rows) {
          joined.#ofToken.set(tokenKey(row.token), index + 1);
          joined.#ofRow.set(rowKeyOf(row), index + 1);
        }
    await joined.#findSplit();
    return joined;
  }

  isSplit(token: string): boolean {
    return this.#split.has(tokenKey(token));
  }

  /** Matches the results of each token whose rows are not split with the last request that has the token. */
  async matchEach(results: Rereadable, isUnorderedAt: (request: number) => boolean): Promise<RowOf> {
    const placing: ((token: string) => number | undefined)[] = [];
    for (const [index, request] of this.#requests.entries()) {
      const own = onlyResults(results, (token) => !this.isSplit(token) && this.#lastOf(token) === index);
      const isUnordered = isUnorderedAt(index) ? anyToken : undefined;
      placing.push((await ResultRows.match(request, own, { mayHaveMore: true, isUnordered })).placing());
    }
    return (token) => {
      const request = this.#lastOf(token);
      return placed(request, placing[request]?.(token));
    };
  }

  /** Matches results with the rows of all requests, whose order they have. */
  async match(results: Rereadable): Promise<RowOf> {
    const placeOf = (await ResultRows.match({ open: () => this.#rows() }, results)).placing();
    return (token) => this.#split.get(tokenKey(token))?.[placeOf(token) ?? -1];
  }

  #lastOf(token: string): number {
    return this.#ofToken.get(tokenKey(token)) - 1;
  }

  async #findSplit(): Promise<void> {
    for (const [index, request] of this.#requests.entries())
      for await (const rows of readRequest(request.open()))
        for (const row of rows)
          if (this.#ofRow.get(rowKeyOf(row)) === index + 1 && this.#lastOf(row.token) !== index)
            this.#split.set(tokenKey(row.token), []);
    if (this.#split.size === 0) return;
    for (const [index, request] of this.#requests.entries()) {
      const counts = new Map<string, number>();
      for await (const rows of readRequest(request.open()))
        for (const row of rows) {
          const key = tokenKey(row.token);
          const known = this.#split.get(key);
          if (known === undefined) continue;
          const place = counts.get(key) ?? 0;
          counts.set(key, place + 1);
          if (this.#ofRow.get(rowKeyOf(row)) === index + 1) known.push({ request: index, place });
        }
    }
  }

  /** The rows of all requests, each once, as a request file. */
  async *#rows(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${REQUEST_HEADER}\n`);
    for (const [index, request] of this.#requests.entries())
      for await (const rows of readRequest(request.open())) {
        const own = rows.filter((row) => this.#ofRow.get(rowKeyOf(row)) === index + 1);
        yield Buffer.from(own.map(({ line }) => `${line}\n`).join(''));
      }
  }
}
