import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Chance } from '../../support/chance.ts';
import { errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { type Fault, uploadsTaken } from '../support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** Opens a machine with a shared ledger and two files that share rows. `run` runs a command with a state directory. */
async function openTwo(): Promise<{ machine: Machine; run: (line: string, state: string) => Promise<HereResult> }> {
  const machine = await openMachine();
  const ledger = sharedLedger(machine.path('ledger'));
  writeFileSync(machine.path('work/first.csv'), `${[HEADER, ...ROWS.slice(0, 10)].join('\n')}\n`);
  writeFileSync(machine.path('work/second.csv'), `${[HEADER, ...ROWS.slice(4, 14)].join('\n')}\n`);
  const run = (line: string, state: string) => machine.svc(line, { ...ledger, SVC_STATE_DIR: machine.path(state) });
  return { machine, run };
}

function paidRows(machine: Machine): string[] {
  const place = machine.path('tenant-1');
  return uploadsTaken(place).flatMap((job) =>
    readFileSync(join(place, `files/request-${job}.csv`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1),
  );
}

/** Runs `work` before the service creates the first job. */
function beforeFirstJob(work: () => Promise<unknown>): Fault {
  let isFirst = true;
  return ({ method, url }, _outgoing, proceed) => {
    if (!isFirst || method !== 'POST' || url !== '/account-updater/jobs') return proceed();
    isFirst = false;
    void work().finally(proceed);
    return undefined;
  };
}

it.each(['', ' --cycle 2026-12'])(
  'R79: rows that another submission sent while this one%s had compared its rows already are not sent again',
  async (cycle) => {
    const { machine, run } = await openTwo();
    machine.fault = beforeFirstJob(async () => succeeded(await run('au submit second.csv', 'other')));
    const refused = await run(`au submit first.csv${cycle}`, 'state');
    expect(refused.code, refused.stderr).toBe(6);
    expect(errorIn(refused)).toMatchObject({ shared_rows: 6 });
    expect(machine.uploads()).toBe(1);
    expect(machine.jobs()).toEqual([]);
    expect((await run(`au submit first.csv${cycle}`, 'state')).code).toBe(6);
    succeeded(await run(`au submit first.csv${cycle} --pay-again`, 'state'));
    expect(machine.uploads()).toBe(2);
  },
);

it.each(Array.from({ length: IS_SOAK ? 400 : 15 }, (_, seed) => seed + 1))(
  'R79: rows of two files that are sent at once are paid for once, with the delays of seed %i',
  async (seed) => {
    const chance = new Chance(seed);
    const { machine, run } = await openTwo();
    const { id } = JSON.parse(succeeded(await run('au create', 'other')).stdout) as { readonly id: string };
    const other = chance.oneOf(['au submit second.csv', `au upload ${id} second.csv`]);
    machine.fault = (_incoming, _outgoing, proceed) => {
      const defer = (turns: number): unknown => (turns === 0 ? proceed() : setImmediate(defer, turns - 1));
      defer(chance.between(0, 200));
    };
    const ended = await Promise.all([run('au submit first.csv', 'state'), run(other, 'other')]);
    // A job of the other file can be under way (11).
    for (const { code, stderr } of ended) expect([0, 6, 11], stderr).toContain(code);
    const paid = paidRows(machine);
    expect(paid.length).toBe(new Set(paid).size);
    const again = await run('au submit first.csv', 'state');
    expect(again.code, again.stderr).toBe(ended[1].code === 0 ? 6 : 0);
    expect(paidRows(machine)).toHaveLength(10);
  },
);
