import { readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk } from '../commands/support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

it('a dry run that does not know the tenant says that the file was not compared with the ledger', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12'));
  const noKey = { SVC_PRIVATE_API_KEY: '', SVC_CACHE_DIR: machine.path('no-cache') };
  ended(
    await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run', noKey),
    0,
    'tokens.csv was not compared with the ledger: rows that were sent before count as new',
  );
});

it('a dry run stops like the command itself for jobs of the key that the ledger does not know, and creates nothing', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv'));
  writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  const lost = { SVC_STATE_DIR: machine.path('lost') };
  const dry = ended(await machine.svc('au submit more.csv --cycle 2026-12 --dry-run', lost), 9);
  const real = await machine.svc('au submit more.csv --cycle 2026-12', lost);
  expect([real.code, errorIn(dry)['message']]).toEqual([9, errorIn(real)['message']]);
  expect(errorIn(dry)['alternatives']).toEqual(errorIn(real)['alternatives']);
  ended(await machine.svc('au submit more.csv --cycle 2026-12 --dry-run --new-ledger', lost), 0, { uploads: 1 });
  // The dry run with --new-ledger did not begin the ledger.
  ended(await machine.svc('au submit more.csv --cycle 2026-12 --dry-run', lost), 9);
});

it('a dry run stops like the command itself for a file that was completed more than 7 days ago', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --wait'));
  succeeded(await machine.svc('au submit tokens.csv --dry-run'));
  await machine.clock.advance(8 * 24 * 3_600_000);
  const dry = await machine.svc('au submit tokens.csv --dry-run');
  const real = await machine.svc('au submit tokens.csv');
  expect([dry.code, real.code]).toEqual([6, 6]);
  expect(errorIn(dry)['message']).toBe(errorIn(real)['message']);
});

it('a dry run begins no shared ledger, and does not bind this machine to it', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait'));
  const before = readdirSync(machine.path('state'), { recursive: true }).map(String).toSorted();
  writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  const shared = sharedLedger(machine.path('shared'));
  for (const line of ['au submit more.csv --cycle 2026-12 --dry-run', 'au resume 2026-12 --dry-run'])
    ended(await machine.svc(line, shared), 0, 'dry run: ');
  expect(readdirSync(machine.path('shared'))).toEqual([]);
  expect(readdirSync(machine.path('state'), { recursive: true }).map(String).toSorted()).toEqual(before);
  succeeded(await machine.svc('au submit more.csv --cycle 2026-12'));
});

it('a dry run with a key and without a response of the service says what is known here', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12'));
  machine.fault = ({ socket }) => socket.destroy();
  ended(
    await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run'),
    0,
    'so its jobs were not compared with the ledger: the plan is made from the ledger alone',
    'rows that were sent before count as new',
  );
});

it('a dry run with a key that may read neither the tenant nor its jobs says that nothing was compared', async () => {
  const machine = await openMachine();
  machine.fault = (incoming, outgoing, proceed) =>
    incoming.method === 'GET' ? void outgoing.writeHead(403).end() : proceed();
  ended(
    await machine.svc('au submit tokens.csv --dry-run'),
    0,
    'the service shows no job of this key yet, so its jobs were not compared',
  );
});

it('a dry run in the sandbox knows nothing of the tenant before a reset', async () => {
  const { svc } = await openQuickDesk();
  succeeded(await svc('--sandbox au submit tokens.csv --cycle 2026-11 --wait'));
  succeeded(await svc('sandbox reset --yes'));
  for (const cycle of ['2026-11', '2026-12'])
    ended(await svc(`--sandbox au submit tokens.csv --cycle ${cycle} --dry-run`), 0, `first upload of cycle ${cycle}`);
});

it('a dry run predicts by the time and the jobs of the service, not by the clock of this machine', async () => {
  const service = new FakeClock({ start: Date.now(), auto: false });
  const desk = await openQuickDesk({ clock: service, processingMs: 3_600_000 });
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  await service.advance(600_000);
  const both = async (line: string) => [await desk.svc(`${line} --dry-run`), await desk.svc(line)] as const;
  const [dryPending, pending] = await both('au submit tokens.csv --cycle 2027-01');
  ended(dryPending, 11, 'which began 10m ago and is not completed');
  expect(errorIn(dryPending)['message']).toBe(errorIn(pending)['message']);
  ended(await desk.svc('au submit tokens.csv --cycle 2026-12 --dry-run'), 0, /already: sent by .*, 10m ago/);
  await service.advance(3_600_000);
  succeeded(await desk.svc('au resume 2026-12 --wait'));
  await service.advance(28 * 24 * 3_600_000);
  const [dry, real] = await both('au submit tokens.csv --cycle 2027-01');
  expect([dry.code, real.code], dry.stderr).toEqual([0, 0]);
  expect(desk.uploads()).toBe(2);
});
