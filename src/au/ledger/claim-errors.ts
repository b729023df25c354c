import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import { countText, formatDuration, formatNumber, isoTime, utcTime } from '../../cli/output/time.ts';
import { byText } from './claims.ts';
import type { ClaimEntry } from './entry.ts';
import { isFileCycle } from './file-cycle.ts';
import { provableFrom, provableUntil } from './proof-of-absence.ts';
import type { Taken } from './settle-claims.ts';

/** The file that is to be sent, in the words of messages. */
export interface NamedFile {
  readonly name: string;
  readonly cycle: string;
  /** Whether the operator named the cycle. Otherwise the name is made from the rows of the file. */
  readonly isNamed: boolean;
}

/** Returns the error for a file of which other jobs have rows, where all of it must be sent in one job. */
export function takenError(file: NamedFile, taken: readonly Taken[], rows: number, now: number): SvcError {
  const shared = Math.min(
    rows,
    taken.reduce((sum, one) => sum + one.rows, 0),
  );
  const jobs = taken.map(({ claim }) => claim.job);
  const [first] = taken;
  const others = taken.length > 1 ? ` and in ${countText(taken.length - 1, 'other job')}` : '';
  return new SvcError(
    'conflict',
    `${formatNumber(shared)} of ${countText(rows, 'row')} of ${file.name} are in ${cycleText(file)} already: ${first ? whoText(first, now) : ''}${others}; nothing was sent`,
    {
      hint: `Their results come from ${jobs.length === 1 ? 'that job' : 'those jobs'}. To send only the other rows, submit the file.`,
      next: ['au', 'resume', jobs[0] ?? '', '--wait'],
      alternatives: [['au', 'status', jobs[0] ?? '']],
      retryable: false,
      facts: { jobs, rows: shared, cycle: file.cycle },
    },
  );
}

/** Returns the error for rows of which it is not known whether the service has them. */
export function doubtError(file: NamedFile, { claim, rows }: Taken, now: number): SvcError {
  return new SvcError(
    'outcome_unknown',
    `whether the service has ${countText(rows, 'row')} of ${file.name} (job ${claim.job}, sent by ${byText(claim)}) ${knownText(claim, now)}; nothing was sent`,
    { ...doubtDetails(claim, now), facts: { job: claim.job, rows, ...settledAfter(claim, now) } },
  );
}

/** Returns the error for a job of which it is not known whether the service has its rows. */
export function jobDoubtError(claim: ClaimEntry, cycle: string, now: number): SvcError {
  return new SvcError(
    'outcome_unknown',
    `whether the service has the rows of ${jobText(claim, cycle)} ${knownText(claim, now)}`,
    { ...doubtDetails(claim, now), facts: { job: claim.job, cycle, rows: claim.rows } },
  );
}

