import { isSvcError } from '../../base/errors.ts';
import { Draft, type DraftWriter } from '../../base/files/draft.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { openSpool } from '../request/spool-output.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import type { Context } from '../../cli/app/command.ts';
import type { FileJob } from './file-results.ts';
import type { JobResults } from './job-results.ts';
import { PartRows } from './rows-of-request.ts';
import { TokenRows } from './token-rows.ts';

/** A job of another file that has rows of this one, with its results. */
export type JoinedJob = FileJob & JobResults;

/** The rows of a file that were left out although their result in the job of another file is an error. */
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
  /** The jobs that have them. */
  readonly claims: readonly ClaimEntry[];
}

/**
 * Writes the left-out rows whose result is an error to `target`, or into a private file if another file has that name or it
 * cannot be written. Returns undefined if the results of these rows cannot be read.
 */
export async function writeLeftOutErrors(
  context: Context,
  jobs: readonly JoinedJob[],
  target: string,
): Promise<LeftOutErrors | undefined> {
  try {
    return await writeTo(context, jobs, target, false);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    if (!isSvcError(error, 'usage', 'local')) throw error;
    return writeTo(context, jobs, await openSpool(context), true);
  }
}

async function writeTo(
  { system }: Context,
  jobs: readonly JoinedJob[],
  target: string,
  overwrite: boolean,
): Promise<LeftOutErrors | undefined> {
  let draft: Draft | undefined;
  let count = 0;
  const unclear = { rows: 0, errors: 0, claims: new Set<ClaimEntry>() };
  try {
    for (const job of jobs) {
      const { claim } = job;
      const own = job.rows.source;
      const errors = await errorsOf(job);
      if (errors === undefined) return undefined;
      if (errors.size === 0) continue;
      const tokens = await TokenRows.of(own);
      const isWhole = claim.keys === 2 || job.rows.count === claim.rows;
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
            unclear.claims.add(claim);
            // A row has one error at most.
            const ofToken = left.get(key) ?? 0;
            if (ofToken > 0) unclear.errors += 1;
            left.set(key, ofToken - 1);
          }
        }
        if (wrong.length === 0) continue;
        draft ??= await beginFile(target, system);
        count += wrong.length;
        await draft.write(wrong.join(''));
      }
    }
    const found = { rows: count, unclear: { ...unclear, claims: [...unclear.claims] } };
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
async function errorsOf({ file, rows }: JoinedJob): Promise<ReadonlyMap<string, ResultsOfToken> | undefined> {
  if ((await hashIfReadable(file)) === undefined) return undefined;
  const requested = await PartRows.of([rows.source], rows.count);
  const found = new Map<string, ResultsOfToken>();
  const source = await fileSource(file);
  for await (const batch of readResults(source.open()))
    for (const { token, result_code: code } of batch)
      if (explainResultCode(code).class === 'error' && requested.has(token))
        found.set(tokenKey(token), { errors: 0, others: 0 });
  if (found.size === 0) return found;
  for await (const batch of readResults(source.open()))
    for (const { token, result_code: code } of batch) {
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

async function beginFile(target: string, writer: DraftWriter): Promise<Draft> {
  const draft = await Draft.begin(target, writer);
  await draft.write(`${REQUEST_HEADER}\n`);
  return draft;
}
