import { abandon, atService, undoAbandon } from '../../account-updater/abandon.ts';
import { type RunRecord, statusOf } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import type { Context } from '../../app/command.ts';
import { sameProfile } from '../../app/hint.ts';
import { SvcError } from '../../errors.ts';
import { formatNumber } from '../../output/time.ts';
import { namedRun } from './runs.ts';

/**
 * Gives a run up after saying what the service has of it, or takes it up again.
 * @returns the run, or nothing when the operator thought better of it
 */
export async function abandonRun(
  context: Context,
  name: string,
  undo: boolean,
): Promise<RunDirectory | undefined> {
  const run = namedRun(context, name);
  if (!run) throw noRunError();
  const { notices, clock, prompts } = context;
  if (statusOf(run.record) === 'completed') throw completeError(run);
  if ((statusOf(run.record) === 'abandoned') !== undo) {
    notices.note(undo ? `${run.record.id} is not abandoned` : `${run.record.id} is abandoned already`);
    return run;
  }
  if (!undo) {
    for (const line of consequences(run.record)) notices.warn(line);
    if (!(await prompts.confirm(`Abandon ${run.record.id}?`, 'Pass --yes.'))) {
      notices.note('nothing was changed');
      return undefined;
    }
  }
  await run.hold(context.system, async () => (undo ? undoAbandon(run) : abandon(run, clock.now())));
  notices.note(sameProfile(undo ? `go on with '${run.submitCommand}'` : wayBack(run), context.globals));
  return run;
}

/** What abandoning does not undo. */
function consequences(record: RunRecord): string[] {
  const { uploaded, uploadedRows, notUploaded } = atService(record);
  const lines: string[] = [];
  if (uploaded.length > 0)
    lines.push(
      `${formatNumber(uploadedRows)} of ${formatNumber(record.input.rows)} rows were uploaded, or may have been (${jobsOf(uploaded.length)}): the service processes them all the same, and they may be paid for`,
    );
  if (notUploaded.length > 0)
    lines.push(
      `${formatNumber(record.input.rows - uploadedRows)} rows were not uploaded: they are not processed and cost nothing`,
    );
  return lines;
}

function jobsOf(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}

function wayBack({ record, name }: RunDirectory): string {
  const { uploaded } = atService(record);
  const results =
    uploaded.length > 0 ? `'svc au download ${name}' brings results that it has all the same; ` : '';
  return `abandoned ${record.id}; ${results}'svc au abandon ${name} --undo' takes it up again`;
}

function noRunError(): SvcError {
  return new SvcError('not_found', 'this names no run: a job by itself cannot be abandoned', {
    hint: "Choose a run with 'svc au status'. A job without its file vanishes after an hour; one that has it is processed.",
  });
}

function completeError({ record, name }: RunDirectory): SvcError {
  return new SvcError('conflict', `run ${record.id} is complete: there is nothing to abandon`, {
    hint: `Its results come with 'svc au download ${name}'.`,
    facts: { run: record.id },
  });
}
