import { EXIT_CODES } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { optionalArgument } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { countText } from '../../cli/output/number.ts';
import { jobOrListRequest, jobView } from '../job/job-view.ts';
import { findJobs, isJobId } from '../job/job.ts';
import { claimRow, claimView, cycleView, UNKNOWN, unreadCycles } from '../jobs/status.ts';
import { explainMissing } from '../jobs/missing-job.ts';
import { cycleOrJob, noteNothingOpen } from '../jobs/named-cycle.ts';

export const status = defineCommand({
  description:
    'Without an argument, shows the cycles with jobs whose results no machine has received yet, and those with rows that no job has, since theirs failed or a command stopped, whichever machine sent them.',
  examples: [
    ['svc au status', 'what is open, on any machine that shares the ledger'],
    ['svc au status 2026-12', 'the jobs of a cycle, and who sent them'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [[9, 'the service does not find a job that has its file, or may have it']],
  paged: true,
  fields: [...new Set([...jobView.fields, ...cycleView.fields, ...claimView.fields])],
  parameters: { of: optionalArgument('[cycle|job]', 'a cycle, or the id of a job', textToSend) },
  async run(context, { of }) {
    if (of === undefined) return printCycles(context);
    if (isJobId(of)) return printJob(context, of);
    return cycleOrJob(
      () => printCycle(context, of),
      () => printJob(context, of),
    );
  },
  request: (_, { of }) => jobOrListRequest(of),
});

async function printCycles(context: Context): Promise<number> {
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  const { ledgerOfKey } = await import('../jobs/ledger-of-key.ts');
  const { requireClaims } = await import('../jobs/compare-jobs.ts');
  const print = await listPrinter(context, cycleView);
  const client = await context.client();
  const ofKey = await ledgerOfKey(context, client, new CommandLedger(context, { onlyReads: true }));
  if (ofKey !== undefined) await requireClaims(client, ofKey.ledger);
  const rows = ofKey === undefined ? [] : await unreadCycles(client, ofKey.ledger);
  await print(oneBatch(rows));
  if (rows.length === 0) {
    // A machine that has copies says what the ledger lacks.
    await ofKey?.ledger.restore();
    const names = await ofKey?.ledger.cycleNames();
    noteNothingOpen(context, ofKey?.ledger.name ?? '', names && names.length > 0);
  }
  const open = rows.find(({ open_jobs: jobs }) => jobs.length > 0);
  if (open !== undefined)
    noteNext(context, 'to get the results of a cycle, whichever machine sent it', [
      'au',
      'resume',
      open.cycle,
      '--wait',
    ]);
  for (const { cycle, lost_rows: lost } of rows)
    if (lost > 0)
      noteNext(context, `no job has ${countText(lost, 'row')} of ${cycle}; what to do`, ['au', 'resume', cycle]);
  for (const { cycle } of rows) await ofKey?.ledger.cycle(cycle).heal();
  return rows.some(({ status: of }) => of === UNKNOWN) ? EXIT_CODES.outcome_unknown : 0;
}

/** Shows the jobs of a cycle with their statuses from the service. */
async function printCycle(context: Context, name: string): Promise<number> {
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  const { namedCycle } = await import('../jobs/named-cycle.ts');
  const print = await listPrinter(context, claimView);
  const client = await context.client();
  const { cycle, entries } = await namedCycle(context, client, new CommandLedger(context, { onlyReads: true }), name);
  // A job may have two claims: it was given up, then turned out to have its file.
  const claims = [
    ...new Map(entries.flatMap((entry) => (entry.kind === 'claim' ? [[entry.job, entry] as const] : []))).values(),
  ];
  const jobs = await findJobs(client, new Set(claims.map(({ job }) => job)));
  const rows = claims.map((claim) => claimRow(claim, entries, jobs.get(claim.job)?.status ?? UNKNOWN));
  await print(oneBatch(rows));
  // The entries may come from this machine's copies, so they are compared with the ledger.
  await cycle.heal();
  const isDoubtful = rows.some(
    ({ status: of, results_read: wasRead, freed }) => of === UNKNOWN && !wasRead && freed === null,
  );
  return isDoubtful ? EXIT_CODES.outcome_unknown : 0;
}

async function printJob(context: Context, typed: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../job/job.ts');
  const { wholeJobId } = await import('../whole-job-id.ts');
  const id = await wholeJobId(context, typed);
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}
