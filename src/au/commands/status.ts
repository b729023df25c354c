import { EXIT_CODES, isSvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { optionalArgument } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { claimRow, claimView } from '../ledger/claim-view.ts';
import { cycleView, UNKNOWN } from '../ledger/cycle-view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isJobId } from '../run/job.ts';
import { explainMissing } from '../ledger/missing-job.ts';
import { jobView } from '../run/job-view.ts';
import { isMissing } from '../run/part.ts';
import type { Polled } from '../run/poll-parts.ts';
import { cycleOrJob } from '../ledger/named-cycle.ts';
import { isMissingUpload, isUntouched } from '../run/record.ts';
import { runOrCycle } from '../run/recorded-runs.ts';
import { missingRunError, unknownOutcomeError } from '../run/run-errors.ts';
import { partRows, partView } from '../run/run-view.ts';
import { runWord } from '../run/run-word.ts';
import { jobOrListRequest } from '../send/first-requests.ts';
import { showRun } from '../send/show-progress.ts';

export const status = defineCommand({
  description:
    'Without an argument, shows the cycles with jobs whose results no machine has read yet, whichever machine sent them. A part of a run is what it sends in one job.',
  examples: [
    ['svc au status', 'what is open, on any machine that shares the ledger'],
    ['svc au status 2026-12', 'the jobs of a cycle, and who sent them'],
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [[9, 'the service does not find a job that has its file, or may have it']],
  paged: true,
  fields: [...new Set([...partView.fields, ...jobView.fields, ...cycleView.fields, ...claimView.fields])],
  parameters: {
    of: optionalArgument('[cycle|run|job]', 'a cycle, the id or directory of a run, or the id of a job', runWord),
  },
  async run(context, { of }) {
    if (of === undefined) return printCycles(context);
    const run = await runOrCycle(context, of);
    if (run === undefined)
      return isJobId(of)
        ? printJob(context, of)
        : cycleOrJob(
            () => printCycle(context, of),
            () => printJob(context, of),
          );
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
    // After some minutes, the outcome of a job that is not found is unknown.
    if (run.record.parts.some((part) => part.state === 'unknown' && isMissing(part))) throw unknownOutcomeError(run);
  },
  request: (context, { of }) => jobOrListRequest(context, of),
});

async function printCycles(context: Context): Promise<number> {
  const { unreadCycles } = await import('../ledger/cycle-status.ts');
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  const { ledgerOfKey } = await import('../ledger/named-cycle.ts');
  const print = await listPrinter(context, cycleView);
  const client = await context.client();
  const opened = await ledgerOfKey(context, client, new CommandLedger(context, { onlyReads: true }));
  const rows = opened === undefined ? [] : await unreadCycles(client, opened[1]);
  await print(oneBatch(rows));
  if (rows.length === 0) await noteNoneOpen(context, opened?.[1]);
  else
    noteNext(context, 'to get the results of a cycle, whichever machine sent it', [
      'au',
      'resume',
      rows[0]?.cycle ?? '',
      '--wait',
    ]);
  for (const { cycle } of rows) await opened?.[1].cycle(cycle).heal();
  return rows.some(({ status: of }) => of === UNKNOWN) ? EXIT_CODES.outcome_unknown : 0;
}

/** Says why no cycle is shown. A ledger without any job may not be the one that the other machines use. */
async function noteNoneOpen(context: Context, ledger: Ledger | undefined): Promise<void> {
  if (ledger === undefined) return context.notices.note('the service shows no job of this tenant');
  if ((await ledger.cycleNames()).length > 0)
    return context.notices.note('no job is open: the results of each job in the ledger were read');
  context.notices.note(`the ledger in ${ledger.name} has no job: what was sent without it is not known here`);
  noteNext(context, 'to see the jobs of the service', ['au', 'jobs']);
}

/** Shows the jobs of a cycle, each read from the service now. */
async function printCycle(context: Context, name: string): Promise<number> {
  const { namedCycle } = await import('../ledger/named-cycle.ts');
  const { findJobs } = await import('../run/poll-parts.ts');
  const print = await listPrinter(context, claimView);
  const client = await context.client();
  const { cycle, entries } = await namedCycle(context, client, name, { onlyReads: true });
  // A job that turned out to have its file was claimed again.
  const claims = [
    ...new Map(entries.flatMap((entry) => (entry.kind === 'claim' ? [[entry.job, entry] as const] : []))).values(),
  ];
  const jobs = await findJobs(client, new Set(claims.map(({ job }) => job)));
  const rows = claims.map((claim) => claimRow(claim, entries, jobs.get(claim.job)?.status ?? UNKNOWN));
  await print(oneBatch(rows));
  // This machine may know the entries from its copies only.
  await cycle.heal();
  const isDoubtful = rows.some(
    ({ status: of, results_read: wasRead, freed }) => of === UNKNOWN && !wasRead && freed === null,
  );
  return isDoubtful ? EXIT_CODES.outcome_unknown : 0;
}

async function printJob(context: Context, typed: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../run/job.ts');
  const { wholeJobId } = await import('../whole-job-id.ts');
  const id = await wholeJobId(context, typed);
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
