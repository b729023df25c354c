import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { countText } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { otherCycles, requireOtherRows } from '../ledger/begin-cycle.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { madeText, type NamedFile, newTokensError } from '../ledger/claim-errors.ts';
import { standingClaims } from '../ledger/claims.ts';
import { isDone } from '../ledger/is-done.ts';
import type { Division } from '../ledger/divide-rows.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { settleClaim } from '../ledger/settle-claims.ts';
import { requireClearName } from '../run/cycle-name.ts';
import { findJob } from '../run/job.ts';
import { partSource } from '../run/part-source.ts';
import { apply, type EarlierJob, type Part } from '../run/part.ts';
import { Polled, recordPoll, workOn } from '../run/poll-parts.ts';
import { applyToRun } from '../run/run.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { dividedParts } from './begin-run.ts';
import { confirmWords, NOT_CONFIRMED } from './confirm-options.ts';
import { resultsReader } from './read-results.ts';
import type { SpareJob } from './spare-job.ts';
import type { SendOptions } from './strangers.ts';

interface Dividing {
  readonly ledger: CommandLedger;
  readonly spare: SpareJob;
  /** The file with all rows of the run. */
  readonly file: string;
  readonly typed: SendOptions;
}

/**
 * Compares the parts that have no job with the ledger, and divides them if other jobs have some of their rows: this run
 * then waits for these jobs, and sends the rest. The caller must have locked the run.
 * @throws SvcError `job_failed` if a job that had some of the rows failed elsewhere; `conflict`, `pending` for a cycle that
 *   begins with the rows of another one
 */
export async function divideParts(
  context: Context,
  client: Client,
  run: RunDirectory,
  { ledger, spare, file, typed: { confirmed = NOT_CONFIRMED, options = [] } }: Dividing,
): Promise<void> {
  const { record } = run;
  const planned = record.parts.filter(({ job }) => job === undefined);
  if (planned.length === 0) return;
  const tenant = record.tenant_id ?? (await tenantOfKey(client)) ?? (await spare.get()).tenant_id ?? '';
  requireKnownTenant(context, tenant, 'nothing was uploaded');
  const earlier = record.parts.flatMap((part) => part.earlier_jobs ?? []);
  const { name, sha256, submitted_sha256: submitted = sha256 } = record.input;
  const whole = { sha256, source: await fileSource(file) };
  const { rows, named, isBegun, division } = await ledger.compare(client, {
    tenant,
    file: { name, cycle: record.cycle, whole, submitted, run: record.id },
    parts: await Promise.all(
      planned.map(async (part) => ({ sha256: part.sha256, source: await partSource(part, run, file) })),
    ),
    // Only where no other machine has this ledger is the record as good as the ledger. Of a job whose file was sent as a
    // whole, the record does not know whether it came.
    ended: ledger.isShared ? undefined : jobsOf(earlier.filter(hadNoFile)),
    shown: jobsOf(earlier.filter(({ ended }) => ended === 'failed')),
    newer: () => spare.get(),
    read: resultsReader(context, client, ledger),
  });
  if (!isBegun) requireClearName(record.cycle);
  if (!isBegun && !confirmed.payAgain) {
    const others = await otherCycles(await ledger.open(tenant), named.cycle, rows, sha256);
    const words = submitWordsOf(run, [...confirmWords(confirmed), ...options]);
    const beginning = { name, rows: rows.rows.size, cycle: record.cycle, words, now: client.now() };
    await requireOtherRows(client, others, beginning);
  }
  if (division === undefined) return;
  reportDivision(context, named, division, rows.rows.size);
  const isEmpty = division.free.length === 0 && division.joined.length === 0;
  if (isEmpty && planned.length === record.parts.length)
    throw newTokensError(named, division.made).with({ next: ['au', 'abandon', run.name] });
  const { parts, files } = dividedParts(division, 1 + Math.max(...record.parts.map(({ number }) => number)));
  for (const [name, path] of files) run.addRowsFile(name, path);
  const since = planned.flatMap(({ creating_since: at }) => at ?? []).toSorted()[0];
  applyToRun(record, {
    kind: 'divided',
    parts: [...record.parts.filter(({ job }) => job !== undefined), ...parts.map((part) => unclearSince(part, since))],
  });
  run.save();
}

