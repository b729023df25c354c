import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import type { Part } from '../run/part.ts';
import { partsByJob, type PartsOfJob, rowsIn } from '../run/record.ts';
import { LEFT_OUT_ERRORS, type RunDirectory } from '../run/run-directory.ts';
import type { Rereadable } from './reconcile.ts';
import { rowsOfParts } from './rows-of-job.ts';
import { PartRows } from './rows-of-request.ts';
import { TokenRows } from './token-rows.ts';

/** The rows of a run that were left out although their result in the job of another run is an error. */
export interface LeftOutErrors {
  /** The number of rows in the file. */
  readonly rows: number;
  /** The file with these rows as the request has them; undefined if there are none. */
  readonly file: string | undefined;
  /** Rows that are not in the file, because an error of their token may be that of another row. */
  readonly unclear: UnclearErrors;
}

export interface UnclearErrors {
  readonly rows: number;
  /** How many of the rows have an error as their result, at most. */
  readonly errors: number;
  /** A part of each job that has them. */
  readonly parts: readonly Part[];
}

/**
 * Writes the left-out rows whose result is an error to `target`, or into the run's directory if another file has that name
 * or it cannot be written. Returns undefined if the results of these rows cannot be read.
 */
export async function writeLeftOutErrors(run: RunDirectory, target: string): Promise<LeftOutErrors | undefined> {
  try {
    return await writeTo(run, target, false);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    if (!isSvcError(error, 'usage', 'local')) throw error;
    return writeTo(run, path.join(run.path, LEFT_OUT_ERRORS), true);
  }
}

async function writeTo(run: RunDirectory, target: string, overwrite: boolean): Promise<LeftOutErrors | undefined> {
  let draft: Draft | undefined;
  let count = 0;
  const unclear = { rows: 0, errors: 0, parts: new Set<Part>() };
  try {
    for (const parts of partsByJob(run.record.parts.filter(isJoined))) {
      const own = await rowsOfParts(run, parts);
      const errors = own && (await errorsOf(run, parts, own));
      if (own === undefined || errors === undefined) return undefined;
      if (errors.size === 0) continue;
      const tokens = await TokenRows.of(own);
      const isWhole = parts[0].joined?.tokens_once === true || rowsIn(parts) === parts[0].joined?.rows;
      const left = new Map([...errors].map(([key, found]) => [key, found.errors]));
      for await (const rows of readRequest(own.open())) {
        const wrong: string[] = [];
        for (const row of rows) {
          const key = tokenKey(row.token);
          const found = errors.get(key);
          if (found === undefined) continue;
          const isOfAll = found.others === 0 && found.errors >= tokens.rowsOf(row.token);
          if (isOfAll && (isWhole || merchantOf(row) === '')) wrong.push(`${row.line}\n`);
          else {
            unclear.rows += 1;
            unclear.parts.add(parts[0]);
            // A row has one error at most.
            const ofToken = left.get(key) ?? 0;
            if (ofToken > 0) unclear.errors += 1;
            left.set(key, ofToken - 1);
          }
        }
        if (wrong.length === 0) continue;
        draft ??= await beginFile(target);
        count += wrong.length;
        await draft.write(wrong.join(''));
      }
    }
    const found = { rows: count, unclear: { ...unclear, parts: [...unclear.parts] } };
    if (draft === undefined) return { ...found, file: undefined };
    const { sha256 } = await draft.seal();
    if ((await hashIfReadable(target)) !== sha256) await draft.finish(overwrite);
    return { ...found, file: target };
  } finally {
    await draft?.discard();
  }
}

interface ResultsOfToken {
  readonly errors: number;
  readonly others: number;
}

/**
 * Returns the results in a job of each token of some rows that has an error among them; undefined if the results are gone. Job
 * and token name a row, but in jobs of earlier builds, which may have a token for several merchants.
 */
async function errorsOf(
  run: RunDirectory,
  [part, ...others]: PartsOfJob,
  own: Rereadable,
): Promise<ReadonlyMap<string, ResultsOfToken> | undefined> {
  const file = run.resultsFile(part);
  if ((await hashIfReadable(file)) === undefined) return undefined;
  const requested = await PartRows.of([own], rowsIn([part, ...others]));
  const found = new Map<string, ResultsOfToken>();
  const source = await fileSource(file);
  for await (const rows of readResults(source.open()))
    for (const { token, result_code: code } of rows)
      if (explainResultCode(code).class === 'error' && requested.has(token))
        found.set(tokenKey(token), { errors: 0, others: 0 });
  if (found.size === 0) return found;
  for await (const rows of readResults(source.open()))
    for (const { token, result_code: code } of rows) {
      const known = found.get(tokenKey(token));
      if (known === undefined) continue;
      const isError = explainResultCode(code).class === 'error';
      found.set(tokenKey(token), {
        errors: known.errors + (isError ? 1 : 0),
        others: known.others + (isError ? 0 : 1),
      });
    }
  return found;
}

async function beginFile(target: string): Promise<Draft> {
  const draft = await Draft.begin(target);
  await draft.write(`${REQUEST_HEADER}\n`);
  return draft;
}

/** Tells whether the results of rows that another run sent are on this machine. */
function isJoined({ joined, state }: Part): boolean {
  return joined !== undefined && state === 'downloaded';
}
