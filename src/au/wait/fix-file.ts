import fs from 'node:fs';
import path from 'node:path';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { countText } from '../../cli/output/time.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { nextCycle } from '../ledger/next-cycle.ts';
import { type UnclearErrors, writeLeftOutErrors } from '../results/left-out-errors.ts';
import type { Part } from '../run/part.ts';
import type { RunRecord } from '../run/record.ts';
import { applyToRun } from '../run/run.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { isOnThisMachine } from '../run/run-view.ts';

/**
 * Writes the rows that a run left out although their result in the job of another run is an error, and shows the command
 * that sends only these rows again, in a cycle of their own.
 */
export async function deliverFixFile(context: Context, run: RunDirectory): Promise<void> {
  const { record } = run;
  if (!record.parts.some(({ joined, state }) => joined !== undefined && state === 'downloaded')) return;
  const target = fixFileOf(record);
  const found = await writeLeftOutErrors(run, target);
  if (found === undefined) return;
  const { rows, file, unclear } = found;
  applyToRun(record, { kind: 'errors left out', rows: rows + unclear.errors });
  run.save();
  if (unclear.errors > 0) context.notices.warn(unclearText(unclear, record, target));
  if (file === undefined) {
    if (fs.existsSync(target)) context.notices.warn(oldFileText(shownPath(target), record.input.name));
    return;
  }
  const shown = shownPath(file);
  if (file !== target)
    context.notices.warn(`${shownPath(target)} is another file or cannot be written, and was left as it is`);
  context.notices.note(
    `${countText(rows, 'row')} of ${record.input.name} ${rows === 1 ? 'was' : 'were'} left out although the result is an error: ${shown} has them as they are in ${record.input.name} now`,
  );
  const billed = `${countText(rows, 'row')}, billed again`;
  const cycle = await readIfPossible(context, (limited) => unusedCycle(limited, record));
  if (typeof cycle !== 'string')
    return noteNext(context, `once they are corrected, submit that file in a cycle with an unused name (${billed})`, [
      'au',
      'submit',
      shown,
      '--cycle',
      '<name>',
    ]);
  // Once such a cycle exists, it may have these rows already: the next one is compared with it before it begins.
  const isFirst = cycle === `${record.cycle}.2` || (record.cycle === undefined && cycle.endsWith('-fix'));
  const words = ['au', 'submit', shown, '--cycle', cycle, ...(isFirst ? ['--pay-again'] : [])];
  noteNext(context, `once they are corrected, submit that file (${billed})`, words);
}

/** Says that rows are not written, because an error of their tokens may be that of another row. */
function unclearText({ rows, parts }: UnclearErrors, { input, results }: RunRecord, target: string): string {
  const [their, were] = rows === 1 ? ['its', 'was'] : ['their', 'were'];
  const tokens = rows === 1 ? 'its token' : 'their tokens';
  const where = results === undefined ? '' : `. ${shownPath(results.file)} has all results of ${tokens}`;
  return `${countText(rows, 'row')} of ${input.name} may have an error as ${their} result, and ${were} not written to ${shownPath(target)}: ${jobsText(parts)} may have ${tokens} for several merchants, and results name no merchant${where}`;
}

/** Says that a fix file of an earlier command has no row that is known to need a fix. */
function oldFileText(file: string, name: string): string {
  return `${file} was here before and was not changed: no left-out row of ${name} is known to have an error as its result, and each row that is submitted again is billed again`;
}

/** Names the jobs of other runs, and who sent them. */
function jobsText(parts: readonly Part[]): string {
  const jobs = parts.map(({ job = '', joined }) => `${job} (sent by ${joined?.by ?? ''})`);
  return `${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.join(', ')}`;
}

/** Returns the next unused name of a cycle for rows of a run. */
async function unusedCycle(context: Context, { tenant_id: tenant, cycle, input }: RunRecord): Promise<string> {
  const ledger = await new CommandLedger(context, { onlyReads: true }).open(tenant ?? '');
  return nextCycle(ledger, { cycle, file: path.basename(input.name) });
}

/** Returns the path of the file beside the request file, or in this directory if that one is not on this machine. */
function fixFileOf({ input }: RunRecord): string {
  const request = input.path ?? '.csv';
  const file = request.replace(/(\.csv)?$/i, '.fix.csv');
  const here = path.resolve(path.basename(file).replace(/^\./, ''));
  return input.path !== undefined && isOnThisMachine(file) ? file : here;
}
