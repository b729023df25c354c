import type { JobFiles } from '../job/job-files.ts';
import { findJob } from '../job/job.ts';
import { openComparedLedger } from '../jobs/compare-jobs.ts';
import { ledgerOfKey } from '../jobs/ledger-of-key.ts';
import { deliveryOf, hasStandingClaim, senderName, wereResultsRead } from '../ledger/claims.ts';
import { type ClaimedJob, CommandLedger } from '../ledger/command-ledger.ts';
import { doubtError } from '../ledger/doubt.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { listedJob, provableFrom, provableUntil } from '../ledger/proof-of-absence.ts';
import { RowSet } from '../ledger/row-set.ts';
import { type RowsWithoutJob, rowsWithoutJob } from '../ledger/rows-without-job.ts';
import { wholeJobId } from '../whole-job-id.ts';
import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { cleanText } from '../../cli/output/text.ts';
import { countText } from '../../cli/output/number.ts';
import { type View, simpleColumns } from '../../cli/output/view.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/** A job whose rows were freed, or that was closed. */
interface AbandonedJob {
  readonly job: string;
  /** What the command did with the rows. */
  readonly progress: string;
  readonly cycle: string | null;
  /** The number of rows; null if the ledger lost the claim. */
  readonly rows: number | null;
  readonly file: string | null;
  readonly created_at: string | null;
}

const abandonView: View<AbandonedJob> = {
  name: 'abandoned job',
  fields: ['job', 'progress', 'cycle', 'rows', 'file', 'created_at'],
  columns: simpleColumns({
    job: 'id',
    progress: 'text',
    cycle: 'text',
    rows: 'number',
    file: 'text',
    created_at: 'time',
  }),
};

export const abandon = defineCommand({
  description:
    'Frees the rows of a job that may have been paid for, on your word, where nothing can be proven: the next submission sends them again, unless the service shows by then that the job has its file. A job that is paid for keeps its rows; one that the service has forgotten since is closed, so that nothing waits for its results. Rows that no job has, since theirs failed or was abandoned before, or a submission of their file stopped, are left out of their cycle, so that nothing asks for them any more. Nothing is canceled at the service.',
  examples: [['svc au abandon 5f0c…', 'show what the service has of it, and ask']],
  permissions: ['account-updater:job:read'],
  exitCodes: [
    5,
    [6, 'the service has the file of the job'],
    [9, 'the service does not find the job, and it can still be proven whether it has its file'],
    [11, 'another process sends the file of the job'],
  ],
  fields: abandonView.fields,
  parameters: { job: argument('<job>', 'id of a job whose rows are in the ledger', textToSend) },
  async run(context, { job: typed }) {
    const print = await recordPrinter(context, abandonView);
    await print(await releaseJob(context, await wholeJobId(context, typed)));
  },
});

/**
 * Frees the rows of a job on the operator's word if no proof is possible, or closes a forgotten job whose results were read.
 * @throws SvcError `not_found` for a job without rows in the ledger, `conflict` for a job that has its file, `pending` while
 *   another process sends the file, `outcome_unknown` while a later list can still prove that the job has no file, or if the
 *   ledger may belong to another tenant
 */
