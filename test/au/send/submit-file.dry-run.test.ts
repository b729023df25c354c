import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';

it('a dry run without a key knows the run of the tenant at its own address, not with that of the newest run', async () => {
  const machine = await openMachine();
  const theirs = await machine.tenant(2);
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/more.csv'), `${header}\none-more,,,\n`);
  const submitted = await machine.svc('au submit tokens.csv --cycle 2026-12');
  expect(submitted.code, submitted.stderr).toBe(0);
  await machine.clock.advance(60_000);
  const elsewhere = await machine.svc('au submit more.csv --cycle 2026-12', { SVC_BASE_URL: theirs.url });
  expect(elsewhere.code, elsewhere.stderr).toBe(0);
  const noKey = { SVC_PRIVATE_API_KEY: '', SVC_CACHE_DIR: machine.path('no-cache') };
  const dry = await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run', noKey);
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stderr).toContain('nothing was sent; it would resume run-');
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
  const begun = await machine.svc('au submit more.csv --cycle 2026-12 --dry-run --begin', lost);
  expect(begun.code, begun.stderr).toBe(0);
  expect(machine.uploads()).toBe(1);
  // The dry run with --begin did not begin the ledger.
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
