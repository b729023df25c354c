// Writes the fix file: the rows of a file that were not sent because another job has them, and whose result is an error.

import fs from 'node:fs';
import path from 'node:path';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { countText } from '../../cli/output/number.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { nextCycle } from '../ledger/cycle-names.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import { type FileJob, type FileResults, isOfFile } from './file-jobs.ts';
import { isSvcError } from '../../base/errors.ts';
import { Draft, type DraftWriter } from '../../base/files/draft.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { openSpool } from '../request/spool.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import type { JobResults } from '../results/job-results.ts';

/**
 * Writes the left-out rows of a file whose result in the job of another file is an error, and shows the command that sends
 * only these rows again, in another cycle. Returns the number of left-out rows with an error.
 */
export async function deliverFixFile(context: Context, results: FileResults): Promise<number> {
  const { fileJobs } = results;
  const { name } = fileJobs.file;
  const joined = results.jobs.filter((job) => !isOfFile(job, fileJobs.file));
  const target = fixFileOf(name);
  const leftOut = await writeLeftOutErrors(context, joined, target);
  if (leftOut === undefined) return 0;
  const { rows, file } = leftOut;
  if (file === undefined) {
    if (fs.existsSync(target)) context.notices.warn(oldFileText(shownPath(target), name));
    return rows;
  }
  if (file !== target) {
    context.notices.warn(
      `${shownPath(target)} is another file or cannot be written, and was left as it is: move it away and run the same command again, which writes ${countText(rows, 'row')} with an error there`,
    );
    return rows;
  }
  const shown = shownPath(file);
  context.notices.note(
    `${countText(rows, 'row')} of ${name} ${rows === 1 ? 'was' : 'were'} left out although the result is an error: ${shown} has them as they are in ${name} now`,
  );
  await noteFixCommand(context, { ...fileJobs, rows: countText(rows, 'row'), words: ['au', 'submit', shown] });
  return rows;
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

/** Explains that the fix file of an earlier command was left, and that none of its rows is known to need a fix. */
function oldFileText(file: string, name: string): string {
  return `${file} was here before and was not changed: no left-out row of ${name} is known to have an error as its result, and each row that is submitted again is billed again`;
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
  try {
    for (const job of jobs) {
      // A job of an earlier build may have a token for several merchants, and results name no merchant.
      if (job.claim.keys !== 2) continue;
      const errors = await tokensWithError(job);
      if (errors === undefined) return undefined;
      if (errors.size === 0) continue;
      for await (const rows of readRequest(job.rows.source.open())) {
        const wrong = rows.filter(({ token }) => errors.has(tokenKey(token)));
        if (wrong.length === 0) continue;
        draft ??= await beginFixFile(target, system);
        count += wrong.length;
        await draft.write(wrong.map(({ line }) => `${line}\n`).join(''));
      }
    }
    if (draft === undefined) return { rows: count, file: undefined };
    const { sha256 } = await draft.seal();
    if ((await hashIfReadable(target)) !== sha256) await draft.finish(overwrite);
    return { rows: count, file: target };
  } finally {
    await draft?.discard();
  }
}

/** Returns the keys of the tokens of a job whose result is an error; undefined if the results are gone. */
async function tokensWithError({ file }: JoinedJob): Promise<ReadonlySet<string> | undefined> {
  if ((await hashIfReadable(file)) === undefined) return undefined;
  const errors = new Set<string>();
  for await (const rows of readResults((await fileSource(file)).open()))
    for (const { token, result_code: code } of rows)
      if (explainResultCode(code).class === 'error') errors.add(tokenKey(token));
  return errors;
}

async function beginFixFile(target: string, writer: DraftWriter): Promise<Draft> {
  const draft = await Draft.begin(target, writer);
  await draft.write(`${REQUEST_HEADER}\n`);
  return draft;
}
