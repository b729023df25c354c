import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Machine, openMachine } from '../commands/machine.ts';
import { answerLost, type Fault, inTurn, refuseWith } from '../support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const HOUR = 3_600_000;
const SUBMIT = 'au submit tokens.csv --cycle 2026-12';

/** Lets the store refuse each file. */
const refusing: Fault = (incoming, outgoing, proceed) =>
  incoming.method === 'PUT' ? refuseWith(403)(incoming, outgoing, proceed) : proceed();

/** How far the first command comes. */
const MOMENTS: Readonly<
  Record<string, { readonly fault?: () => Fault; readonly line: string; readonly code: number }>
> = {
  'the store refused the file': { fault: () => refusing, line: SUBMIT, code: 4 },
  'the response of the store was lost': { fault: () => inTurn('PUT', /./, answerLost), line: SUBMIT, code: 0 },
  'the file was sent': { line: SUBMIT, code: 0 },
  'the results were received': { line: `${SUBMIT} --wait --out results.csv`, code: 0 },
};

/** What happens to the files of jobs between two commands. */
const LOSSES: Readonly<Record<string, (machine: Machine) => void>> = {
  nothing: () => undefined,
  'they are removed': (machine) => rmSync(machine.path('state/jobs'), { recursive: true, force: true }),
  'they are of an older time': (machine) => {
    rmSync(machine.path('state/jobs'), { recursive: true, force: true });
    const older = machine.path('older');
    if (existsSync(older)) cpSync(older, machine.path('state/jobs'), { recursive: true });
  },
  'they come from another machine': (machine) => {
    const [state, elsewhere] = [machine.path('state'), machine.path('elsewhere')];
    cpSync(state, elsewhere, { recursive: true });
    rmSync(state, { recursive: true });
    cpSync(elsewhere, state, { recursive: true });
  },
};

const CASES = Object.keys(MOMENTS).flatMap((moment) => Object.keys(LOSSES).map((loss) => [moment, loss] as const));

it.each(CASES)(
  'R92: after %s, each row is paid for once, whatever happens to the files of jobs: %s',
  async (moment, loss) => {
    const machine = await openMachine();
    const { fault: faultOf, line, code } = MOMENTS[moment]!;
    const fault = faultOf?.();
    const before: Fault = (incoming, outgoing, proceed) => {
      // The state of the files while the job gets its file is that of an older copy.
      const [jobs, older] = [machine.path('state/jobs'), machine.path('older')];
      if (incoming.method === 'PUT' && existsSync(jobs) && !existsSync(older)) cpSync(jobs, older, { recursive: true });
      if (fault) fault(incoming, outgoing, proceed);
      else proceed();
    };
    machine.fault = before;
    ended(await machine.svc(line), code);
    machine.fault = undefined;
    LOSSES[loss]!(machine);
    await machine.clock.advance(3 * HOUR);
    ended(await machine.svc(`${SUBMIT} --wait --out results.csv`), 0, { uploads: 1 });
    const results = readFileSync(machine.path('work/results.csv'), 'utf8');
    // What the ledger says is all that a machine without these files needs.
    mkdirSync(machine.path('fresh'));
    cpSync(machine.path('state/ledger'), machine.path('fresh/ledger'), { recursive: true });
    const fresh = { SVC_STATE_DIR: machine.path('fresh') };
    succeeded(await machine.svc('au resume 2026-12 --wait --out first.csv', fresh));
    expect(readFileSync(machine.path('work/first.csv'), 'utf8')).toBe(results);
    expect(machine.uploads()).toBe(1);
  },
);
