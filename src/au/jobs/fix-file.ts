// Writes the fix file: the rows of a file that were not sent because another job has them, and whose result is an error.

import fs from 'node:fs';
import path from 'node:path';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { countText } from '../../cli/output/number.ts';
import { senderName } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { nextCycle } from '../ledger/cycle-names.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import type { ResultsFile } from '../results/merge.ts';
import { type FileJob, type FileResults, isOfFile } from './file-jobs.ts';
import { isSvcError } from '../../base/errors.ts';
import { Draft, type DraftWriter } from '../../base/files/draft.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { merchantOf, readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { openSpool } from '../request/spool.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import type { JobResults } from '../results/job-results.ts';
import { PartRows, TokenRows } from '../results/rows-of-request.ts';

/**
 * Writes the left-out rows of a file whose result in the job of another file is an error, and shows the command that sends
 * only these rows again, in another cycle. Returns the largest possible number of left-out rows with an error.
 */
export async function deliverFixFile(context: Context, results: FileResults): Promise<number> {
  const { fileJobs } = results;
  const { name } = fileJobs.file;
  const joined = results.jobs.filter((job) => !isOfFile(job, fileJobs.file));
  const target = fixFileOf(name);
  const leftOut = await writeLeftOutErrors(context, joined, target);
  if (leftOut === undefined) return 0;
  const { rows, file, unclear } = leftOut;
  const errors = rows + unclear.errors;
  if (unclear.errors > 0) context.notices.warn(unclearText(unclear, name, target, results));
  if (file === undefined) {
    if (fs.existsSync(target)) context.notices.warn(oldFileText(shownPath(target), name));
    return errors;
  }
  if (file !== target) {
    context.notices.warn(
      `${shownPath(target)} is another file or cannot be written, and was left as it is: move it away and run the same command again, which writes ${countText(rows, 'row')} with an error there`,
    );
    return errors;
  }
  const shown = shownPath(file);
  context.notices.note(
    `${countText(rows, 'row')} of ${name} ${rows === 1 ? 'was' : 'were'} left out although the result is an error: ${shown} has them as they are in ${name} now`,
  );
  await noteFixCommand(context, { ...fileJobs, rows: countText(rows, 'row'), words: ['au', 'submit', shown] });
  return errors;
}

interface RowsToFix {
  /** The number of the rows, as text. */
  readonly rows: string;
  /** The command that sends the file with these rows, without its cycle. */
  readonly words: readonly string[];
  /** The file whose rows were sent in the cycle. */
  readonly file: { readonly name: string };
  /** Whether the operator named the cycle. */
  readonly isNamed: boolean;
  readonly cycle: { readonly name: string; readonly tenant: string };
}

/** Shows the command that sends rows again in another cycle, once they are corrected. */
export async function noteFixCommand(context: Context, { rows, words, ...fixed }: RowsToFix): Promise<void> {
  const cycle = await readIfPossible(context, (limited) => unusedCycle(limited, fixed));
  if (typeof cycle !== 'string')
    return noteNext(
      context,
      `once they are corrected, submit that file in a cycle with an unused name (${rows}, billed again)`,
      [...words, '--cycle', '<name>'],
    );
  // A later fix cycle runs without --pay-again: an earlier fix cycle may have these rows, and the comparison finds it.
  const isFirst = fixed.isNamed ? cycle === `${fixed.cycle.name}.2` : cycle.endsWith('-fix');
  noteNext(context, `once they are corrected, submit that file (${rows}, billed again)`, [
    ...words,
    '--cycle',
    cycle,
    ...(isFirst ? ['--pay-again'] : []),
  ]);
}

/** Explains that rows were not written, because the error of their token may belong to another row. */
function unclearText({ rows, claims }: UnclearErrors, name: string, target: string, results: ResultsFile): string {
  const [their, were] = rows === 1 ? ['its', 'was'] : ['their', 'were'];
  const tokens = rows === 1 ? 'its token' : 'their tokens';
  const where = `. ${shownPath(results.file)} has all results of ${tokens}`;
  return `${countText(rows, 'row')} of ${name} may have an error as ${their} result, and ${were} not written to ${shownPath(target)}: ${jobsText(claims)} may have ${tokens} for several merchants, and results name no merchant${where}`;
}

/** Explains that the fix file of an earlier command was left, and that none of its rows is known to need a fix. */
function oldFileText(file: string, name: string): string {
  return `${file} was here before and was not changed: no left-out row of ${name} is known to have an error as its result, and each row that is submitted again is billed again`;
}

function jobsText(claims: readonly ClaimEntry[]): string {
  const jobs = claims.map((claim) => `${claim.job} (sent by ${senderName(claim)})`);
  return `${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.join(', ')}`;
}

async function unusedCycle(
  context: Context,
  { file, isNamed, cycle }: Pick<RowsToFix, 'file' | 'isNamed' | 'cycle'>,
): Promise<string> {
  const ledger = await new CommandLedger(context, { onlyReads: true }).open(cycle.tenant);
  return nextCycle(ledger, { cycle: isNamed ? cycle.name : undefined, file: path.basename(file.name) });
}

