import type { Chance } from '../support/chance.ts';
import type { Circumstances, Step, WrittenFile } from './history.ts';

export const CREATE = 'POST /account-updater/jobs';
export const PUT = 'PUT /store/requests/*';

export const CYCLE = '2026-01';

/** The number of the first row for another merchant, and how many such numbers there are. */
export const OTHER_MERCHANT = 100;

/** The number of different rows in request files. */
const ROWS = 12;

/** The options with which a file of the cycle is submitted. A repeated choice is drawn more often. */
const CHOICES = [
  '',
  '',
  ' --pay-again --new-ledger',
  ' --timeout 3s',
  ' --wait --timeout 20m --force',
  ' --wait --timeout 2h --force',
];

/** Other commands on the jobs of a cycle. */
const OTHERS = ['au resume', 'au resume', 'au resume JOB', 'au status JOB', 'au submit tokens.csv --cycle 2026-02'];

/** Draws steps with files of one cycle that share rows, submitted by two tenants and several processes. */
export function cycleSteps(chance: Chance): Step[] {
  const first = [writeRows(chance, 'tokens.csv'), ...takenOver(chance)];
  return [...first, ...Array.from({ length: chance.between(2, 7) }, () => anyStep(chance)).flat()];
}

/** Draws, now and then, a submission that reaches nobody, whose run another tenant takes over. */
function takenOver(chance: Chance): Step[] {
  if (chance.happens(0.7)) return [];
  return [submission(chance, { at: 'nowhere' }), submission(chance, { keys: 'theirs' })];
}

function anyStep(chance: Chance): Step[] {
  if (chance.happens(0.15)) return [{ do: 'pass', minutes: chance.oneOf([1, 61, 61, 24 * 60]) }];
  if (chance.happens(0.1)) return [{ do: 'hint', number: chance.between(0, 2) }];
  const how = circumstancesOf(chance);
  if (chance.happens(0.3)) return [{ do: 'run', type: chance.oneOf(OTHERS), ...how }];
  const file = chance.oneOf(['tokens.csv', 'other.csv'] as const);
  const isWritten = chance.happens(0.6);
  const submitted = submission(chance, how, file);
  if (!chance.happens(0.25)) return isWritten ? [writeRows(chance, file), submitted] : [submitted];
  const meanwhile = submission(chance, {}, file === 'tokens.csv' ? 'other.csv' : 'tokens.csv');
  return [writeRows(chance, file), { ...submitted, inBackground: true }, meanwhile];
}

function submission(chance: Chance, how: Circumstances, file = 'tokens.csv'): Extract<Step, { readonly do: 'run' }> {
  return { do: 'run', type: `au submit ${file} --cycle ${CYCLE}${chance.oneOf(CHOICES)}`, ...how };
}

/** Draws a file with a range of the rows, sometimes in reverse order, some with another expiration. */
export function writeRows(chance: Chance, file: WrittenFile, on = 0): Extract<Step, { readonly do: 'write' }> {
  const start = chance.between(0, ROWS - 3);
  const end = chance.between(start + 1, ROWS - 1);
  const range = Array.from({ length: end - start + 1 }, (_, index) => start + index);
  const rows = chance.happens(0.3) ? range.toReversed() : range;
  const changed = chance.happens(0.3) ? rows.filter(() => chance.happens(0.5)) : [];
  return { do: 'write', file, rows, changed, ...(on > 0 && { on }) };
}

function circumstancesOf(chance: Chance): Circumstances {
  const effect = chance.oneOf(['503', '403', 'reset,applied', 'hang,applied', '500,applied']);
  const faults = [`${effect}@${chance.oneOf([PUT, PUT, CREATE])}:#${chance.between(1, 2)}-`];
  const ending = {
    step: chance.between(1, 12),
    since: chance.oneOf(['POST', 'PUT'] as const),
    how: chance.oneOf(['before', 'after'] as const),
  };
  return {
    ...(chance.happens(0.25) ? { faults } : {}),
    ...(chance.happens(0.25) ? { ending } : {}),
    ...(chance.happens(0.12) ? { keys: 'theirs' as const } : {}),
  };
}
