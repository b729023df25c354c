import path from 'node:path';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { countText } from '../../cli/output/time.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { nextCycle } from '../ledger/next-cycle.ts';
import { writeLeftOutErrors } from '../results/left-out-errors.ts';
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
  applyToRun(record, { kind: 'errors left out', rows: found.rows });
  run.save();
  if (found.file === undefined) return;
  const { rows, file } = found;
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
  const words = ['au', 'submit', shown, '--cycle', cycle, ...(isFirst ? ['--begin'] : [])];
  noteNext(context, `once they are corrected, submit that file (${billed})`, words);
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
