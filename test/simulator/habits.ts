import type { Chance } from '../support/chance.ts';
import type { Circumstances, Step } from './history.ts';

const CREATE = 'POST /account-updater/jobs';
const JOB = 'GET /account-updater/jobs/*';
const PUT = 'PUT /store/requests/*';
const RESULT = 'GET /store/results/*';

const SUBMIT = 'au submit tokens.csv';
const WAIT = 'au submit tokens.csv --wait --timeout 20m --force';

/** The commands that an operator types on any day. */
const COMMANDS = [
  SUBMIT,
  WAIT,
  WAIT,
  'au resume',
  'au resume',
  'au resume JOB --wait --timeout 20m',
  'au status JOB',
  'au submit other.csv',
  'au submit tokens.csv --cycle 2026-02',
  'au download JOB --out copy.csv --force',
  'au prepare export.csv --out tokens.csv --force',
  'au resume --dry-run',
  'au jobs',
];

/** Functions that draw the first steps of a history, one per kind of trouble. */
const OPENINGS: readonly ((chance: Chance) => Step[])[] = [
  blockedFile,
  olderState,
  vouchedResults,
  jobOfAnother,
  falseResults,
  uselessKey,
  otherFile,
  fullDisk,
];

/** Draws a few days of an operator who makes mistakes and has bad luck. */
export function operatorSteps(chance: Chance): Step[] {
  const opening = chance.oneOf(OPENINGS)(chance);
  return [...opening, ...Array.from({ length: chance.between(0, 3) }, () => anyStep(chance))];
}

function run(type: string, how: Circumstances = {}): Step {
  return { do: 'run', type, ...how };
}

function pass(chance: Chance, ...minutes: readonly number[]): Step {
  return { do: 'pass', minutes: chance.oneOf(minutes) };
}

const CUT_OFF: Step = { do: 'weather', faults: [], isCutOff: true };
const FINE: Step = { do: 'weather', faults: [] };

/** Draws a submission that sends nothing at first. The operator then types what the messages suggest. */
function blockedFile(chance: Chance): Step[] {
  const type = chance.oneOf([SUBMIT, SUBMIT, WAIT, `${SUBMIT} --timeout 3s`, `${SUBMIT} --cycle 2026-01`]);
  const at = chance.happens(0.5) ? { at: 'by name' as const } : {};
  const refusals: Step[][] = [
    [CUT_OFF, run(type, at), FINE],
    [run(type, { at: 'nowhere' })],
    [run(type, { keys: chance.oneOf(['none', 'expired', 'read-only'] as const), ...at })],
    [run(type, { faults: [`${chance.oneOf(['403', '503', '404', '401'])}@* /**:#1-`], ...at })],
  ];
  const hints = Array.from({ length: chance.between(1, 3) }, (): Step => ({
    do: 'hint',
    number: chance.between(0, 2),
    ...(chance.happens(0.3) ? at : {}),
  }));
  const again = chance.happens(0.5) ? [run(SUBMIT)] : [];
  return [...chance.oneOf(refusals), run(SUBMIT), ...hints, ...again, pass(chance, 1, 61), run('au resume', at)];
}

/** Draws submissions after which a backup, such as the cache of a CI system, replaces the state directory. */
function olderState(chance: Chance): Step[] {
  const since = chance.oneOf(['POST', 'PUT', 'PUT'] as const);
  const ending = { step: chance.between(1, 12), since, how: chance.oneOf(['before', 'after'] as const) };
  const first = run(chance.oneOf([SUBMIT, WAIT]), chance.happens(0.5) ? { ending } : {});
  const second = chance.happens(0.6) ? [run(chance.oneOf([SUBMIT, WAIT, 'au resume']))] : [];
  const then = chance.oneOf([SUBMIT, WAIT, 'au resume', `${SUBMIT} --only-recorded`]);
  const restore: Step = { do: 'restore', commands: chance.between(1, second.length + 1) };
  return [first, pass(chance, 1, 1, 20, 24 * 60), ...second, restore, run(then), { do: 'hint', number: 0 }];
}

/** Draws results that are refused and later accepted. Meanwhile their job fails, and another job gets its rows. */
function vouchedResults(chance: Chance): Step[] {
  const again: Step[] = [{ do: 'fail' }, run(WAIT), run(SUBMIT)];
  const store: Step = { do: 'weather', faults: [chance.oneOf([`503@${RESULT}`, `404@${RESULT}`, `cut@${RESULT}`])] };
  return [
    { do: 'weather', faults: [`cut@${RESULT}`] },
    run(WAIT),
    pass(chance, 1, 61),
    ...(chance.happens(0.9) ? again : []),
    store,
    pass(chance, 61, 24 * 60),
    run(chance.oneOf(['au status JOB', 'au status JOB', 'au status JOB', 'au resume'])),
    chance.happens(0.8) ? run('au download JOB --accept-unproven') : { do: 'hint', number: 0, back: 1 },
  ];
}

