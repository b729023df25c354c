import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { uploadedRows } from '../run/part-source.ts';
import type { Part } from '../run/part.ts';
import { LEFT_OUT_ERRORS, type RunDirectory } from '../run/run-directory.ts';
import type { Rereadable } from './reconcile.ts';
import { type MatchOptions, ResultRows } from './result-rows.ts';
import { anyToken, hasOrderOfJob } from './unordered-tokens.ts';

/** The rows of a run that were left out although their result in the job of another run is an error. */
export interface LeftOutErrors {
  readonly rows: number;
  /** The file with these rows as the request has them; undefined if there are none. */
  readonly file: string | undefined;
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
  try {
    for (const part of run.record.parts.filter(isJoined)) {
      const source = await uploadedRows(part, run);
      if (source === undefined) return undefined;
      const isWrong = await errorsIn(run.resultsFile(part), source, hasOrderOfJob(part) ? undefined : anyToken);
      if (isWrong === undefined) return undefined;
      for await (const rows of readRequest(source.open())) {
        const wrong = rows.filter(({ token }) => isWrong(token));
        if (wrong.length === 0) continue;
        draft ??= await beginFile(target);
        count += wrong.length;
        await draft.write(wrong.map(({ line }) => `${line}\n`).join(''));
      }
    }
    if (draft === undefined) return { rows: 0, file: undefined };
    const { sha256 } = await draft.seal();
    if ((await hashIfReadable(target)) !== sha256) await draft.finish(overwrite);
    return { rows: count, file: target };
  } finally {
    await draft?.discard();
  }
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

/**
 * Returns a function that tells of the rows of a part, one after the other, whether their result is an error. All rows of a
 * token are taken for wrong if it is not known which one is. Returns undefined if the results are gone.
 */
async function errorsIn(
  file: string,
  part: Rereadable,
  isUnordered: MatchOptions['isUnordered'],
): Promise<((token: string) => boolean) | undefined> {
  if ((await hashIfReadable(file)) === undefined) return undefined;
  const results = await fileSource(file);
  const rowsOf = await ResultRows.match(part, results, { isUnordered });
  const placeOf = rowsOf.placing();
  const errors = new TokenTable({ words: 3 });
  for await (const rows of readResults(results.open()))
    for (const { token, result_code: code } of rows) {
      const key = keyAt(token, placeOf(token));
      if (explainResultCode(code).class === 'error') errors.setIfAbsent(key, 1);
    }
  const count = rowsOf.counting();
  return (token) => [count(token), undefined].some((place) => errors.get(keyAt(token, place)) !== 0);
}

function keyAt(token: string, place: number | undefined): string {
  return place === undefined ? tokenKey(token) : `${tokenKey(token)}\0${place}`;
}
