import type { Chance } from '../support/chance.ts';
import { CYCLE } from './cycles.ts';
import type { History, Step } from './history.ts';
import { machineCircumstances, writeFile } from './machines.ts';

/** The refresh of the cycle. FOLDER stands for the directory that all machines have in common. Most rows may be errors. */
export const REFRESH = `au refresh export.csv --cycle ${CYCLE} --out-dir FOLDER --add --fail-on err=100%`;

/** The options of a refresh. A repeated choice is drawn more often. */
const CHOICES = ['--no-wait', '--no-wait', '--no-wait --timeout 3s', '--timeout 20m', '--timeout 2h'];

/** Draws the days of two machines that share a ledger and a refresh directory, which outlives their states. */
export function refreshSteps(chance: Chance): Pick<History, 'machines' | 'steps'> {
  const first = [0, 1].map((on) => writeFile(chance, on, 'export.csv'));
  // The same command is typed again after the state directory is lost.
  const opening: Step[] = chance.happens(0.5) ? [refresh(chance, 0), { do: 'lose', on: 0 }, refresh(chance, 0)] : [];
  const rest = Array.from({ length: chance.between(3, 7) }, () => anyStep(chance));
  return { machines: 2, steps: [...first, ...opening, ...rest.flat()] };
}

function anyStep(chance: Chance): Step[] {
  const on = chance.between(0, 1);
  if (chance.happens(0.2)) return [{ do: 'pass', minutes: chance.oneOf([1, 20, 61, 80, 24 * 60]) }];
  if (chance.happens(0.12)) return [{ do: 'lose', on }];
  if (chance.happens(0.25)) return [{ do: 'apply', file: 'export.csv', on }, refresh(chance, on)];
  if (chance.happens(0.2)) return [writeFile(chance, on, 'export.csv'), refresh(chance, on)];
  if (chance.happens(0.3)) return [{ ...refresh(chance, 1 - on), inBackground: true }, refresh(chance, on)];
  return [refresh(chance, on)];
}

function refresh(chance: Chance, on: number): Extract<Step, { readonly do: 'run' }> {
  const next = chance.happens(0.5) ? ' --next' : '';
  return { do: 'run', type: `${REFRESH} ${chance.oneOf(CHOICES)}${next}`, on, ...machineCircumstances(chance) };
}