async function releaseJob(context: Context, job: string): Promise<AbandonedJob> {
  const client = await context.client();
  const reading = new CommandLedger(context, { onlyReads: true });
  const hasJob = async (ledger: Ledger): Promise<boolean> => (await ledger.cycleOfJob(job)) !== undefined;
  const { tenant } = (await ledgerOfKey(context, client, reading, hasJob)) ?? {};
  if (tenant === undefined) throw notInLedger();
  const claimed = await reading.claimed(tenant, job);
  if (claimed === undefined) return releaseLost(context, client, tenant, job);
  const files = reading.jobFiles(job);
  if (!hasStandingClaim(claimed.entries, job)) await refuseFound(client, claimed, files);
  const lost = await rowsToLeaveOut(claimed);
  if (lost !== undefined && (lost.isEnded || wereResultsRead(claimed.entries, job)))
    return leaveOut(context, tenant, claimed, lost);
  if (!hasStandingClaim(claimed.entries, job)) {
    // Another job may have these rows by now.
    context.notices.note(`job ${job} holds no rows any more; nothing was changed`);
    return rowOfClaim(claimed, 'holds no rows any more');
  }
  const judge = async (claim: ClaimedJob): Promise<Judged> =>
    judged(claim, (await findJob(client, job)) ?? (await listedJob(client, claim.claim)), files, client.now());
  const { found, isPaid } = await judge(claimed);
  // Ends the command before its question if another process sends the file.
  await holdSender(context, files, async () => undefined);
  const said = found === undefined ? 'does not know it' : `says that it is ${found.status}`;
  const risk = isPaid ? 'are paid for, and its results are lost unless a machine has them' : 'may have been paid for';
  context.notices.warn(`the rows of job ${job} ${risk}: the service ${said}`);
  if (found?.status === 'pending' && files.sent === undefined)
    context.notices.warn(
      `svc of ${senderName(claimed.claim)} may be uploading its file now: make sure that it has ended`,
    );
  await confirm(context, isPaid ? `Close job ${job}? Its rows stay in their cycle.` : `Free the rows of job ${job}?`);
  const ledger = openComparedLedger(context, ['au', 'abandon', job]);
  const progress = await holdSender(context, files, async () => {
    // The job may have got its file while the operator answered.
    const now = await ledger.claimed(tenant, job);
    if (now === undefined) throw claimed.cycle.missingClaimError(job);
    if ((await judge(now)).isPaid) {
      await now.cycle.endClaim({ kind: 'done', job, born: null });
      return 'closed, rows are paid for';
    }
    const proof = `the operator; the service ${said}`;
    await now.cycle.endClaim({ kind: 'release', job, why: 'operator', proof });
    return 'rows are free';
  });
  if (progress === 'rows are free')
    context.notices.success(`the rows of job ${job} are free: the next submission of them sends them again`);
  else context.notices.success(`job ${job} is closed; its rows stay in their cycle and are not sent again`);
  return rowOfClaim(claimed, progress);
}

/** Refuses to leave out rows of a job that ended and was found later. @throws SvcError `conflict` */
async function refuseFound(client: Client, claimed: ClaimedJob, files: JobFiles): Promise<void> {
  if (claimed.claim.row_set === null) return;
  const found = await findJob(client, claimed.claim.job);
  const why = whyPaid(claimed, found, files);
  if (why) throw paidError(claimed, found?.status, why);
}

/** Returns the rows of a job, and of its file, that no job has. */
async function rowsToLeaveOut({ claim, cycle, entries }: ClaimedJob): Promise<RowsWithoutJob | undefined> {
  const lost = (await rowsWithoutJob({ cycle, entries })).filter((one) => one.claim.job === claim.job);
  const sets = lost.map(({ rows }) => rows);
  return lost[0] && { ...lost[0], rows: RowSet.union(sets, lost[0].rows.salt) };
}

/** Leaves rows that no job has out of their cycle, on the operator's word. */
async function leaveOut(
  context: Context,
  tenant: string,
  claimed: ClaimedJob,
  { rows: { size } }: RowsWithoutJob,
): Promise<AbandonedJob> {
  const { job, file } = claimed.claim;
  const cycle = claimed.cycle.name;
  const rows = `${countText(size, 'row')} of ${cleanText(file.name)}`;
  await confirm(context, `Leave ${rows} out of cycle ${cycle}? No job of the cycle has them.`);
  const now = await openComparedLedger(context, ['au', 'abandon', job]).claimed(tenant, job);
  if (now === undefined) throw claimed.cycle.missingClaimError(job);
  const isLeftOut = await now.cycle.append(async (entries) => {
    // Another command may have sent them while the operator answered.
    const left = await rowsToLeaveOut({ ...now, entries });
    if (left === undefined) return undefined;
    const { keys, salt } = left.claim;
    return { kind: 'left_out', job, keys, salt, row_set: await now.cycle.createRowSet(left.rows) };
  });
  if (!isLeftOut) {
    context.notices.note(`${rows} have a job by now; nothing was changed`);
    return rowOfClaim(claimed, 'its rows have jobs', size);
  }
  context.notices.success(`${rows} are left out of cycle ${cycle}`);
  return rowOfClaim(claimed, 'left out of the cycle', size);
}

function notInLedger(): SvcError {
  return new SvcError('not_found', 'no rows of such a job were found in the ledger', {
    hint: 'A job without its file is deleted after an hour; one that has it is processed. What is open:',
    next: ['au', 'status'],
  });
}

/**
 * Gives up a job with a file whose claim the ledger lost. Until then, the job stops every upload.
 * @throws SvcError `not_found` for any other job
 */
