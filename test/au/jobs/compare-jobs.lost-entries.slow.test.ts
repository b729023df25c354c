import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** Opens a machine that submitted a file with three rows of a cycle, and then one with two others. */
async function submittedTwice(): Promise<Machine & { readonly env: Record<string, string> }> {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  const write = (name: string, from: number, to: number): void =>
    writeFileSync(machine.path(`work/${name}`), [HEADER, ...ROWS.slice(from, to), ''].join('\n'));
  write('first.csv', 0, 3);
  write('second.csv', 3, 5);
  write('more.csv', 1, 8);
  for (const name of ['first.csv', 'second.csv']) {
    succeeded(await machine.svc(`au submit ${name} --cycle 2026-12`, env));
  }
  return { ...machine, env };
}

/** Returns the path of an entry in a directory with ledgers, below the machine's directory. */
function entryOf(machine: Machine, ledgers: string, number: number): string {
  const [tenant = ''] = readdirSync(machine.path(ledgers));
  return machine.path(`${ledgers}/${tenant}/cycles/2026-12/0000000${number}.json`);
}

const MORE = 'au submit more.csv --cycle 2026-12';

it('R83: without the newest entry of a shared ledger, a machine that never read it sends nothing until another puts it back', async () => {
  const machine = await submittedTwice();
  const runner = { ...machine.env, SVC_STATE_DIR: machine.path('runner') };
  rmSync(entryOf(machine, 'ledger', 3));
  const refused = await machine.svc(MORE, runner);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([3, 2]);
  expect(errorIn(refused)['message']).toMatch(/the claim of job \S+ is missing; nothing was sent$/);
  const sent = await machine.svc(MORE, machine.env);
  expect([sent.code, machine.uploads()], sent.stderr).toEqual([0, 3]);
  expect(await machine.svc(MORE, runner)).toMatchObject({ code: 0 });
});
