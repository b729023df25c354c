import fs from 'node:fs';
import path from 'node:path';
import { SvcError, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { whileBusy } from '../../base/files/durable.ts';
import { typedWord } from '../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { cleanText } from '../../cli/output/text.ts';
import { countText, formatNumber, isoTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { removePartialFiles } from '../results/download.ts';
import { byText } from '../ledger/claims.ts';
import { CommandLedger, type JobClaim } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerOfKey } from '../ledger/named-cycle.ts';
import { jobDoubtError } from '../ledger/claim-errors.ts';
import { listedJob, provableFrom, provableUntil } from '../ledger/proof-of-absence.ts';
import { findJob, nameOf } from '../run/job.ts';
import { apply, type Part, sentOf } from '../run/part.ts';
import { needsFile, partsByJob, type RunRecord, statusOf } from '../run/record.ts';
import { everyRun, knownRunsRoot, recordedRun } from '../run/recorded-runs.ts';
import { openRuns, RECORD, type RunDirectory, type UnreadableRun } from '../run/run-directory.ts';
import { type RunRow, runRow, runView } from '../run/run-view.ts';
import { runWord } from '../run/run-word.ts';
import { applyToRun } from '../run/run.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { holdRun } from '../run/verdict.ts';
import { SentFile } from '../run/sent-file.ts';
import { wholeJobId } from '../whole-job-id.ts';

export const abandon = defineCommand({
  description:
    'For a run that will not continue. Nothing is canceled at the service: jobs that have their file are processed and may be billed. Their results can still be downloaded, and svc au resume with the run goes on with it.',
  details:
    'With a job, frees rows that may have been paid for: the claim of that job ends on your word, where nothing can be proven. A job that is paid for keeps its rows; one that the service has forgotten since is closed, so that nothing waits for its results. A run whose record cannot be read is moved to a directory named damaged beside it, after the newest jobs of the tenant have been shown.',
  examples: [
    ['svc au abandon run-20260131-0a1b2c3d-4e5f', 'show what the service has of it, and ask'],
    ['svc au resume run-20260131-0a1b2c3d-4e5f', 'go on with it after all'],
    ['svc au download run-20260131-0a1b2c3d-4e5f', 'download the results of what was uploaded'],
  ],
  exitCodes: [
    5,
    [6, 'the run is completed, or the service has the file of the job'],
    [9, 'the service does not find the job, and it can still be proven whether it has its file'],
    [11, 'another process works on the run, or on the run of the job'],
  ],
  fields: runView.fields,
  parameters: {
    run: argument('<run|job>', 'id or directory of a run, or a job whose rows are in the ledger', runWord),
  },
  async run(context, { run: typed }) {
    const print = await recordPrinter(context, runView);
    const name = fs.existsSync(typed) ? typed : await wholeJobId(context, typed);
    const freed = await releaseJob(context, name);
    if (freed) return print(freed);
    const unreadable = await unreadableRun(context, name);
    const row = unreadable ? await setAside(context, unreadable) : await abandonRun(context, name);
    return print(row);
  },
});

/**
 * Frees the rows of a job on the operator's word, where nothing can be proven, or closes a forgotten job whose results were
 * read. Returns undefined if the name is not that of a job with rows in the ledger, or whose claim the ledger has lost.
 * @throws SvcError `conflict` for a job that has its file, `pending` while a process works on its run, `outcome_unknown`
 *   while it can still be proven whether the job has its file, and if it is not known whether its ledger is that of the key
 */
async function releaseJob(context: Context, job: string): Promise<RunRow | undefined> {
  if (job.startsWith('run-') || fs.existsSync(job)) return undefined;
  const client = await context.client();
  const shown = await tenantOfKey(client);
  const reading = new CommandLedger(context, { onlyReads: true });
  const hasJob = async (ledger: Ledger): Promise<boolean> => (await ledger.cycleOfJob(job)) !== undefined;
  const find = async () => (await ledgerOfKey(context, client, reading, hasJob, { isNamed: true }))?.[0];
  const tenant = shown ?? (await recordedTenant(context, job)) ?? (await find());
  if (tenant === undefined) return undefined;
  // A claim that the ledger has lost is entered again from the run of this machine.
  if ((await reading.claimOfJob(tenant, job)) === undefined) await (await reading.open(tenant)).cycleWithoutClaim(job);
  const claimed = await reading.claimOfJob(tenant, job);
  if (claimed === undefined) return releaseLost(context, client, tenant, job);
  if (!claimed.stands) {
    // Another job may have these rows by now.
    context.notices.note(`job ${job} holds no rows any more; nothing was changed`);
    return { ...rowOfClaim(context, claimed), progress: 'holds no rows any more' };
  }
  const runs = await runsWith(context, job);
  const judge = async (claim: JobClaim): Promise<Judged> =>
    judged(claim, (await findJob(client, job)) ?? (await listedJob(client, claim.claim)), runs, client.now());
  const { found, isPaid } = await judge(claimed);
  const senders = [...runs, new SentFile(await reading.placeOf(tenant), job)];
  // If a process is sending the file, the command ends before it asks.
  await holdSenders(context, senders, async () => undefined);
  const unknown = shown === undefined ? 'shows no job of this key' : 'does not know it';
  const said = found === undefined ? unknown : `says that it is ${found.status}`;
  const risk = isPaid ? 'are paid for, and its results are lost unless a machine has them' : 'may have been paid for';
  context.notices.warn(`the rows of job ${job} ${risk}: the service ${said}`);
  if (found?.status === 'pending' && runs.length === 0)
    context.notices.warn(`svc of ${byText(claimed.claim)} may be uploading its file now: make sure that it has ended`);
  const doubt = `this key shows no jobs; check that it belongs to tenant ${tenant}`;
  if (shown === undefined) context.notices.warn(doubt);
  const question = isPaid ? `Close job ${job}? Its rows stay in their cycle.` : `Free the rows of job ${job}?`;
  await confirm(context, shown === undefined ? `${question} (${doubt})` : question);
  const ledger = new CommandLedger(context);
  const progress = await holdSenders(context, senders, async () => {
    // The job may have got its file while the question was open.
    const now = await judge((await ledger.claimOfJob(tenant, job)) ?? claimed);
    if (now.isPaid) {
      await ledger.giveUpResults(tenant, job);
      return 'closed, rows are paid for';
    }
    await ledger.release(tenant, job, `the operator; the service ${said}`);
    freeParts(runs, job);
    return 'rows are free';
  });
  noteEnd(context, job, runs, progress);
  return { ...rowOfClaim(context, claimed), status: 'abandoned', progress };
}

/**
 * Frees the rows of a job that has its file, and whose claim the ledger has lost, so that it stops every upload. Returns
 * undefined for any other job.
 */
async function releaseLost(context: Context, client: Client, tenant: string, job: string): Promise<RunRow | undefined> {
  const { notices } = context;
  const cycle = await (await new CommandLedger(context, { onlyReads: true }).open(tenant)).cycleWithoutClaim(job);
  const { status = 'pending', created_at = null } = (await findJob(client, job)) ?? {};
  if (cycle === undefined || status === 'pending' || status === 'failed') return undefined;
  notices.warn(
    `the ledger has lost which rows job ${job} has: any row of cycle ${cycle} may have been paid for with it, and is paid for again if a file has it. A machine with a copy of the claim puts it back when it next sends rows`,
  );
  await confirm(context, `Free the rows of job ${job}?`);
  await (await new CommandLedger(context).open(tenant)).giveUpClaim(job);
  notices.success(`the rows of job ${job} are free: the job stops no upload any more`);
  return {
    ...emptyRow(),
    status: 'abandoned',
    cycle,
    created_at,
    jobs: [job],
    job_count: 1,
    progress: 'rows are free',
  };
}

type Progress = 'closed, rows are paid for' | 'rows are free';

function noteEnd(context: Context, job: string, [run]: readonly RunDirectory[], progress: Progress): void {
  const { notices } = context;
  if (progress === 'rows are free')
    return notices.success(`the rows of job ${job} are free: the next submission of them sends them again`);
  notices.success(`job ${job} is closed; its rows stay in their cycle and are not sent again`);
  if (run) noteNext(context, 'to end the run that waits for it', ['au', 'abandon', run.name]);
}

interface Judged {
  /** The job; undefined if the service does not find it. */
  readonly found: AccountUpdaterJob | undefined;
  /** Whether the rows are paid for and nobody can get the results, so that the job is only closed. */
  readonly isPaid: boolean;
}

/**
 * Judges whether the rows of a job may be freed. They are paid for if the service says so or somebody read the results. A
 * pending job whose file the store confirmed to a run on this machine is about to be processed, but where the service does
 * not find the job, the confirmation may have come from a proxy. A claim of unknown rows keeps every file of its cycle from
 * being sent, so it can be released although its job is completed.
 * @throws SvcError `conflict` for a job that is paid for and may have results, or is closed; `outcome_unknown` for one that
 *   the service does not find, while its absence can be proven
 */
function judged(
  claimed: JobClaim,
  found: AccountUpdaterJob | undefined,
  runs: readonly RunDirectory[],
  now: number,
): Judged {
  const { claim, wasRead, wasDelivered } = claimed;
  const status = found?.status;
  if (claim.row_set === null && status !== 'processing') return { found, isPaid: false };
  const isStored = runs.some(({ record }) => record.parts.some((part) => isConfirmed(part, claim.job)));
  const why =
    (status === 'processing' && 'the service is processing it') ||
    (status === 'completed' && 'it is completed') ||
    (wasRead && 'its results were read') ||
    (isStored && status === 'pending' && 'the store confirmed its file');
  if (!why && found === undefined && provableFrom(claim) !== undefined && now <= provableUntil(claim))
    throw jobDoubtError(claim, claimed.cycle, now).with({
      hint: 'Rows are freed on your word only where nothing can be proven any more. From that time on, this command proves it:',
      next: ['au', 'resume', claimed.cycle],
    });
  if (!why) return { found, isPaid: false };
  if (found === undefined && !wasDelivered && now > provableUntil(claim)) return { found, isPaid: true };
  throw paidError(claimed, status, runs, why);
}

function paidError(
  { claim, cycle, wasDelivered }: JobClaim,
  status: string | undefined,
  [run]: readonly RunDirectory[],
  why: string,
): SvcError {
  const { job } = claim;
  const ends = wasDelivered && run !== undefined;
  const [does, next] =
    status === undefined
      ? ends
        ? ['To end the run that waits for the job:', ['au', 'abandon', run.name]]
        : ['The service does not find the job now. The jobs of the cycle:', ['au', 'status', cycle]]
      : ['To get the results:', status === 'completed' ? ['au', 'download', job] : ['au', 'resume', job, '--wait']];
  return new SvcError('conflict', `the rows of job ${job} are not free: ${why}`, {
    hint: `They are paid for, and stay in their cycle. Another cycle sends them again. ${does}`,
    next,
    facts: { job },
  });
}

/** Tells whether the store confirmed the file of a part that this machine sent to a job. */
function isConfirmed(part: Part, job: string): boolean {
  return part.job === job && part.joined === undefined && sentOf(part) === 'stored';
}

/** Returns the claim of a job in the form of a run. */
function rowOfClaim({ clock, settings }: Context, { claim, cycle }: JobClaim): RunRow {
  return {
    ...emptyRow(),
    run: claim.run === '' ? null : cleanText(claim.run),
    profile: settings.profile.value,
    recorded_at: isoTime(clock.now()),
    created_at: claim.created_at,
    cycle,
    file: cleanText(claim.file.name),
    rows: claim.rows,
    jobs: [claim.job],
    job_count: 1,
  };
}

/**
 * Returns the tenant of a job as a run of this profile on this machine names it, where the service has forgotten all jobs of
 * the tenant. The key of another profile may belong to another tenant.
 */
async function recordedTenant(context: Context, job: string): Promise<string | undefined> {
  const { runs } = await everyRun(context);
  const baseUrl = serviceOf(context);
  const profile = context.settings.profile.value;
  const hasJob = ({ record }: RunDirectory): boolean =>
    record.profile === profile && record.base_url === baseUrl && record.parts.some((part) => part.job === job);
  return runs.find(hasJob)?.record.tenant_id;
}

/** Returns the runs on this machine that have a job, and not yet its results. */
async function runsWith(context: Context, job: string): Promise<RunDirectory[]> {
  const { runs } = await everyRun(context);
  return runs.filter(({ record }) => record.parts.some((part) => part.job === job && part.state !== 'downloaded'));
}

/** Runs `work` while no other process of this machine sends the file. @throws SvcError `pending` if one does */
function holdSenders<T>(
  context: Context,
  [sender, ...others]: readonly Pick<RunDirectory, 'hold'>[],
  work: () => Promise<T>,
): Promise<T> {
  return sender === undefined ? work() : holdRun(context, sender, () => holdSenders(context, others, work));
}

/** Lets the runs on this machine send rows again that they sent to a job. Results that were downloaded stay. */
function freeParts(runs: readonly RunDirectory[], job: string): void {
  for (const run of runs) {
    const parts = run.record.parts.filter((part) => isWaitingFor(part, job));
    for (const part of parts) apply(part, { kind: 'freed' });
    if (parts.length > 0) run.save();
  }
}

function isWaitingFor({ state, job: of }: Part, job: string): boolean {
  return of === job && (state === 'uploaded' || state === 'unknown');
}

/** Abandons a run after showing what the service may process and bill. */
async function abandonRun(context: Context, name: string): Promise<RunRow> {
  const { notices, clock } = context;
  const run = await requireRun(context, name);
  if (statusOf(run.record) === 'abandoned') {
    notices.note(`${run.record.id} is abandoned already`);
    return runRow(run.record);
  }
  for (const line of consequencesOf(run.record)) notices.warn(line);
  await confirm(context, `Abandon ${run.record.id}?`);
  await holdRun(context, run, async () => {
    applyToRun(run.record, { kind: 'abandoned', at: clock.now() });
    run.save();
    removePartialFiles(run, run.record.parts);
  });
  if (uploadedParts(run.record).length > 0)
    noteNext(context, 'to download the results of what was uploaded', ['au', 'download', run.name]);
  noteNext(context, `abandoned ${run.record.id}; to go on with it after all`, run.resumeWords);
  return runRow(run.record);
}

async function requireRun(context: Context, name: string): Promise<RunDirectory> {
  const run = await recordedRun(context, name);
  if (!run)
    throw new SvcError(
      'not_found',
      `no run is named ${typedWord(name)}, and no rows of such a job were found in the ledger`,
      {
        hint: 'A job without its file is deleted after an hour; one that has it is processed. Runs are shown beside their jobs:',
        next: ['au', 'jobs'],
      },
    );
  if (statusOf(run.record) !== 'completed') return run;
  throw new SvcError('conflict', `run ${run.record.id} is completed: there is nothing to abandon`, {
    next: ['au', 'download', run.name],
    facts: { run: run.record.id },
  });
}

/** Returns the parts whose jobs have their file or may have it. The service processes them and may bill them. */
function uploadedParts({ parts }: RunRecord): Part[] {
  return parts.filter((part) => part.state === 'uploading' || !needsFile({ parts: [part] }));
}

function consequencesOf(record: RunRecord): string[] {
  const uploaded = uploadedParts(record);
  const all = record.input.rows;
  const rows = uploaded.reduce((sum, part) => sum + part.rows, 0);
  const lines: string[] = [];
  if (uploaded.length > 0)
    lines.push(
      `uploaded, or may have been: ${formatNumber(rows)} of ${countText(all, 'row')} (${countText(partsByJob(uploaded).length, 'job')}); the service processes them all the same, and they may be paid for`,
    );
  if (uploaded.length < record.parts.length)
    lines.push(`not uploaded, so neither processed nor paid for: ${countText(all - rows, 'row')}`);
  return lines;
}

async function confirm({ prompts }: Context, question: string): Promise<void> {
  await prompts().confirm(question, 'nothing was changed');
}

/** Returns the run of this name or directory if its record is unreadable. */
async function unreadableRun(context: Context, name: string): Promise<UnreadableRun | undefined> {
  const root = knownRunsRoot(context);
  const recorded = root !== undefined && name.startsWith('run-') ? path.join(root, path.basename(name)) : name;
  const directory = path.resolve(fs.existsSync(recorded) ? recorded : name);
  const isRun = path.basename(directory).startsWith('run-') || fs.existsSync(path.join(directory, RECORD));
  const isDirectory = fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  const { unreadable } = await openRuns(isRun && isDirectory ? [directory] : []);
  return unreadable[0];
}

/** Moves a damaged run to the directory `damaged/` beside it, after showing the newest jobs. */
async function setAside(context: Context, unreadable: UnreadableRun): Promise<RunRow> {
  const { notices, clock } = context;
  const { directory, error } = unreadable;
  notices.warn(error.message);
  await showNewestJobs(context);
  await confirm(context, `Move ${directory} to damaged?`);
  const target = moveToDamaged(directory, clock.now());
  notices.success(`moved to ${target}; its file can be submitted again, without the rows that the ledger has`);
  return { ...emptyRow(), run: path.basename(directory), status: 'damaged', progress: target };
}

/** Returns a row without any value. */
function emptyRow(): RunRow {
  return Object.fromEntries(runView.fields.map((name) => [name, null])) as Record<keyof RunRow, null>;
}

/** Lists the newest jobs of the tenant, because one of them may contain the rows of the damaged run. */
async function showNewestJobs(context: Context): Promise<void> {
  const client = await context.client();
  const jobs = await client.accountUpdater.list({ pageSize: 20 }).first(20);
  if (jobs.length === 0) return context.notices.note('the service has no jobs of this tenant');
  const lines = jobs.map((job) => `  ${nameOf(job)}  ${job.status ?? 'unknown'}  ${job.created_at ?? ''}`.trimEnd());
  context.notices.warn(["one of the tenant's newest jobs may contain these rows and be billed:", ...lines].join('\n'));
}

function moveToDamaged(directory: string, now: number): string {
  const { dir, base } = path.parse(directory);
  const free = path.join(dir, 'damaged', base);
  const target = fs.existsSync(free) ? `${free}.${now}` : free;
  try {
    makeDirectory(path.dirname(target));
    whileBusy(() => fs.renameSync(directory, target));
    return target;
  } catch (error) {
    throw writeFailure(target, error);
  }
}
