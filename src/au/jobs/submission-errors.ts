import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, formatNumber } from '../../cli/output/time.ts';
import { byText, type Taken } from '../ledger/claims.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';

/** The file that is to be sent, in the words of messages. */
export interface NamedFile {
  readonly name: string;
  readonly cycle: string;
  /** Whether the operator named the cycle. Otherwise the name is made from the rows of the file. */
  readonly isNamed: boolean;
}

/** Returns the command that submits a file in a cycle. A file without a cycle is submitted by its name alone. */
export function submitWords(file: string, cycle: string): string[] {
  return ['au', 'submit', file, ...(isFileCycle(cycle) ? [] : ['--cycle', cycle])];
}

/** Returns the error for a file of which other jobs have rows, where all of it must be sent in one job. */
export function takenError(file: NamedFile, taken: readonly Taken[], rows: number, now: number): SvcError {
  const shared = Math.min(
    rows,
    taken.reduce((sum, one) => sum + one.rows, 0),
  );
  const jobs = taken.map(({ claim }) => claim.job);
  const who = taken.map((one) => whoText(one, now)).join('; ');
  return new SvcError(
    'conflict',
    `${formatNumber(shared)} of ${countText(rows, 'row')} of ${file.name} are in ${cycleText(file)} already: ${who}; nothing was sent`,
    {
      hint: `Their results come from ${jobs.length === 1 ? 'that job' : 'those jobs'}. To send only the other rows, submit the file.`,
      next: ['au', 'resume', jobs[0] ?? '', '--wait'],
      alternatives: [['au', 'status', jobs[0] ?? '']],
      retryable: false,
      facts: { jobs, rows: shared, cycle: file.cycle },
    },
  );
}

/** Returns the error for rows whose jobs failed on another machine. The next command sends them. */
export function failedElsewhere(file: NamedFile, failed: readonly Taken[]): SvcError {
  const jobs = failed.map(({ claim }) => claim.job);
  const what = failed.map(
    ({ claim, rows }) =>
      `job ${claim.job} with ${countText(rows, 'row')} of ${file.name} failed: ${byText(claim)} sent it as ${claim.file.name}`,
  );
  return new SvcError('job_failed', `${what.join('; ')}; nothing was sent now`, {
    hint: `Nothing was billed for ${jobs.length === 1 ? 'that job' : 'these jobs'}. Run the same command again, which sends the rows in another one.`,
    next: ['au', 'status', jobs[0] ?? ''],
    retryable: true,
    facts: {
      ...(jobs.length === 1 ? { job: jobs[0] } : { jobs }),
      rows: failed.reduce((sum, { rows }) => sum + rows, 0),
    },
  });
}

/** Returns the error for a file whose tokens all came from results of its cycle. */
export function newTokensError(file: NamedFile, made: number): SvcError {
  return new SvcError(
    'conflict',
    `${countText(made, 'token')} of ${file.name} came from the results of ${cycleText(file)}; nothing was sent`,
    { hint: 'They are up to date in this cycle.', facts: { new_tokens: made, cycle: file.cycle } },
  );
}

export function cycleText({ cycle, isNamed }: Pick<NamedFile, 'cycle' | 'isNamed'>): string {
  return isNamed ? `cycle ${cycle}` : 'the ledger';
}

/** Says who sent the rows of a claim, when, and what became of its job. */
export function whoText({ claim, status }: Taken, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(claim.created_at)));
  const became = status === null ? 'not read in a dry run' : (status ?? 'no longer known to the service');
  return `sent by ${byText(claim)}, ${age} ago, job ${claim.job} (${became})`;
}
