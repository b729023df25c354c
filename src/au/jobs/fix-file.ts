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
import { type JoinedJob, type UnclearErrors, writeLeftOutErrors } from '../results/left-out-errors.ts';
import type { ResultsFile } from '../results/merge.ts';
import { isOfFile } from '../results/file-results.ts';
import type { FileJobs } from './submit-file.ts';

/**
 * Writes the rows of a file that were left out although their result in the job of another file is an error, and shows the
 * command that sends only these rows again, in another cycle. Returns how many left-out rows have an error, at most.
 */
export async function deliverFixFile(
  context: Context,
  found: FileJobs,
  jobs: readonly JoinedJob[],
  results: ResultsFile,
): Promise<number> {
  const { name } = found.file;
  const joined = jobs.filter((job) => !isOfFile(job, found.file));
  if (joined.length === 0) return 0;
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
