import path from 'node:path';
import { SvcError } from '../errors.ts';
import { requireKept } from './abandon.ts';
import { type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';

const DAY = 86_400_000;
/** Without a cycle: how long after its end a run's file submitted again is taken for a retry. */
const RETRY_MS = 7 * DAY;
/** How long a run without a cycle may be the one of a cycle that is named for the first time. */
const CYCLE_MS = 35 * DAY;

/** Which run of a file is meant. */
export interface Wanted {
  /** What the operator calls this refresh of the file. */
  readonly cycle: string | undefined;
  /** Id or directory of the run that becomes the one of the cycle. */
  readonly adopt: string | undefined;
  /** The service's time, in epoch milliseconds. */
  readonly now: number;
}

/**
 * Chooses among the runs of one file at one tenant, the newest first. Undefined: a run may begin.
 * @throws SvcError `conflict` where it would pay again without a word that this is meant, `usage` for an abandoned run
 */
export function chooseRun(runs: readonly RunDirectory[], wanted: Wanted): RunDirectory | undefined {
  const run = wanted.cycle === undefined ? latest(runs, wanted) : ofCycle(runs, wanted.cycle, wanted);
  if (run) requireKept(run);
  return run;
}

function latest([newest]: readonly RunDirectory[], { now }: Wanted): RunDirectory | undefined {
  if (!newest || !isComplete(newest) || now - endedAt(newest.record) <= RETRY_MS) return newest;
  throw submittedError(newest, now);
}

function ofCycle(
  runs: readonly RunDirectory[],
  cycle: string,
  { adopt, now }: Wanted,
): RunDirectory | undefined {
  const run = runs.find(({ record }) => record.cycle === cycle);
  if (adopt !== undefined) return adopted(runs, run, cycle, adopt);
  if (run) return run;
  // Once a file has cycles, runs before them belong to none of those to come.
  const named = runs.findIndex((each) => each.record.cycle !== undefined);
  const candidates = named === -1 ? runs : runs.slice(0, named);
  const open = candidates.find((each) => !isComplete(each) || now - endedAt(each.record) <= CYCLE_MS);
  if (open) throw unnamedError(open, cycle);
  return undefined;
}

function adopted(
  runs: readonly RunDirectory[],
  ofThis: RunDirectory | undefined,
  cycle: string,
  id: string,
): RunDirectory {
  const run = runs.find((each) => each.record.id === id || path.resolve(each.path) === path.resolve(id));
  if (!run) {
    throw new SvcError('usage', '--adopt names no run of this file at this tenant', {
      hint: "'svc au status' lists the runs with their files.",
    });
  }
  const other = ofThis ?? (run.record.cycle === undefined ? run : undefined);
  if (other === run) return run;
  const problem = ofThis
    ? `cycle ${cycle} has a run already: ${ofThis.record.id}`
    : `${run.record.id} is the run of cycle ${run.record.cycle}`;
  throw new SvcError('conflict', `${problem}; nothing was changed`, {
    hint: `Leave --adopt out: '${submitCommandOf(run)} --cycle ${cycle}'.`,
    facts: { run: ofThis?.record.id ?? run.record.id, cycle },
  });
}

function isComplete({ record }: RunDirectory): boolean {
  return statusOf(record) === 'completed';
}

/** When the last job of a complete run was seen completed. Records of earlier versions may lack it. */
function endedAt({ parts, created_at: created }: RunRecord): number {
  return Math.max(...parts.map(({ done_at: done }) => Date.parse(done ?? created) || 0));
}

function submittedError(run: RunDirectory, now: number): SvcError {
  const { record, name } = run;
  const ended = new Date(endedAt(record)).toISOString();
  const cycle = new Date(now).toISOString().slice(0, 7);
  return new SvcError(
    'conflict',
    `this file was submitted on ${dayOf(record.created_at)} as ${record.id}, which was complete on ${dayOf(ended)}; nothing was submitted now`,
    {
      hint: `To refresh the same file again, name the cycle: '${submitCommandOf(run)} --cycle ${cycle}', or submit it whatever was before: '${submitCommandOf(run)} --again'. The results of ${record.id} come with 'svc au download ${name}'.`,
      facts: { run: record.id, submitted_at: record.created_at, completed_at: ended },
    },
  );
}

function unnamedError(run: RunDirectory, cycle: string): SvcError {
  const { record } = run;
  const state = isComplete(run)
    ? `complete since ${dayOf(new Date(endedAt(record)).toISOString())}`
    : statusOf(record);
  const named = `${submitCommandOf(run)} --cycle ${cycle}`;
  return new SvcError(
    'conflict',
    `this file was submitted without a cycle on ${dayOf(record.created_at)}, as ${record.id} (${state}); nothing was submitted now`,
    {
      hint: `If that is its run of ${cycle}: '${named} --adopt ${record.id}'. To submit the file once more, and pay for it: '${named} --again'.`,
      facts: { run: record.id, submitted_at: record.created_at, cycle },
    },
  );
}

function submitCommandOf({ record: { input } }: RunDirectory): string {
  return `svc au submit ${input.path === undefined ? '-' : input.name}`;
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}
