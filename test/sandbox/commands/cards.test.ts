import { expect, it } from 'vitest';
import { join } from 'node:path';
import { seedOf } from '../../../src/emulator/seed/logs.ts';
import { exampleRequestFile, sandboxCards, sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ended, rowsIn, succeeded, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';

it('svc sandbox cards --3ds shows the token and the scenario of each card in 80 columns', async () => {
  const shown = succeeded(
    await svcHere(['sandbox', 'cards', '--3ds'], { columns: 80, env: { NO_COLOR: '1', SVC_PAGER: 'cat' } }),
  );
  const [header = '', ...rows] = shown.stdout.split('\n\n')[0]?.split('\n') ?? [];
  expect(header).toMatch(/^TOKEN +SCENARIO$/);
  expect(rows.filter((row) => row.includes('Successful Frictionless Authentication')).length).toBeGreaterThan(1);
  expect(rows.filter((row) => row.length > 80)).toEqual([]);
});

it('svc sandbox cards lists the cards of the sandbox in the directory, whose seed may be another than the usual one', async () => {
  const directory = join(temporaryDirectory(), 'seeded');
  const cards = async (...options: string[]) =>
    succeeded(await svcHere(['sandbox', 'cards', '--directory', directory, '-o', 'jsonl', ...options])).stdout;
  expect(rowsIn(await cards())).toEqual(sandboxCards());
  await (await startSandbox({ directory, seed: 5, tenants: ['test', 'test'] })).close();
  expect(rowsIn(await cards())).toEqual(sandboxCards(5));
  expect(rowsIn(await cards('--3ds', '--tenant', '2'))).toEqual(sandboxThreeDsCards(seedOf(5, 2)));
  const third = await svcHere(['sandbox', 'cards', '--directory', directory, '--tenant', '3']);
  ended(third, 2, { error: { message: `the sandbox in ${directory} has 2 tenants` } });
  const { stdout } = await svcHere(['sandbox', 'cards', '--request', '--directory', directory]);
  expect(stdout).toBe(exampleRequestFile(5));
});

it('svc sandbox cards needs no home directory', async () => {
  const { stdout } = succeeded(await svcHere(['sandbox', 'cards', '-o', 'jsonl'], { home: '' }));
  expect(rowsIn(stdout)).toEqual(sandboxCards());
});

it('svc --sandbox 3ds create --card finds a test card of a sandbox with another seed', async () => {
  const home = temporaryDirectory();
  await (await startSandbox({ directory: join(home, '.local/state/svc/sandbox'), seed: 5 })).close();
  succeeded(await svcHere(['--sandbox', '3ds', 'create', '--card', 'Successful Frictionless'], { home }));
});

it.each([['--3ds'], ['-o', 'json'], ['--jq', '.token'], ['--fields', 'token']])(
  'svc sandbox cards --request refuses %s, which it could not follow',
  async (...options) => {
    const { code, stdout, stderr } = await svcHere(['sandbox', 'cards', '--request', ...options]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('cannot be used with')]);
  },
);
