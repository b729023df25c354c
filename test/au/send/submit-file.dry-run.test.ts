import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
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
