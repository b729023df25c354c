import { isSvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { explainMissing, jobRequest, jobView } from '../run/job-view.ts';
import type { Polled } from '../run/poll-parts.ts';
import { isMissingUpload, isUntouched } from '../run/record.ts';
import { namedRun } from '../run/recorded-runs.ts';
import { missingRunError } from '../run/run-errors.ts';
import { partRows, partView } from '../run/run-view.ts';
import { showRun } from '../send/show-progress.ts';

export const status = defineCommand({
  examples: [
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [[9, 'a job that has its file is not found']],
  paged: true,
  fields: [...new Set([...partView.fields, ...jobView.fields])],
  parameters: { of: argument('<job|run>', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    const run = await namedRun(context, of);
    if (run === undefined) return printJob(context, of);
    const print = await listPrinter(context, partView);
    if (isUntouched(run.record)) {
      await print(oneBatch(partRows(run.record)));
      return noteNext(context, `nothing of ${run.record.id} was sent yet; to submit it`, run.resumeWords);
    }
    const client = await context.client();
    const { pollJobs, workOn } = await import('../run/poll-parts.ts');
    const poll = (save?: () => void): Promise<Polled> =>
      pollJobs({ ...workOn(client, run, { onEvent: showRun(context) }), ...(save && { save }) });
    let isHeld = false;
    const held = (): Promise<Polled> => {
      isHeld = true;
      return poll();
    };
    await run.hold(context.system, held).catch((error: unknown) => {
      // The response is shown even if it cannot be recorded, because another process uses the run or the directory is
      // read-only.
      if (!isSvcError(error, 'local') && (isHeld || !isSvcError(error, 'config'))) throw error;
      context.notices.note(`what the service says is shown, and not recorded: ${error.message}`);
      return poll(() => undefined);
    });
    await print(oneBatch(partRows(run.record)));
    if (run.record.parts.some(isMissingUpload)) throw missingRunError(run);
  },
  request: (context, { of }) => jobRequest(context, of),
});

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../run/job.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