/** Draws a submission to which the service responds with an existing job instead of a new one. */
function jobOfAnother(chance: Chance): Step[] {
  const effect = chance.oneOf(['known', 'known', 'replayed']);
  const first = chance.happens(0.5) ? [run('au submit other.csv'), pass(chance, 1, 61)] : [];
  const faults = [`${effect}@${CREATE}:#${chance.between(1, 2)}`];
  return [
    run('au jobs'),
    ...first,
    run(chance.oneOf([SUBMIT, WAIT]), { faults }),
    pass(chance, 1, 61),
    run('au resume'),
  ];
}

/** Draws downloads for which the store sends falsified results. */
function falseResults(chance: Chance): Step[] {
  const faults = [`${chance.oneOf(['foreign', 'foreign', 'doubled', 'cut'])}@${RESULT}:#1-${chance.oneOf([1, 3, 9])}`];
  const later = chance.oneOf([
    'au resume',
    'au resume JOB --wait --timeout 20m',
    'au download JOB --out copy.csv --force',
  ]);
  if (chance.happens(0.4)) return [run(WAIT, { faults })];
  return [run(SUBMIT), pass(chance, 61, 24 * 60), run(later, { faults }), run('au resume')];
}

/** Draws jobs under way, followed by a command with a useless key or without a connection. */
function uselessKey(chance: Chance): Step[] {
  const later = chance.oneOf([
    'au resume',
    'au resume',
    'au resume JOB --wait --timeout 30s',
    'au submit tokens.csv --timeout 30s',
    WAIT,
    'au status JOB',
    'au download JOB --out copy.csv --force',
  ]);
  const problems: Step[][] = [
    [run(later, { keys: chance.oneOf(['none', 'expired', 'read-only'] as const) })],
    [{ do: 'rotate' }, run(later, { keys: 'expired' })],
    [CUT_OFF, run(later), FINE],
    [run(later, { faults: [`${chance.oneOf(['401', '403', '500', '503', 'hang'])}@* /**:#1-`] })],
    [run(later, { faults: [`${chance.oneOf(['401', '403', '503'])}@${JOB}:#1-`] })],
  ];
  const ending = { step: chance.between(1, 12), since: 'PUT' as const, how: 'after' as const };
  const first = chance.happens(0.3) ? run(SUBMIT, { ending }) : run(SUBMIT);
  return [first, ...(chance.happens(0.5) ? [pass(chance, 1, 61)] : []), ...chance.oneOf(problems)];
}

/** Draws a request file that changes after its submission. */
function otherFile(chance: Chance): Step[] {
  const prepare = 'au prepare export.csv --out tokens.csv --force';
  const changes: Step[][] = [
    [{ do: 'edit', file: 'tokens.csv' }],
    [{ do: 'swap' }],
    [run(prepare)],
    [{ do: 'edit', file: 'export.csv' }, run(prepare)],
    [run('au prepare tokens.results.csv --out tokens.csv --force')],
  ];
  const faults = [`503@${PUT}:#${chance.between(1, 2)}-`];
  const first = run(chance.oneOf([SUBMIT, WAIT]), chance.happens(0.4) ? { faults } : {});
  return [first, ...chance.oneOf(changes), run(chance.oneOf([SUBMIT, WAIT, 'au resume'])), run('au resume')];
}

/** Draws a command during which the disk is full for a moment, such as until another program cleans up. */
function fullDisk(chance: Chance): Step[] {
  const how = { fullAt: chance.between(1, 80), fullFor: chance.oneOf([1, 1, 2, 5, 500]) };
  if (chance.happens(0.4)) return [run(WAIT, how)];
  return [run(SUBMIT), pass(chance, 61, 24 * 60), run(chance.oneOf(['au resume', WAIT]), how), run('au resume')];
}

function anyStep(chance: Chance): Step {
  if (chance.happens(0.2)) return pass(chance, 1, 61, 24 * 60, 8 * 24 * 60);
  if (chance.happens(0.05)) return { do: 'rotate' };
  if (chance.happens(0.1)) return { do: 'hint', number: chance.between(0, 2) };
  if (chance.happens(0.05)) return { do: 'edit', file: 'tokens.csv' };
  if (chance.happens(0.05)) return { do: 'swap' };
  const faults = chance.happens(0.3) ? { faults: [`${chance.oneOf(['503', 'reset,applied'])}@* /**:0.3`] } : {};
  const at = chance.happens(0.2) ? { at: 'by name' as const } : {};
  return run(chance.oneOf(COMMANDS), { ...faults, ...at });
}