/** Returns the command that submits the file of a run, with these options. */
function submitWordsOf({ record, submitWords }: RunDirectory, options: readonly string[]): string[] {
  const onlyRecorded = record.no_unrecorded_jobs === true ? ['--only-recorded'] : [];
  return [...submitWords.slice(0, 3), ...onlyRecorded, ...options];
}

/** Says which rows of a run are not sent, and why. */
function reportDivision(
  { notices }: Context,
  { name, cycle, isNamed }: NamedFile,
  { joined, made }: Division,
  rows: number,
): void {
  if (joined.length > 0)
    notices.note(`other jobs have rows of ${name}: ${joined.map(({ claim }) => claim.job).join(', ')}`);
  if (made > 0) notices.note(madeText(made, `${countText(rows, 'row')} of ${name}`, { cycle, isNamed }));
}

function jobsOf(jobs: readonly EarlierJob[]): ReadonlySet<string> {
  return new Set(jobs.map(({ job }) => job));
}

/** Tells whether a job certainly ended without its file. */
function hadNoFile({ ended, sent_at: at }: EarlierJob): boolean {
  return ended === 'gone' && at === undefined;
}

/** An earlier request for a job may still have created one, which the search for unknown jobs must know. */
function unclearSince(part: Part, since: string | undefined): Part {
  return part.state === 'planned' && since !== undefined ? { ...part, state: 'creating', creating_since: since } : part;
}

/**
 * Ends the claims of other runs that this run waits for, where the service's word allows it, so that their rows can be
 * sent. A job that failed is replaced once the operator has seen that. The caller must have locked the run.
 */
export async function settleJoined(
  client: Client,
  run: RunDirectory,
  {
    ledger,
    spare,
    retriesFailed = false,
  }: Pick<Dividing, 'ledger' | 'spare'> & { retriesFailed?: boolean | undefined },
): Promise<void> {
  const { record } = run;
  for (const part of record.parts.filter(mayHaveEnded)) {
    const opened = await ledger.open(record.tenant_id ?? '');
    const isSeen = part.state === 'failed';
    const end = await endOfClaim(client, opened, run, part, spare);
    if (end === undefined) continue;
    const failed = end === 'failed' ? await findJob(client, part.job ?? '') : undefined;
    if (failed?.status === 'failed' && !(isSeen && retriesFailed)) {
      await recordPoll(workOn(client, run), part, failed);
      continue;
    }
    apply(part, { kind: 'freed' });
    run.save();
  }
}

/**
 * Polls the jobs of other runs whose files are in doubt, so that the command says of them what it read: a job may be there
 * again, and the absence of an old one proves nothing any more. The caller must have locked the run.
 */
export async function pollJoinedDoubts(client: Client, run: RunDirectory): Promise<void> {
  const doubtful = run.record.parts.filter((part) => part.joined !== undefined && part.state === 'unknown');
  if (doubtful.length > 0) await Polled.once(workOn(client, run), doubtful);
}

/**
 * Returns why the claim of a part's job ended, before this or now; undefined if it stands. Also notes in the part
 * that somebody read the results of the job.
 */
async function endOfClaim(
  client: Client,
  ledger: Ledger,
  run: RunDirectory,
  part: Part,
  spare: SpareJob,
): Promise<'failed' | 'gone' | 'operator' | undefined> {
  const { job = '', joined, state } = part;
  const cycle = await ledger.cycleOfJob(job);
  if (cycle === undefined) return undefined;
  const entries = [...(await cycle.read())];
  const claim = standingClaims(entries).find((each) => each.job === job);
  if (claim === undefined)
    return entries.filter((entry) => entry.kind === 'release').findLast((entry) => entry.job === job)?.why;
  if (joined === undefined) return undefined;
  const settled = await settleClaim(
    client,
    cycle,
    { claim, isDone: isDone(entries, job) },
    { newer: () => spare.get() },
  );
  const wasRead = settled.end === undefined && settled.isDone;
  if (wasRead && !joined.delivered && (state === 'uploaded' || state === 'unknown')) {
    apply(part, { kind: 'delivered' });
    run.save();
  }
  return settled.end;
}

/** Tells whether the job of another run may have ended without results, or the operator may have freed rows in doubt. */
export function mayHaveEnded(part: Part): boolean {
  if (part.joined === undefined) return part.state === 'unknown';
  if (part.state === 'downloaded') return false;
  return (
    part.state === 'failed' || part.state === 'unknown' || part.missing_since !== undefined || part.seen === 'pending'
  );
}