/** Returns the path of the fix file: beside the request file, or in the current directory for standard input. */
function fixFileOf(name: string): string {
  return path.resolve(name === STANDARD_INPUT ? 'fix.csv' : name.replace(/(\.csv)?$/i, '.fix.csv'));
}

/** A job of another file that has rows of this file, with its results. */
type JoinedJob = FileJob & JobResults;

/** The left-out rows whose result in the job of another file is an error. */
interface LeftOutErrors {
  /** The number of rows in the fix file. */
  readonly rows: number;
  /** The fix file; undefined without such rows. */
  readonly file: string | undefined;
  /** Rows that were not written, because the error of their token may belong to another row. */
  readonly unclear: UnclearErrors;
}

interface UnclearErrors {
  readonly rows: number;
  /** The largest possible number of these rows with an error. */
  readonly errors: number;
  /** The claims of the jobs with these rows. */
  readonly claims: readonly ClaimEntry[];
}

/**
 * Writes the left-out rows with an error to `target`, or to a private file if `target` is another file or cannot be written.
 * Returns undefined if the results of these rows are gone.
 */
async function writeLeftOutErrors(
  context: Context,
  jobs: readonly JoinedJob[],
  target: string,
): Promise<LeftOutErrors | undefined> {
  try {
    return await writeErrorRows(context, jobs, target, false);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    if (!isSvcError(error, 'usage', 'local')) throw error;
    return writeErrorRows(context, jobs, await openSpool(context), true);
  }
}

async function writeErrorRows(
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
      const ownRows = job.rows.source;
      const errors = await readErrors(job);
      if (errors === undefined) return undefined;
      if (errors.size === 0) continue;
      const tokens = await TokenRows.of(ownRows);
      const isWhole = claim.keys === 2 || job.rows.count === claim.rows;
      const errorsLeft = new Map([...errors].map(([key, ofToken]) => [key, ofToken.errors]));
      for await (const rows of readRequest(ownRows.open())) {
        const wrong: string[] = [];
        for (const row of rows) {
          const key = tokenKey(row.token);
          const ofToken = errors.get(key);
          if (ofToken === undefined) continue;
          const isOfAll = ofToken.others === 0 && ofToken.errors >= tokens.countRows(row.token);
          if (isOfAll && (isWhole || merchantOf(row) === '')) wrong.push(`${row.line}\n`);
          else {
            unclear.rows += 1;
            unclear.claims.add(claim);
            // A row has at most one error, so the errors of a token are shared out among its rows.
            const left = errorsLeft.get(key) ?? 0;
            if (left > 0) unclear.errors += 1;
            errorsLeft.set(key, left - 1);
          }
        }
        if (wrong.length === 0) continue;
        draft ??= await beginFixFile(target, system);
        count += wrong.length;
        await draft.write(wrong.join(''));
      }
    }
    const counts = { rows: count, unclear: { ...unclear, claims: [...unclear.claims] } };
    if (draft === undefined) return { ...counts, file: undefined };
    const { sha256 } = await draft.seal();
    if ((await hashIfReadable(target)) !== sha256) await draft.finish(overwrite);
    return { ...counts, file: target };
  } finally {
    await draft?.discard();
  }
}

/** How many results of a token are errors, and how many are not. */
interface ResultsOfToken {
  readonly errors: number;
  readonly others: number;
}

/**
 * Counts the results of each token of the job's rows that has an error; undefined if the results are gone. A token may have
 * several results only in jobs of earlier builds, which could have a token for several merchants.
 */
async function readErrors({ file, rows }: JoinedJob): Promise<ReadonlyMap<string, ResultsOfToken> | undefined> {
  if ((await hashIfReadable(file)) === undefined) return undefined;
  const requested = await PartRows.of(rows.source, rows.count);
  const byToken = new Map<string, ResultsOfToken>();
  const source = await fileSource(file);
  for await (const batch of readResults(source.open()))
    for (const { token, result_code: code } of batch)
      if (explainResultCode(code).class === 'error' && requested.has(token))
        byToken.set(tokenKey(token), { errors: 0, others: 0 });
  if (byToken.size === 0) return byToken;
  for await (const batch of readResults(source.open()))
    for (const { token, result_code: code } of batch) {
      const before = byToken.get(tokenKey(token));
      if (before === undefined) continue;
      const isError = explainResultCode(code).class === 'error';
      byToken.set(tokenKey(token), {
        errors: before.errors + (isError ? 1 : 0),
        others: before.others + (isError ? 0 : 1),
      });
    }
  return byToken;
}

async function beginFixFile(target: string, writer: DraftWriter): Promise<Draft> {
  const draft = await Draft.begin(target, writer);
  await draft.write(`${REQUEST_HEADER}\n`);
  return draft;
}
