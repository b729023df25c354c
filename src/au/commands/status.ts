import { EXIT_CODES, isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { optionalArgument } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { cycleView } from '../ledger/cycle-view.ts';
import { explainMissing, jobRequest, jobView } from '../run/job-view.ts';
import type { Polled } from '../run/poll-parts.ts';
import { isMissingUpload, isUntouched } from '../run/record.ts';
import { namedRun } from '../run/recorded-runs.ts';
import { missingRunError } from '../run/run-errors.ts';
import { partRows, partView } from '../run/run-view.ts';
import { firstRequest } from '../send/first-requests.ts';
import { showRun } from '../send/show-progress.ts';

export const status = defineCommand({
  description:
    'Without an argument, the cycles of the ledger with jobs whose results nobody has read, whichever machine sent them.',
  examples: [
    ['svc au status', 'what is open, on any machine that shares the ledger'],
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [[9, 'a job that has its file is not found']],
  paged: true,
  fields: [...new Set([...partView.fields, ...jobView.fields, ...cycleView.fields])],
  parameters: { of: optionalArgument('[job|run]', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    if (of === undefined) return printCycles(context);
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
  request: (context, { of }) => (of === undefined ? firstRequest() : jobRequest(context, of)),
});

async function printCycles(context: Context): Promise<number> {
  const { openCycles, UNKNOWN } = await import('../ledger/cycle-status.ts');
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  const { tenantOfKey } = await import('../run/tenant-proof.ts');
  const print = await listPrinter(context, cycleView);
  const client = await context.client();
  const tenant = (await tenantOfKey(client)) ?? (await tenantOfAnyJob(client));
  const rows = tenant === undefined ? [] : await openCycles(client, await new CommandLedger(context).open(tenant));
  await print(oneBatch(rows));
  if (rows.length === 0)
    context.notices.note(
      tenant === undefined
        ? 'the service shows no job of this tenant'
        : 'no job is open: somebody read the results of each job in the ledger',
    );
  else noteNext(context, 'to go on with what this machine sent', ['au', 'sync']);
  return rows.some(({ status: of }) => of === UNKNOWN) ? EXIT_CODES.outcome_unknown : 0;
}

/** Returns the tenant of a job; undefined if the service has none. @throws SvcError for a key that may not list jobs */
async function tenantOfAnyJob(client: Client): Promise<string | undefined> {
  const [job] = await client.accountUpdater.list({ pageSize: 1 }).first(1);
  if (job === undefined) return undefined;
  if (job.tenant_id) return job.tenant_id;
  throw new SvcError('bad_response', 'the service does not name the tenant of a job, which the ledger needs', {
    hint: 'What is open is not known. Name a run or a job, or contact support with the job id.',
    facts: { job: job.id },
  });
}

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../run/job.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
