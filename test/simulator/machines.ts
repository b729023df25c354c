import { Chance } from '../support/chance.ts';
import { CREATE, CYCLE, OTHER_MERCHANT, PUT, writeRows } from './cycles.ts';
import type { Circumstances, History, Step } from './history.ts';
import type { Ending } from './process.ts';

const JOB = 'GET /account-updater/jobs/*';
const JOBS = 'GET /account-updater/jobs';
const RESULT = 'GET /store/results/*';

/** The file into which a machine writes the results of the whole cycle. */
const CYCLE_RESULTS = 'cycle.csv';
export const RESUME_CYCLE = `au resume ${CYCLE} --wait --timeout 1h --out ${CYCLE_RESULTS} --force`;

/** The options with which a file of the cycle is submitted. A repeated choice is drawn more often. */
const CHOICES = ['', '', ' --timeout 3s', ' --wait --timeout 20m --force', ' --wait --timeout 2h --force'];

/** Other commands on what any of the machines sent. */
const OTHERS = [
  'au resume',
  'au resume',
  'au resume JOB',
  `au resume ${CYCLE}`,
  RESUME_CYCLE,
  'au resume JOB --wait --timeout 20m',
  'au status',
  `au status ${CYCLE}`,
  'au status JOB',
  'au download JOB --out copy.csv --force',
  'au resume --dry-run',
];

/** What goes wrong for one process, which never sends a job away that has its file. */
const EFFECTS: readonly (readonly [string, readonly string[]])[] = [
  [PUT, ['503', '403', 'reset', 'reset,applied', 'hang,applied', '500,applied', '503,applied', 'latency=90s']],
  [CREATE, ['503', '403', 'reset', 'reset,applied', 'hang,applied', '500,applied']],
  [JOB, ['404', '503', 'reset', 'hang', 'stale']],
  [JOBS, ['503', '404', '403', 'stale', 'reset']],
  [RESULT, ['503', 'reset=300', 'truncate=300']],
  ['* /**', ['503', 'reset', '429,retry-after=2', '401']],
];

/** What goes wrong for every process for a while. */
const WEATHERS: readonly (readonly string[])[] = [
  [`404@${JOB}`, `stale@${JOBS}`],
  [`404@${JOB}`],
  [`503@${JOBS}:0.5`],
  [`503,applied@${PUT}`],
  [`reset,applied@${PUT}`, `404@${JOB}`],
  [],
];

/** Draws the days of two or three machines that share a ledger and files of one cycle, and lose their memories. */
export function machineSteps(chance: Chance): Pick<History, 'machines' | 'steps'> {
  const machines = chance.between(2, 3);
  const first = Array.from({ length: machines }, (_, on) => writeFile(chance, on));
  const rest = Array.from({ length: chance.between(3, 8) }, () => anyStep(chance, machines));
  return { machines, steps: [...first, ...rest.flat()] };
}

/**
 * Lets some commands run while the volume of the ledger is not mounted. They are drawn apart, so that all else in the
 * history of a seed stays the same.
 */
export function withoutVolume<T extends Pick<History, 'steps'>>(seed: number, history: T): T {
  const chance = new Chance(seed);
  const steps = history.steps.map((step) =>
    step.do === 'run' && chance.happens(0.05) ? { ...step, isUnmounted: true } : step,
  );
  return { ...history, steps };
}

function anyStep(chance: Chance, machines: number): Step[] {
  const on = chance.between(0, machines - 1);
  if (chance.happens(0.15)) return [{ do: 'pass', minutes: chance.oneOf([1, 20, 61, 61, 80, 24 * 60]) }];
  if (chance.happens(0.08)) return [{ do: 'lose', on }];
  if (chance.happens(0.06)) return [{ do: 'restore', commands: chance.between(1, 3), on }];
  if (chance.happens(0.06)) return [{ do: 'weather', faults: chance.oneOf(WEATHERS) }];
  if (chance.happens(0.05)) return [{ do: 'crowd' }];
  if (chance.happens(0.08)) return [{ do: 'apply', file: 'tokens.csv', on }, submission(chance, on)];
  if (chance.happens(0.1)) return [{ do: 'resume', ...machineCircumstances(chance) }];
  if (chance.happens(0.35)) return atOnce(chance, machines);
  if (chance.happens(0.3)) return [{ do: 'run', type: chance.oneOf(OTHERS), on, ...machineCircumstances(chance) }];
  return [...written(chance, on), submission(chance, on)];
}

/** Draws commands of all machines that run at the same moment. */
function atOnce(chance: Chance, machines: number): Step[] {
  const writes = Array.from({ length: machines }, (_, on) => written(chance, on)).flat();
  const runs = Array.from({ length: machines }, (_, on): Step => {
    const type = chance.oneOf(OTHERS);
    const run = chance.happens(0.8) ? submission(chance, on) : ({ do: 'run', type, on } as const);
    return { ...run, inBackground: on < machines - 1 };
  });
  return [...writes, ...runs];
}

function written(chance: Chance, on: number): Step[] {
  return chance.happens(0.4) ? [writeFile(chance, on)] : [];
}

/** Draws a file with some tokens in capitals, which are the same tokens, and some rows for several merchants. */
export function writeFile(chance: Chance, on: number, file: 'tokens.csv' | 'export.csv' = 'tokens.csv'): Step {
  const written = writeRows(chance, file, on);
  const hasMerchants = chance.happens(0.4);
  const rows = hasMerchants ? written.rows.flatMap((row) => forMerchants(chance, row)) : written.rows;
  const capitals = chance.happens(0.4) ? rows.filter(() => chance.happens(0.5)) : [];
  return { ...written, rows, ...(capitals.length > 0 && { capitals }) };
}

/** Draws the rows of a token: for the first merchant, for another, or for both. */
function forMerchants(chance: Chance, row: number): number[] {
  const other = chance.between(1, 2) * OTHER_MERCHANT + row;
  return chance.oneOf([[row], [row], [other], [row, other]]);
}

function submission(chance: Chance, on: number): Extract<Step, { readonly do: 'run' }> {
  const type = `au submit tokens.csv --cycle ${CYCLE}${chance.oneOf(CHOICES)}`;
  return { do: 'run', type, on, ...machineCircumstances(chance) };
}

/** Draws what goes wrong for a command on one of several machines. */
export function machineCircumstances(chance: Chance): Circumstances {
  return {
    ...(chance.happens(0.3) ? { faults: [faultOf(chance)] } : {}),
    ...(chance.happens(0.3) ? { ending: endingOf(chance) } : {}),
    ...(chance.happens(0.15) ? { skewMs: chance.oneOf([-26, -1, 1, 26]) * 3_600_000 } : {}),
  };
}

function faultOf(chance: Chance): string {
  const [call, effects] = chance.oneOf(EFFECTS);
  const first = chance.between(1, 3);
  return `${chance.oneOf(effects)}@${call}:${chance.oneOf([`#${first}`, `#${first}-`, '0.3'])}`;
}

function endingOf(chance: Chance): Ending {
  const how = chance.oneOf(['before', 'before', 'after', 'after', 'SIGTERM'] as const);
  const power = chance.happens(0.2) ? { power: true } : {};
  if (chance.happens(0.4)) return { step: chance.between(1, 200), how, ...power };
  return { step: chance.between(1, 30), since: chance.oneOf(['POST', 'PUT'] as const), how, ...power };
}