/** Returns the error for a job to which this machine sent the whole file without a response that it was stored. */
export function sentDoubtError(claim: ClaimEntry, cycle: string, now: number): SvcError {
  const from = provableFrom(claim);
  const when = from !== undefined && from > now ? ` at ${utcTime(from)} by the service's clock at the latest` : '';
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: the whole file of ${jobText(claim, cycle)} was sent, no response said that it was stored, and the job is still pending`,
    {
      hint: `Nothing is sent again. Run the same command again later: this is settled${when}.`,
      next: ['au', 'status', claim.job],
      retryable: true,
      facts: { job: claim.job, cycle, rows: claim.rows, ...settledAfter(claim, now) },
    },
  );
}

/** Returns the error for a job whose file the store confirmed to this machine, and which the service does not find. */
export function confirmedDoubtError(claim: ClaimEntry, cycle: string, now: number): SvcError {
  const { job, rows } = claim;
  const facts = { job, cycle, rows };
  const message = `the store confirmed the file of ${jobText(claim, cycle)}, and the service does not find the job`;
  const until = provableUntil(claim);
  if (now > until) return new SvcError('outcome_unknown', message, { ...doubtDetails(claim, now), facts });
  return new SvcError('outcome_unknown', message, {
    hint: `Nothing is sent again. The service may lag: run the same command again later. If it does not find the job after ${utcTime(until)}, its rows can be freed on your word.`,
    next: ['au', 'status', job],
    retryable: true,
    facts,
  });
}

/** Returns the command that submits a file in a cycle. A file without a cycle is submitted by its name alone. */
export function submitWords(file: string, cycle: string): string[] {
  return ['au', 'submit', file, ...(isFileCycle(cycle) ? [] : ['--cycle', cycle])];
}

/** Names a job with its rows, and says who sent them. */
export function jobText(claim: ClaimEntry, cycle: string): string {
  const { job, rows, file } = claim;
  return `job ${job} with ${countText(rows, 'row')}${ofCycle(cycle)}, sent by ${byText(claim)} as ${file.name}`;
}

/** Names a cycle; a file without one has no name for it. */
function ofCycle(cycle: string): string {
  return isFileCycle(cycle) ? '' : ` of cycle ${cycle}`;
}

/** Returns what to do about a claim whose job the service does not find: wait for a proof, or decide without one. */
function doubtDetails(claim: ClaimEntry, now: number): ErrorDetails {
  const next = ['au', 'status', claim.job];
  if (now <= provableUntil(claim)) {
    const when = (provableFrom(claim) ?? now) > now ? 'after that' : 'later';
    return { hint: `Run the same command again ${when}. Nothing is sent until then.`, next, retryable: true };
  }
  return {
    hint: 'Find out what became of the job. Only if its file was not processed, free its rows with the second of these commands and submit them again: rows that were processed are then paid for twice.',
    next,
    alternatives: [['au', 'abandon', claim.job]],
    retryable: false,
  };
}

/**
 * Returns the error for a job that the service does not find, and whose results were read only for the tokens that they
 * made: its rows are paid for. `again` is the command that looks for it later.
 */
export function lostResultsError(claim: ClaimEntry, now: number, again: readonly string[]): SvcError {
  const { job } = claim;
  const paid = `The rows are paid for and are not sent again, and ${byText(claim)} may have the results.`;
  const mayLag = now <= provableUntil(claim);
  return new SvcError(
    'outcome_unknown',
    `the service does not find job ${job} with ${countText(claim.rows, 'row')} of ${claim.file.name}, whose results were read only for the tokens that they made`,
    {
      hint: mayLag
        ? `${paid} The service may lag: run the same command again later.`
        : `${paid} If nobody needs them, close the job, which frees no rows:`,
      next: mayLag ? again : ['au', 'abandon', job],
      retryable: mayLag,
      facts: { job, rows: claim.rows },
    },
  );
}

/**
 * Returns the error for a job that a response of this command showed as completed and a later read does not find. `again` is
 * the command that looks for it later.
 */
export function shownJobError(claim: ClaimEntry, cycle: string, again: readonly string[]): SvcError {
  const { job, rows } = claim;
  return new SvcError(
    'outcome_unknown',
    `job ${job} with ${countText(rows, 'row')}${ofCycle(cycle)} is not found, though the service just showed it as completed`,
    {
      hint: 'The service may lag: try again in a few minutes. The rows are paid for, and nothing is sent again.',
      next: again,
      retryable: true,
      facts: { job, cycle, rows },
    },
  );
}

/** Returns the error for jobs that the service has forgotten, so that the results of a cycle lack their rows. */
export function missingResultsError(cycle: string, claims: readonly ClaimEntry[]): SvcError {
  const rows = claims.reduce((sum, claim) => sum + claim.rows, 0);
  const jobs = claims.map(
    (claim) => `job ${claim.job} with ${countText(claim.rows, 'row')} of ${claim.file.name}, sent by ${byText(claim)}`,
  );
  return new SvcError(
    'outcome_unknown',
    `the results of ${countText(rows, 'row')}${ofCycle(cycle)} are missing: the service does not find ${jobs.join('; or ')}`,
    {
      hint: 'These rows are paid for and are not sent again. A machine that has their results writes all of them with the same command. The jobs of the cycle:',
      next: ['au', 'status', cycle],
      retryable: false,
      facts: { cycle, jobs: claims.map(({ job }) => job), rows },
    },
  );
}

/** Returns the error for a job of the cycle whose rows are unknown, so that any row of the file may be among them. */
export function unknownRowsError(file: NamedFile, claim: ClaimEntry): SvcError {
  return new SvcError(
    'outcome_unknown',
    `the rows of job ${claim.job} in ${cycleText(file)}, sent by ${byText(claim)} as ${claim.file.name}, are not known: no copy of them was found; nothing was sent`,
    {
      hint: `Rows of ${file.name} may be among them. Get the results of that job. Only if they have none of these rows, free them with the second of these commands and submit the file again: rows that are sent twice are paid for twice.`,
      next: ['au', 'status', claim.job],
      alternatives: [['au', 'abandon', claim.job]],
      retryable: false,
      facts: { job: claim.job, cycle: file.cycle },
    },
  );
}

/** Says when it is known whether the service has the rows of a claim whose job it does not find. */
export function knownText(claim: Pick<ClaimEntry, 'created_at' | 'expires_at'>, now: number): string {
  if (now > provableUntil(claim))
    return 'cannot be proven any more: the service does not find the job, and may have forgotten it after 7 days';
  const from = provableFrom(claim);
  return from !== undefined && from > now
    ? `is known at ${utcTime(from)} by the service's clock`
    : 'is not known yet: the service does not find the job';
}

