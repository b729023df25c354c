import { readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk } from '../commands/support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

it('a dry run that does not know the tenant says that the file was not compared with the ledger', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  const noKey = { SVC_PRIVATE_API_KEY: '', SVC_CACHE_DIR: machine.path('no-cache') };
  const dry = succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run', noKey));
  expect(dry.stderr).toContain('tokens.csv was not compared with the ledger: rows that were sent before count as new');
});

it('a dry run stops like the command itself for jobs of the key that the ledger does not know, and creates nothing', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  const lost = { SVC_STATE_DIR: machine.path('lost') };
  const dry = await machine.svc('au submit more.csv --cycle 2026-12 --dry-run', lost);
  expect(dry.code, dry.stderr).toBe(9);
  const real = await machine.svc('au submit more.csv --cycle 2026-12', lost);
  expect([real.code, errorIn(dry)['message']]).toEqual([9, errorIn(real)['message']]);
  expect(errorIn(dry)['alternatives']).toEqual(errorIn(real)['alternatives']);
  succeeded(await machine.svc('au submit more.csv --cycle 2026-12 --dry-run --new-ledger', lost));
  expect(machine.uploads()).toBe(1);
  // The dry run with --new-ledger did not begin the ledger.
  expect(await machine.svc('au submit more.csv --cycle 2026-12 --dry-run', lost)).toMatchObject({ code: 9 });
});

it('a dry run stops like the command itself for a file that was completed more than 7 days ago', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
  expect(await machine.svc('au submit tokens.csv --dry-run')).toMatchObject({ code: 0 });
  await machine.clock.advance(8 * 24 * 3_600_000);
  const dry = await machine.svc('au submit tokens.csv --dry-run');
  const real = await machine.svc('au submit tokens.csv');
  expect([dry.code, real.code]).toEqual([6, 6]);
  expect(errorIn(dry)['message']).toBe(errorIn(real)['message']);
});

it('a dry run begins no shared ledger, and does not bind this machine to it', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait')).toMatchObject({ code: 0 });
  const before = readdirSync(machine.path('state'), { recursive: true }).map(String).toSorted();
  writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  const shared = sharedLedger(machine.path('shared'));
  for (const line of ['au submit more.csv --cycle 2026-12 --dry-run', 'au resume 2026-12 --dry-run']) {
    const dry = succeeded(await machine.svc(line, shared));
    expect(dry.stderr).toContain('dry run: ');
  }
  expect(readdirSync(machine.path('shared'))).toEqual([]);
  expect(readdirSync(machine.path('state'), { recursive: true }).map(String).toSorted()).toEqual(before);
  succeeded(await machine.svc('au submit more.csv --cycle 2026-12'));
});

it('a dry run with a key and without a response of the service says what is known here', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  machine.fault = ({ socket }) => socket.destroy();
  const dry = succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run'));
  expect(dry.stderr).toContain('so its jobs were not compared with the ledger: the plan is made from the ledger alone');
  expect(dry.stderr).toContain('rows that were sent before count as new');
});

it('a dry run with a key that may read neither the tenant nor its jobs says that nothing was compared', async () => {
  const machine = await openMachine();
  machine.fault = (incoming, outgoing, proceed) =>
    incoming.method === 'GET' ? void outgoing.writeHead(403).end() : proceed();
  const dry = succeeded(await machine.svc('au submit tokens.csv --dry-run'));
  expect(dry.stderr).toContain('the service does not show the tenant of this key, so its jobs were not compared');
});

it('a dry run in the sandbox knows nothing of the tenant before a reset', async () => {
  const { svc } = await openQuickDesk();
  expect(await svc('--sandbox au submit tokens.csv --cycle 2026-11 --wait')).toMatchObject({ code: 0 });
  expect(await svc('sandbox reset --yes')).toMatchObject({ code: 0 });
  for (const cycle of ['2026-11', '2026-12']) {
    const dry = succeeded(await svc(`--sandbox au submit tokens.csv --cycle ${cycle} --dry-run`));
    expect(dry.stderr).toContain(`first upload of cycle ${cycle}`);
  }
});
