import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText, parseTime } from '../../cli/output/time.ts';
import { missingError } from '../run/job.ts';
import { everyJobOf, type Part, sentOf } from '../run/part.ts';
import { isOfSandbox } from '../run/record.ts';
import { requireHere, silentRuns } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { missingPartError } from '../run/run-errors.ts';
import { SentFile } from '../run/sent-file.ts';
import { byText } from './claims.ts';
import { jobDoubtError, lostResultsError } from './claim-errors.ts';
import type { JobClaim } from './command-ledger.ts';
import { provableUntil } from './proof-of-absence.ts';

/**
 * Replaces the error that the service does not find a job by one that says what this machine and the ledger know of it.
 * @throws SvcError `outcome_unknown` for a job that has its file, or may have it
 */
export async function explainMissing<T>(context: Context, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    throw await missingJobError(context, id);
  }
}

/** Tells whether a job that the service does not find now may be found later, because it has its file or may have it. */
export async function mayBeFound(context: Context, id: string): Promise<boolean> {
  const { code, retryable } = await missingJobError(context, id);
  return code === 'outcome_unknown' && retryable;
}

async function missingJobError(context: Context, id: string): Promise<SvcError> {
  const now = (await context.client()).now();
  const found = await recordedPart(context, id);
  if (found !== undefined) return ofPart(context, id, found, now);
  // Without a state directory, there is no ledger either.
  if (directoryOf(context.system, 'state') === undefined) return missingError(id);
  try {
    return await ofLedger(context, id, now);
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    const message = `job ${id} is not found, and whether its file was sent is not known: ${error.message}`;
    return error.with({ code: 'outcome_unknown', message, facts: { job: id } });
  }
}

interface RecordedPart {
  readonly run: RunDirectory;
  readonly part: Part;
}

/** Finds a part that has or had a job, preferably the part that was to send its file. */
async function recordedPart(context: Context, id: string): Promise<RecordedPart | undefined> {
  const isSandbox = serviceOf(context) === 'sandbox';
  const runs = (await silentRuns(context)).filter(({ record }) => isOfSandbox(record) === isSandbox);
  const found = runs.flatMap((run) => run.record.parts.map((part) => ({ run, part })));
  const having = found.filter(({ part }) => part.job === id);
  return (
    having.find(({ part }) => part.joined === undefined) ??
    having[0] ??
    found.find(({ part }) => everyJobOf(part).includes(id))
  );
}

function ofPart(context: Context, id: string, { run, part }: RecordedPart, now: number): SvcError {
  requireHere(context, run);
  const isCurrent = part.job === id;
  const ended = isCurrent ? part.state : part.earlier_jobs?.findLast(({ job }) => job === id)?.ended;
  if (ended === 'failed' || ended === 'gone')
    return new SvcError(
      'job_expired',
      `job ${id} is not found: it ${ended === 'failed' ? 'failed' : 'was deleted without its file'}, as ${run.record.id} recorded`,
      {
        status: 404,
        hint: 'Nothing was billed for that job. What became of its rows:',
        next: ['au', 'status', run.name],
        facts: { job: id, run: run.record.id },
      },
    );
  if (sentOf(part) !== 'some') return missingPartError(run, part);
  const expiresAt = parseTime(part.expires_at ?? '');
  return missingError(id, expiresAt === undefined ? undefined : { expiresAt, now });
}

/** Returns what the ledgers say of a job that no run on this machine has, or what this machine recorded of `au upload`. */
async function ofLedger(context: Context, id: string, now: number): Promise<SvcError> {
  const { CommandLedger } = await import('./command-ledger.ts');
  const ledger = new CommandLedger(context, { onlyReads: true });
  for await (const [tenant] of ledger.everyTenant()) {
    const claimed = await ledger.claimOfJob(tenant, id);
    if (claimed) return ofClaim(claimed, new SentFile(await ledger.placeOf(tenant), id), now);
  }
  if (!ledger.mayHaveSent(id)) return missingError(id);
  return new SvcError(
    'outcome_unknown',
    `job ${id} is not found, though it may have the file that svc au upload sent from this machine`,
    {
      hint: 'The ledger that is set does not have the job. The service may lag: try again in a few minutes. Nothing is sent again.',
      next: ['au', 'jobs'],
      retryable: true,
      facts: { job: id },
    },
  );
}

function ofClaim({ claim, cycle, stands, wasRead, wasDelivered }: JobClaim, sent: SentFile, now: number): SvcError {
  const { job } = claim;
  if (wasDelivered)
    return new SvcError(
      'outcome_unknown',
      `the service does not find job ${job} with ${countText(claim.rows, 'row')} of ${claim.file.name}, whose results were read before`,
      {
        hint: `It forgets jobs after a while, or may lag. Take the results from the machine that has them; the rows were sent by ${byText(claim)}. Nothing is sent again.`,
        next: ['au', 'status', cycle],
        retryable: now <= provableUntil(claim),
        facts: { job, cycle, rows: claim.rows },
      },
    );
  if (wasRead) return lostResultsError(claim, now, ['au', 'resume', cycle]);
  // A claim that ended, or the record of an upload of which only a part was sent, says that nothing is billed.
  if (!stands) return missingError(job);
  const expiresAt = parseTime(claim.expires_at ?? '');
  if (claim.run === '' && !sent.mayBeWhole)
    return missingError(job, expiresAt === undefined ? undefined : { expiresAt, now });
  const doubt = jobDoubtError(claim, cycle, now);
  if (!doubt.retryable) return doubt;
  return doubt.with({ hint: 'Nothing is sent again until then. To find out:', next: ['au', 'resume', cycle] });
}
