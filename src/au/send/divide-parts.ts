import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { otherCycles, requireOtherRows } from '../ledger/begin-cycle.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { endClaim, isDone, standingClaims } from '../ledger/claims.ts';
import { proofOfAbsence } from '../ledger/proof-of-absence.ts';
import { findJob } from '../run/job.ts';
import { partSource } from '../run/part-source.ts';
import { apply, type EarlierJob, type Part } from '../run/part.ts';
import { applyToRun } from '../run/run.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { dividedParts } from './begin-run.ts';
import type { SpareJob } from './spare-job.ts';

interface Dividing {
  readonly ledger: CommandLedger;
  readonly spare: SpareJob;
  /** The file with all rows of the run. */
  readonly file: string;
  /** Whether a cycle may begin with rows that another one has. */
  readonly begin?: boolean | undefined;
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
  { ledger, spare, file, begin = false }: Dividing,
): Promise<void> {
  const { record } = run;
  const planned = record.parts.filter(({ job }) => job === undefined);
  if (planned.length === 0) return;
  const tenant = record.tenant_id ?? (await tenantOfKey(client)) ?? (await spare.get()).tenant_id ?? '';
  const earlier = record.parts.flatMap((part) => part.earlier_jobs ?? []);
  const jobsOf = (jobs: readonly EarlierJob[]): ReadonlySet<string> => new Set(jobs.map(({ job }) => job));
  const { name } = record.input;
  const { rows, named, isBegun, division } = await ledger.compare(client, {
    tenant,
    file: { name, cycle: record.cycle, whole: { sha256: record.input.sha256, source: await fileSource(file) } },
    parts: await Promise.all(
      planned.map(async (part) => ({ sha256: part.sha256, source: await partSource(part, run, file) })),
    ),
    // Only where no other machine has this ledger is the record as good as the ledger. Of a job whose file was sent as a
    // whole, the record does not know whether it came.
    ended: ledger.isShared ? undefined : jobsOf(earlier.filter(hadNoFile)),
    shown: jobsOf(earlier.filter(({ ended }) => ended === 'failed')),
    newer: () => spare.get(),
  });
  if (!isBegun && !begin) {
    const others = await otherCycles(await ledger.open(tenant), named.cycle, rows);
    const words = run.submitWords.slice(0, 3);
    await requireOtherRows(client, others, { name, rows, cycle: record.cycle, words, now: client.now() });
  }
  if (division === undefined) return;
  const { parts, files } = dividedParts(division, 1 + Math.max(...record.parts.map(({ number }) => number)));
  for (const [name, path] of files) run.addRowsFile(name, path);
  const since = planned.flatMap(({ creating_since: at }) => at ?? []).toSorted()[0];
  applyToRun(record, {
    kind: 'divided',
    parts: [...record.parts.filter(({ job }) => job !== undefined), ...parts.map((part) => unclearSince(part, since))],
  });
  run.save();
  context.notices.note(`other jobs have rows of ${name}: ${division.joined.map(({ claim }) => claim.job).join(', ')}`);
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
 * sent. The caller must have locked the run.
 */
export async function settleJoined(
  client: Client,
  run: RunDirectory,
  { ledger, spare }: Pick<Dividing, 'ledger' | 'spare'>,
): Promise<void> {
  const { record } = run;
  for (const part of record.parts.filter(mayHaveEnded)) {
    const { job = '' } = part;
    const opened = await ledger.open(record.tenant_id ?? '');
    const cycle = await opened.cycleOfJob(job);
    const entries = [...((await cycle?.read()) ?? [])];
    const claim = standingClaims(entries).find((each) => each.job === job);
    const isReleased = entries.some((entry) => entry.kind === 'release' && entry.job === job);
    if (cycle === undefined || (claim === undefined && !isReleased)) continue;
    if (claim !== undefined && (part.joined === undefined || isDone(entries, job))) continue;
    if (claim !== undefined) {
      const found = await findJob(client, job);
      const isProvable = part.joined?.provable_at !== undefined && client.now() >= Date.parse(part.joined.provable_at);
      if (found?.status === 'failed')
        await endClaim(cycle, job, {
          kind: 'release',
          job,
          why: 'failed',
          proof: `the service said that job ${job} failed`,
        });
      else if (found === undefined && isProvable) {
        const proof = await proofOfAbsence(client, claim, await spare.get());
        if (proof === undefined) continue;
        await endClaim(cycle, job, { kind: 'release', job, why: 'gone', proof });
      } else continue;
    }
    apply(part, { kind: 'freed' });
    run.save();
  }
}

/** Tells whether the job of another run may have ended without results, or the operator may have freed rows in doubt. */
export function mayHaveEnded(part: Part): boolean {
  if (part.joined === undefined) return part.state === 'unknown';
  return (
    part.state === 'failed' || part.state === 'unknown' || part.missing_since !== undefined || part.seen === 'pending'
  );
}
