import fs from 'node:fs';
import path from 'node:path';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { countText } from '../../cli/output/time.ts';
import { byText } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { nextCycle } from '../ledger/cycle-names.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import type { ResultsFile } from '../results/merge.ts';
import { type FileJob, type FileJobs, type FileResults, isOfFile } from './file-jobs.ts';
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
 * Writes the rows of a file that were left out although their result in the job of another file is an error, and shows the
 * command that sends only these rows again, in another cycle. Returns how many left-out rows have an error, at most.
 */
export async function deliverFixFile(context: Context, results: FileResults): Promise<number> {
  const { found } = results;
  const { name } = found.file;
  const joined = results.jobs.filter((job) => !isOfFile(job, found.file));
  const target = fixFileOf(name);
  const left = await writeLeftOutErrors(context, joined, target);
  if (left === undefined) return 0;
  const { rows, file, unclear } = left;
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
  const billed = `${countText(rows, 'row')}, billed again`;
  const cycle = await readIfPossible(context, (limited) => unusedCycle(limited, found));
  if (typeof cycle !== 'string') {
    noteNext(context, `once they are corrected, submit that file in a cycle with an unused name (${billed})`, [
      'au',
      'submit',
      shown,
      '--cycle',
      '<name>',
    ]);
    return errors;
  }
  // Once such a cycle exists, it may have these rows already: the next one is compared with it before it begins.
  const isFirst = found.isNamed ? cycle === `${found.cycle.name}.2` : cycle.endsWith('-fix');
  const words = ['au', 'submit', shown, '--cycle', cycle, ...(isFirst ? ['--pay-again'] : [])];
  noteNext(context, `once they are corrected, submit that file (${billed})`, words);
  return errors;
}

/** Says that rows are not written, because an error of their tokens may be that of another row. */
function unclearText({ rows, claims }: UnclearErrors, name: string, target: string, results: ResultsFile): string {
  const [their, were] = rows === 1 ? ['its', 'was'] : ['their', 'were'];
  const tokens = rows === 1 ? 'its token' : 'their tokens';
  const where = `. ${shownPath(results.file)} has all results of ${tokens}`;
  return `${countText(rows, 'row')} of ${name} may have an error as ${their} result, and ${were} not written to ${shownPath(target)}: ${jobsText(claims)} may have ${tokens} for several merchants, and results name no merchant${where}`;
}

/** Says that a fix file of an earlier command has no row that is known to need a fix. */
function oldFileText(file: string, name: string): string {
  return `${file} was here before and was not changed: no left-out row of ${name} is known to have an error as its result, and each row that is submitted again is billed again`;
}

/** Names jobs, and who sent them. */
function jobsText(claims: readonly ClaimEntry[]): string {
  const jobs = claims.map((claim) => `${claim.job} (sent by ${byText(claim)})`);
  return `${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.join(', ')}`;
}

/** Returns the next unused name of a cycle for rows of a file. */
async function unusedCycle(context: Context, { file, isNamed, cycle }: FileJobs): Promise<string> {
  const ledger = await new CommandLedger(context, { onlyReads: true }).open(cycle.tenant);
  return nextCycle(ledger, { cycle: isNamed ? cycle.name : undefined, file: path.basename(file.name) });
}

/** Returns the path of the file beside the request file, or in this directory for standard input. */
function fixFileOf(name: string): string {
  return path.resolve(name === STANDARD_INPUT ? 'fix.csv' : name.replace(/(\.csv)?$/i, '.fix.csv'));
}

/** A job of another file that has rows of this one, with its results. */
type JoinedJob = FileJob & JobResults;

/** The rows of a file that were left out although their result in the job of another file is an error. */
interface LeftOutErrors {
  /** The number of rows in the file. */
  readonly rows: number;
  /** The file with these rows as the request has them; undefined if there are none. */
  readonly file: string | undefined;
  /** Rows that are not in the file, because an error of their token may be that of another row. */
  readonly unclear: UnclearErrors;
}

interface UnclearErrors {
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
async function writeLeftOutErrors(
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
