import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, statusOf } from '../account-updater/record.ts';
import { openRuns } from '../account-updater/run-directory.ts';
import type { Suggestion } from '../app/parameter.ts';
import { directoryOf, type PathsHost } from '../config/paths.ts';

// Names begin with the day, so these are the newest.
const MOST = 50;

/** Runs that this machine remembers, the newest first. */
export function runIds(system: PathsHost): Suggestion[] {
  return records(system).map((run) => [run.id, `${statusOf(run)}, ${run.input.name}`]);
}

export function jobIds(system: PathsHost): Suggestion[] {
  return records(system).flatMap((run) =>
    run.parts.flatMap(({ job, state, number }): Suggestion[] =>
      job === undefined ? [] : [[job, `${state}, part ${number} of ${run.input.name}`]],
    ),
  );
}

function records(system: PathsHost): RunRecord[] {
  const state = directoryOf(system, 'state');
  if (state === undefined) return [];
  const root = join(state, 'runs');
  try {
    const names = readdirSync(root).toSorted().toReversed().slice(0, MOST);
    return openRuns(names.map((name) => join(root, name))).runs.map(({ record }) => record);
  } catch {
    return [];
  }
}
