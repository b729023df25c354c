import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startSandboxHere, svcIn } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const REQUEST = 'token,expiration_year,expiration_month,merchant_id\nA,,,\n';
const DIRECTORY = '--out must be the name of a file, not of a directory';

it.each([
  ['au submit tokens.csv --wait --out new/', 2, DIRECTORY],
  ['au download 5f0c0000-0000-4000-8000-000000000000 --out new/', 2, DIRECTORY],
  ['au next tokens.csv tokens.csv --exclusions new/', 2, '--exclusions must be the name of a file, not of a directory'],
  ['au submit tokens.csv --wait --out tokens.csv/results.csv', 1, 'it is not a directory, or below something'],
  [`au submit tokens.csv --wait --out ${'r'.repeat(256)}`, 1, 'its name is too long'],
  [`au submit tokens.csv --wait --force --out ${'r'.repeat(256)}`, 1, 'its name is too long'],
])('svc %s ends with %i before anything is sent: %s', async (line, exit, message) => {
  const home = temporaryDirectory();
  writeFileSync(join(home, 'tokens.csv'), REQUEST);
  const here = await startSandboxHere();
  const { code, stderr } = await svcIn(home, line.split(' '), here);
  expect([code, stderr]).toEqual([exit, expect.stringContaining(message)]);
  const jobs = await svcIn(home, ['api', '/account-updater/jobs', '--jq', '.data | length'], here);
  expect([jobs.stdout.trim(), existsSync(join(home, 'new'))]).toEqual(['0', false]);
});

it('R44: the longest name that a file system allows is written', async () => {
  const home = temporaryDirectory();
  const name = `${'é'.repeat(125)}.csvx`;
  writeFileSync(join(home, 'tokens.csv'), REQUEST);
  const argv = ['au', 'submit', 'tokens.csv', '--wait', '--out', name];
  const { code, stderr } = await svcIn(home, argv, await startSandboxHere({ processingMs: 0 }));
  expect([code, existsSync(join(home, name))], stderr).toEqual([0, true]);
});
