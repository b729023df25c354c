import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { countText, formatDuration, formatNumber } from '../../cli/output/time.ts';
import { type CycleRows, nameOf, type SharedRows } from './cycle-rows.ts';
import { statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';

/** The facts about a submission within a cycle, for errors and notices. */
export interface Sending {
  readonly cycle: string;
  /** The request file's name as the operator typed it. */
  readonly name: string;
  /** The command that submits the file, as the words after `svc`. */
  readonly words: readonly string[];
  /** The run to resume, if it is one that has already sent something. */
  readonly resumed?: RunDirectory | undefined;
  readonly now: number;
}

const NOTHING = 'nothing was submitted';

/**
 * Fails if some rows cannot be compared, because no row can then be known to be new.
 * @throws SvcError `config` for a damaged record or an unknown tenant, `conflict` for a run that is being sent or has
 *   no copy of its file
 */
export function requireComparable(rows: CycleRows, sending: Sending): void {
  const { damaged, incomparable, shared } = rows;
  if (damaged) throw damagedError(damaged, sending);
  const unknown = shared.find(({ relation }) => relation === 'unknown');
  if (unknown) throw unknownTenantError(unknown, sending);
  const held = shared.find(({ unsent }) => unsent > 0);
  if (held) throw heldError(held, sending);
  if (incomparable) throw incomparableError(incomparable, sending);
}

/** Checks that no run of the cycle has any of the rows. @throws SvcError `conflict` */
export function requireNew(rows: CycleRows, sending: Sending): void {
  if (rows.shared.length === 0) return;
  throw sending.resumed === undefined ? sharedError(rows, sending) : resumedError(rows, sending, sending.resumed);
}

function sharedError(rows: CycleRows, sending: Sending): SvcError {
  const { counts, shared } = rows;
  const { cycle, words } = sending;
  const { rows: all, left, unchangedErrors } = counts;
  const only = left === 0 ? [] : [`--only-new submits the other ${countText(left, 'row')}.`];
  const errors = unchangedErrors === 0 ? [] : [`${errorsText(unchangedErrors)}.`];
  const also = `--also submits all ${countText(all, 'row')}, ${billedText(all - left, all)}.`;
  return new SvcError('conflict', `${sharedText(rows, sending)}; ${NOTHING}`, {
    hint: [...errors, ...only, also].join(' '),
    next: left === 0 ? ['au', 'status', shared[0]?.run.name ?? ''] : [...words, '--only-new'],
    alternatives: [[...words, '--also']],
    facts: { cycle, rows: all, new_rows: left, ...sharedFacts(rows) },
  });
}

/** Returns the error for rows of a resumed run that another run has sent since. */
function resumedError(rows: CycleRows, sending: Sending, run: RunDirectory): SvcError {
  const { shared, counts } = rows;
  const had = counts.rows - counts.left;
  const { id } = run.record;
  const words = run.submitWords.filter((word) => word !== '--only-new');
  return new SvcError(
    'conflict',
    `${formatNumber(had)} of the ${countText(counts.rows, 'row')} that ${id} has yet to upload were submitted in cycle ${sending.cycle} meanwhile${runsText(shared, sending)}; nothing was uploaded`,
    {
      hint: `To submit only those that are new, abandon ${id} and submit its file with --only-new. --also uploads all that is left, ${billedText(had, counts.rows)}.`,
      next: ['au', 'abandon', run.name],
      alternatives: [
        [...words, '--only-new'],
        [...words, '--also'],
      ],
      facts: { run: id, cycle: sending.cycle, ...sharedFacts(rows) },
    },
  );
}

/**
 * Warns of rows that were left out of a run because another run had them, and that are new by now: a job of that run
 * failed, or a row ended in an error that this file corrects.
 */
export function warnOfNewRows(
  context: Context,
  count: number,
  { cycle, name }: Sending,
  runs: readonly RunDirectory[],
): void {
  const failed = runs.find(({ record }) => record.parts.some(({ state }) => state === 'failed'));
  const what = `${countText(count, 'row')} of ${name} ${count === 1 ? 'was' : 'were'} left out before, and no run of cycle ${cycle} has ${count === 1 ? 'it' : 'them'} now`;
  context.notices.warn(failed ? `${what}: jobs of ${failed.record.id} failed` : what);
  if (failed) noteNext(context, 'to retry them', ['au', 'resume', failed.name, '--retry-failed']);
  else context.notices.note('to submit these rows: a file of their own, with --only-new');
}

function damagedError(damaged: NonNullable<CycleRows['damaged']>, { cycle, words }: Sending): SvcError {
  const { directory, error } = damaged;
  return new SvcError('config', `${error.message}. It may have rows of this file in cycle ${cycle}: ${NOTHING}`, {
    hint: `${error.hint ?? ''} To move the record aside, abandon the run. ${ALL_BILLED}`.trimStart(),
    next: ['au', 'abandon', directory],
    alternatives: [[...words, '--also']],
    facts: { directory, cycle },
  });
}

function unknownTenantError({ run, rows }: SharedRows, { cycle, words }: Sending): SvcError {
  const { id, profile, tenant_id: tenant } = run.record;
  return new SvcError(
    'config',
    `${countText(rows, 'row')} of this file may have been submitted in cycle ${cycle} as ${id} (profile ${profile}), and svc cannot tell whether this key belongs to the same tenant; ${NOTHING}`,
    {
      hint: `Pass --tenant with the id of this key's tenant. ${ALL_BILLED}`,
      next: [...words, '--tenant', '<id>'],
      alternatives: [[...words, '--also']],
      facts: { run: id, cycle, tenant_id: tenant },
    },
  );
}

function heldError({ run, unsent }: SharedRows, { cycle }: Sending): SvcError {
  const { id } = run.record;
  return new SvcError(
    'conflict',
    `another process is at work on ${id} in cycle ${cycle}, which may yet send ${countText(unsent, 'row')} of this file; ${NOTHING}`,
    { hint: 'Run the same command again when that process has ended.', retryable: true, facts: { run: id, cycle } },
  );
}

function incomparableError(run: RunDirectory, sending: Sending): SvcError {
  const { cycle, words } = sending;
  return new SvcError(
    'conflict',
    `${runText(run, sending)} of cycle ${cycle} cannot be compared with this file, since there is no copy of its request file; ${NOTHING}`,
    {
      hint: `It may have the same rows. ${ALL_BILLED}`,
      next: [...words, '--also'],
      alternatives: [[...words, '--again']],
      facts: { run: run.record.id, cycle },
    },
  );
}

const ALL_BILLED = '--also submits all rows, and those that were submitted before are billed again.';

function sharedFacts({ shared, counts }: CycleRows): Readonly<Record<string, unknown>> {
  return {
    shared_rows: counts.rows - counts.left,
    changed_rows: counts.changed,
    unchanged_errors: counts.unchangedErrors,
    runs: shared.map(({ run, rows }) => ({ run: run.record.id, rows })),
  };
}

/** Describes, once before anything is sent, how the file relates to other runs of the cycle. */
export function noteCycle(
  context: Context,
  rows: CycleRows,
  sending: Sending,
  choice: 'new' | 'only new' | 'all',
): void {
  const { others, shared, counts } = rows;
  const { cycle } = sending;
  if (others.length === 0) return;
  if (shared.length === 0) {
    const named = others.map((run) => runText(run, sending));
    return context.notices.note(`cycle ${cycle} also has ${listText(named)}; no row is in both`);
  }
  const text = sharedText(rows, sending);
  if (choice === 'all') return context.notices.warn(`${text}; ${billedText(counts.rows - counts.left, counts.rows)}`);
  context.notices.note(counts.left === 0 ? `nothing new: ${text}; ${NOTHING}` : `${text}; left out`);
  for (const { run, inDoubt } of shared.filter((each) => each.inDoubt > 0)) {
    const doubt = `it is not known whether the service has ${countText(inDoubt, 'row')} of ${run.record.id}`;
    context.notices.warn(`${doubt}, which are left out`);
    noteNext(context, 'to find out', ['au', 'status', run.name]);
  }
  if (counts.unchangedErrors > 0) {
    const them = counts.unchangedErrors === 1 ? 'it' : 'them';
    context.notices.note(`${errorsText(counts.unchangedErrors)}; --also submits ${them}`);
  }
}

/**
 * Checks that every row was submitted, and completed if the command waits, so that "nothing new" counts as success.
 * @throws SvcError `outcome_unknown` if the service may lack some rows, `conflict` for a run that is not completed
 */
export function requireSubmitted({ shared }: CycleRows, sending: Sending, wait: boolean): void {
  const { cycle, name } = sending;
  const doubtful = shared.find(({ inDoubt }) => inDoubt > 0);
  if (doubtful) {
    const { record, name: run } = doubtful.run;
    throw new SvcError(
      'outcome_unknown',
      `no row of ${name} is new in cycle ${cycle}, but it is not known whether the service has ${countText(doubtful.inDoubt, 'row')} of ${record.id}; ${NOTHING}`,
      { hint: 'Find out what became of that run:', next: ['au', 'status', run], facts: { run: record.id, cycle } },
    );
  }
  const open = shared.find(({ run }) => statusOf(run.record) !== 'completed');
  if (open && wait)
    throw new SvcError(
      'conflict',
      `no row of ${name} is new in cycle ${cycle}, and ${open.run.record.id}, which has rows of it, is not completed; ${NOTHING}`,
      { hint: 'Wait for that run:', next: ['au', 'wait', open.run.name], facts: { run: open.run.record.id, cycle } },
    );
}

/** Describes the rows that were submitted before, and in which runs. */
function sharedText({ counts, shared }: CycleRows, sending: Sending): string {
  const { rows, left, changed } = counts;
  const which =
    left === 0 ? `all ${countText(rows, 'row')}` : `${formatNumber(rows - left)} of the ${countText(rows, 'row')}`;
  const changes = changed === 0 ? '' : ` (${formatNumber(changed)} with another expiration)`;
  const { name, cycle } = sending;
  return `${which} of ${name}${changes} were submitted in cycle ${cycle} before${runsText(shared, sending)}`;
}

function billedText(again: number, all: number): string {
  if (again === all) return 'which are billed again';
  return again === 1 ? 'of which 1 is billed again' : `of which ${formatNumber(again)} are billed again`;
}

function errorsText(count: number): string {
  return `${countText(count, 'row')} ended in an error and ${count === 1 ? 'has' : 'have'} not changed`;
}

function runsText(shared: readonly SharedRows[], sending: Sending): string {
  const [first, second] = shared;
  if (first && !second) return `, in ${runText(first.run, sending)}`;
  return `: ${listText(shared.map(({ run, rows }) => `${formatNumber(rows)} in ${runText(run, sending)}`))}`;
}

/** Describes a run by its file and its age. */
function runText({ record }: RunDirectory, { now }: Sending): string {
  const ago = formatDuration(Math.max(0, now - Date.parse(record.created_at)));
  return `${record.id} (${record.input.name}, ${countText(record.input.rows, 'row')}, ${ago} ago)`;
}

const NAMED = 3;

function listText(names: readonly string[]): string {
  if (names.length > NAMED)
    return `${names.slice(0, NAMED).join(', ')} and ${countText(names.length - NAMED, 'other run')}`;
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Returns the names of the runs whose rows are submitted again if the operator confirms it. */
export function repeatedRuns({ shared, incomparable, damaged }: CycleRows): string[] {
  const names = shared.map(({ run }) => run.record.id);
  if (incomparable) names.push(incomparable.record.id);
  if (damaged) names.push(nameOf(damaged));
  return names;
}
