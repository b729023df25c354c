import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { type PartsOfJob, rowsIn } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import type { Rereadable } from './reconcile.ts';
import { onlyResults, ResultRows } from './result-rows.ts';
import { rowsOfJob, rowsOfParts } from './rows-of-job.ts';
import { PartRows } from './rows-of-request.ts';
import { anyToken, hasOrderOfJob } from './unordered-tokens.ts';

interface Matched {
  /** All rows of the job, or those that are known. */
  readonly rows: Rereadable;
  readonly results: Rereadable;
  readonly rowsOf: ResultRows;
}

/** The rows whose result in a job of another run is an error. */
export class JobErrors {
  /** The rows that this run has of the job. */
  readonly own: Rereadable;
  /** Whether the job has rows of which this machine knows nothing. */
  readonly isPartlyKnown: boolean;
  readonly #wrong: TokenTable;
  /** The number of errors of each token, where it is not known which of its rows have them. */
  readonly #unclear: Map<string, number>;

  private constructor(own: Rereadable, isPartlyKnown: boolean, wrong: TokenTable, unclear: Map<string, number>) {
    this.own = own;
    this.isPartlyKnown = isPartlyKnown;
    this.#wrong = wrong;
    this.#unclear = unclear;
  }

  /** Reads the results of a job. Returns undefined if they are gone, or the rows that the run has of it. */
  static async of(run: RunDirectory, parts: PartsOfJob): Promise<JobErrors | undefined> {
    const [part] = parts;
    const own = await rowsOfParts(run, parts);
    if (own === undefined || (await hashIfReadable(run.resultsFile(part))) === undefined) return undefined;
    const job = await rowsOfJob(run, part);
    const isPartlyKnown = job === undefined && rowsIn(parts) < (part.joined?.rows ?? 0);
    const matched = await (job ? matchWhole(run, parts, job) : matchOwn(run, parts, own));
    const { places, unclear } = await errorsByPlace(matched);
    const wrong = new TokenTable({ words: 3 });
    const placeOf = matched.rowsOf.counting();
    for await (const rows of readRequest(matched.rows.open()))
      for (const row of rows)
        if (places.get(keyAt(row.token, placeOf(row.token))) !== 0) wrong.setIfAbsent(rowKeyOf(row), 1);
    return new JobErrors(own, isPartlyKnown, wrong, unclear);
  }

  /** Tells whether the result of a row is certainly an error. */
  has(row: RequestRow): boolean {
    return this.#wrong.get(rowKeyOf(row)) !== 0;
  }

  /**
   * Takes an error for a row of a token that has errors of unknown rows. Must be called once for each row. Returns whether
   * an error was left; undefined for a row of any other token.
   */
  takeUnclear({ token }: RequestRow): boolean | undefined {
    const key = tokenKey(token);
    const left = this.#unclear.get(key);
    if (left !== undefined) this.#unclear.set(key, left - 1);
    return left === undefined ? undefined : left > 0;
  }
}

/** Matches the results of a job with all of its rows, whose order they have. */
async function matchWhole(run: RunDirectory, [part]: PartsOfJob, rows: Rereadable): Promise<Matched> {
  const results = await fileSource(run.resultsFile(part));
  return { rows, results, rowsOf: await ResultRows.match(rows, results) };
}

/** Matches the results of a job with the rows that this run has of it. The job may have other rows of their tokens. */
async function matchOwn(run: RunDirectory, parts: PartsOfJob, rows: Rereadable): Promise<Matched> {
  const [part] = parts;
  const tokens = await PartRows.of(rows, rowsIn(parts));
  const results = onlyResults(await fileSource(run.resultsFile(part)), (token) => tokens.has(token));
  // The order of rows in different parts of the same job is not known.
  const isUnordered = parts.length === 1 && hasOrderOfJob(part) ? undefined : anyToken;
  return { rows, results, rowsOf: await ResultRows.match(rows, results, { mayHaveMore: true, isUnordered }) };
}

/** Finds the places of the rows whose result is an error, and the number of errors of each token without such places. */
async function errorsByPlace({ results, rowsOf }: Matched) {
  const places = new TokenTable({ words: 3 });
  const unplaced = new Map<string, { errors: number; others: number }>();
  const placeOf = rowsOf.placing();
  for await (const rows of readResults(results.open()))
    for (const { token, result_code: code } of rows) {
      const isError = explainResultCode(code).class === 'error';
      const place = placeOf(token);
      if (place !== undefined) {
        if (isError) places.setIfAbsent(keyAt(token, place), 1);
        continue;
      }
      const key = tokenKey(token);
      const { errors, others } = unplaced.get(key) ?? { errors: 0, others: 0 };
      unplaced.set(key, isError ? { errors: errors + 1, others } : { errors, others: others + 1 });
    }
  const unclear = new Map<string, number>();
  for (const [key, { errors, others }] of unplaced) {
    const rows = rowsOf.rowsOf(key);
    // If a token has an error for each of its rows and no other result, all of them are wrong.
    if (others > 0 || errors < rows) unclear.set(key, errors);
    else for (let place = 0; place < rows; place += 1) places.setIfAbsent(keyAt(key, place), 1);
  }
  return { places, unclear };
}

function keyAt(token: string, place: number): string {
  return `${tokenKey(token)}\0${place}`;
}