function settledAfter(claim: ClaimEntry, now: number): { settled_after?: string } {
  const from = provableFrom(claim);
  return from !== undefined && from > now ? { settled_after: isoTime(from) } : {};
}

/** Returns the error for rows whose job failed on another machine. The next command sends them. */
export function failedElsewhere(file: NamedFile, { claim, rows }: Taken): SvcError {
  return new SvcError(
    'job_failed',
    `job ${claim.job} with ${countText(rows, 'row')} of ${file.name} failed: ${byText(claim)} sent it as ${claim.file.name}; nothing was sent now`,
    {
      hint: 'Nothing was billed for that job. Run the same command again, which sends its rows in another one.',
      next: ['au', 'status', claim.job],
      retryable: true,
      facts: { job: claim.job, rows },
    },
  );
}

/** Returns the error for a file whose tokens all came from results of its cycle. */
export function newTokensError(file: NamedFile, made: number): SvcError {
  return new SvcError(
    'conflict',
    `${countText(made, 'token')} of ${file.name} came from the results of ${cycleText(file)}; nothing was sent`,
    { hint: 'They are up to date in this cycle.', facts: { new_tokens: made, cycle: file.cycle } },
  );
}

/** Says how many of the rows of a file results of its cycle made. `of` names the rows. */
export function madeText(made: number, of: string, file: Pick<NamedFile, 'cycle' | 'isNamed'>): string {
  return `${formatNumber(made)} of ${of} have tokens that results of ${cycleText(file)} made, and are up to date`;
}

/** Returns the error for results that could not be read, whose new tokens must not be paid for in the cycle that made them. */
export function unreadError(error: SvcError, job: string): SvcError {
  return error.with({
    code: 'outcome_unknown',
    message: `the results of job ${job} could not be read, and rows with tokens that they made would be billed again: ${error.message}; nothing was sent`,
    hint: 'Run the same command again later. If it stays so, get these results once, on any machine that shares the ledger:',
    next: ['au', 'download', job],
    retryable: true,
    facts: { job },
  });
}

/**
 * Returns the error for results that a machine must not deliver: their new tokens would be paid for in the cycle that made
 * them, since the ledger does not know them.
 */
export function undeliveredError(error: SvcError, job: string): SvcError {
  return error.with({
    message: `the results of job ${job} were not delivered: the ledger does not know their new tokens yet, and this machine may only read it`,
    hint: 'Get the results once on a machine that may write to the ledger, with the command below. Then run the same command here again.',
    next: ['au', 'download', job],
    facts: { job },
  });
}

export function cycleText({ cycle, isNamed }: Pick<NamedFile, 'cycle' | 'isNamed'>): string {
  return isNamed ? `cycle ${cycle}` : 'the ledger';
}

/** Says who sent the rows of a claim, when, and what became of its job. */
export function whoText({ claim, status }: Taken, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(claim.created_at)));
  return `sent by ${byText(claim)}, ${age} ago, job ${claim.job} (${status ?? 'no longer known to the service'})`;
}
