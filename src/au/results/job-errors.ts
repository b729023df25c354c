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

/** Whether the result of a row is an error, or may be the error of another row of its token. */
type RowKind = 'error' | 'unclear' | 'right';

/** The rows whose result in a job of another run is an error. */
export class JobErrors {
  /** The rows that this run has of the job. */
  readonly own: Rereadable;
  /** Whether the job has rows of which this machine knows nothing. */
  readonly isPartlyKnown: boolean;
  /** How many of the rows of kind `unclear` have an error as their result, at most. */
  readonly unclearErrors: number;
  readonly #wrong: TokenTable;
  readonly #unclear: ReadonlySet<string>;

  private constructor(
    known: Pick<JobErrors, 'own' | 'isPartlyKnown' | 'unclearErrors'>,
    wrong: TokenTable,
    unclear: Iterable<string>,
  ) {
    this.own = known.own;
    this.isPartlyKnown = known.isPartlyKnown;
    this.unclearErrors = known.unclearErrors;
    this.#wrong = wrong;
    this.#unclear = new Set(unclear);
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
    const unclearErrors = await countErrors(own, unclear);
    return new JobErrors({ own, isPartlyKnown, unclearErrors }, wrong, unclear.keys());
  }

  /** Returns `error` only for a row whose own result is certainly one. */
  kindOf(row: RequestRow): RowKind {
    if (this.#wrong.get(rowKeyOf(row)) !== 0) return 'error';
    return this.#unclear.has(tokenKey(row.token)) ? 'unclear' : 'right';
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
    if (errors === 0) continue;
    const rows = rowsOf.rowsOf(key);
    // If a token has an error for each of its rows and no other result, all of them are wrong.
    if (others > 0 || errors < rows) unclear.set(key, errors);
    else for (let place = 0; place < rows; place += 1) places.setIfAbsent(keyAt(key, place), 1);
  }
  return { places, unclear };
}

/** Counts the rows that can have an error. `errors` are the numbers of errors by token, and a row has one at most. */
async function countErrors(own: Rereadable, errors: ReadonlyMap<string, number>): Promise<number> {
  if (errors.size === 0) return 0;
  const left = new Map(errors);
  let count = 0;
  for await (const rows of readRequest(own.open()))
    for (const { token } of rows) {
      const key = tokenKey(token);
      const ofToken = left.get(key) ?? 0;
      if (ofToken === 0) continue;
      left.set(key, ofToken - 1);
      count += 1;
    }
  return count;
}

function keyAt(token: string, place: number): string {
  return `${tokenKey(token)}\0${place}`;
}
