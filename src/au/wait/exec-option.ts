import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { value } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { runExecLine } from '../exec-line.ts';
import { actionsOf } from '../results/action-option.ts';
import { countedResults } from '../results/submission.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { runRow } from '../run/run-view.ts';
import { ExecFailed } from '../run/verdict.ts';
import { applyToRun } from '../run/run.ts';

/** The option `--exec`: a command to run for each completed run. */
export const execParameter = value(
  '--exec <command>',
  'run this shell command for each completed run, with the run as JSON on standard input',
  text,
);

/**
 * Runs the `--exec` command if it is due for a completed run with written results. Its standard input is the run as
 * `svc au status` shows it, with the counts of its results. Its output goes to stderr.
 * @returns the error if the command fails, in which case it remains due
 */
export async function runExec(context: Context, run: RunDirectory, command: string) {
  const { record } = run;
  if (record.exec !== 'due' || record.results === undefined) return undefined;
  const results = await countedResults(record, actionsOf(context, [])).catch((error: unknown) => {
    // Results that the operator accepted as unproven may not be a valid CSV table.
    if (isSvcError(error, 'checksum_mismatch')) return { file: record.results?.file };
    throw error;
  });
  const added = { SVC_RUN_ID: record.id, SVC_RESULTS: record.results.file };
  const failure = await runExecLine(context, command, { ...runRow(record), results }, added);
  if (failure !== undefined)
    return new ExecFailed('local', failure, {
      hint: 'The results are written. Fix the command, and run it again for this run:',
      next: ['au', 'resume', run.name, '--exec', '<command>'],
    });
  applyToRun(record, { kind: 'exec done' });
  run.save();
  return undefined;
}