async function releaseLost(context: Context, client: Client, tenant: string, job: string): Promise<AbandonedJob> {
  const { notices } = context;
  const cycle = await (await new CommandLedger(context, { onlyReads: true }).open(tenant)).cycleWithoutClaim(job);
  const { status = 'pending', created_at = null } = (await findJob(client, job)) ?? {};
  if (cycle === undefined || status === 'pending' || status === 'failed') throw notInLedger();
  notices.warn(
    `the ledger has lost which rows job ${job} has: any row of cycle ${cycle} may have been paid for with it, and is paid for again if a file has it. A machine with a copy of the claim puts it back when it next sends rows`,
  );
  await confirm(context, `Free the rows of job ${job}?`);
  await (await new CommandLedger(context).open(tenant)).giveUpClaim(job);
  notices.success(`the rows of job ${job} are free: the job stops no upload any more`);
  return { job, progress: 'rows are free', cycle, rows: null, file: null, created_at };
}

interface Judged {
  /** The job; undefined if the service does not find it. */
  readonly found: AccountUpdaterJob | undefined;
  /** Whether the rows are paid for but nobody can get the results, so that the job is closed and its rows stay. */
  readonly isPaid: boolean;
}

/**
 * Judges whether the rows of a job may be freed. They are paid for if the service says so or somebody read the results. A
 * pending job whose file the store confirmed to this machine is about to be processed, but where the service does
 * not find the job, the confirmation may have come from a proxy. A claim of unknown rows keeps every file of its cycle from
 * being sent, so it can be released although its job is completed.
 * @throws SvcError `conflict` for a job that is paid for and may have results, or is closed; `outcome_unknown` for one that
 *   the service does not find, while its absence can be proven
 */
function judged(claimed: ClaimedJob, found: AccountUpdaterJob | undefined, files: JobFiles, now: number): Judged {
  const { claim, entries } = claimed;
  const cycle = claimed.cycle.name;
  const status = found?.status;
  if (claim.row_set === null && status !== 'processing') return { found, isPaid: false };
  const why = whyPaid(claimed, found, files);
  const isRecent = now <= provableUntil(claim);
  if (!why && found === undefined && isRecent && files.sent === 'stored')
    throw doubtError([{ claim, why: 'confirmed' }], { cycle, now });
  if (!why && found === undefined && isRecent && provableFrom(claim) !== undefined)
    throw doubtError([{ claim, why: 'missing' }], { cycle, now }).with({
      hint: 'Rows are freed on your word only where nothing can be proven any more. From that time on, this command proves it:',
      next: ['au', 'resume', cycle],
    });
  if (!why) return { found, isPaid: false };
  if (found === undefined && deliveryOf(entries, claim.job) === undefined && !isRecent) return { found, isPaid: true };
  throw paidError(claimed, status, why);
}

/** Returns why the rows of a job are paid for; false if nothing says so. */
function whyPaid(
  { claim, entries }: ClaimedJob,
  found: AccountUpdaterJob | undefined,
  files: JobFiles,
): string | false {
  const status = found?.status;
  return (
    (status === 'processing' && 'the service is processing it') ||
    (status === 'completed' && 'it is completed') ||
    (wereResultsRead(entries, claim.job) && 'its results were read') ||
    (files.sent === 'stored' && status === 'pending' && 'the store confirmed its file')
  );
}

function paidError({ claim, cycle }: ClaimedJob, status: string | undefined, why: string): SvcError {
  const { job } = claim;
  const [does, next] =
    status === undefined
      ? ['The service does not find the job now. The jobs of the cycle:', ['au', 'status', cycle.name]]
      : ['To get the results:', status === 'completed' ? ['au', 'download', job] : ['au', 'resume', job, '--wait']];
  return new SvcError('conflict', `the rows of job ${job} are not free: ${why}`, {
    hint: `They are paid for, and stay in their cycle. Another cycle sends them again. ${does}`,
    next,
    facts: { job },
  });
}

function rowOfClaim({ claim, cycle }: ClaimedJob, progress: string, rows = claim.rows): AbandonedJob {
  const { job, file, created_at } = claim;
  return { job, progress, cycle: cycle.name, rows, file: cleanText(file.name), created_at };
}

/** Runs `work` with the lock of the job's files. @throws SvcError `pending` if another process sends the file */
function holdSender<T>(context: Context, files: JobFiles, work: () => Promise<T>): Promise<T> {
  return files.sent === undefined ? work() : files.hold(context.system, work);
}

async function confirm({ prompts }: Context, question: string): Promise<void> {
  await prompts().confirm(question, 'nothing was changed');
}
