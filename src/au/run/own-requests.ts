import type { Context } from '../../cli/app/command.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { openSummary, type Summarize } from '../../cli/app/summary.ts';
import { silentRuns } from './recorded-runs.ts';
import type { RunDirectory } from './run-directory.ts';

/**
 * Checks that no file to be written is the request of a run, or the copy that the run keeps of it. `written` has the files as
 * typed, by their options.
 * @throws SvcError `usage`, even with --force
 */
export function refuseRequests(
  { system }: Pick<Context, 'system'>,
  written: Readonly<Record<string, string | undefined>>,
  runs: readonly RunDirectory[],
): void {
  const inputs = runs.flatMap(({ name, record, requestFile }) =>
    namedFiles({ [`the request of ${name}`]: record.input.path, [`the copy of the request of ${name}`]: requestFile }),
  );
  for (const file of namedFiles(written)) refuseReplacing(system, file, inputs);
}

/** Opens the file of `--summary` after a check that it is no request of a run. @throws SvcError `usage` */
export async function openRunSummary(context: Context, summary: string | undefined): Promise<Summarize> {
  if (summary !== undefined) refuseRequests(context, { '--summary': summary }, await silentRuns(context));
  return openSummary(context, summary);
}
