import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { ended, type HereResult, rowsIn, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const home = temporaryDirectory();
const directory = join(home, 'sandbox');
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory });
});
afterAll(() => sandbox.close());

function svc(...argv: string[]): Promise<HereResult> {
  const env = { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
  return svcHere(argv, { baseUrl: new URL(sandbox.url), env, cwd: home });
}

const outcome = (...argv: string[]) => svc('sandbox', 'outcome', '--directory', directory, ...argv);
const run = (expected: string, ...argv: string[]) =>
  svc('3ds', 'run', '--card', 'Successful Frictionless', '--expect', expected, ...argv);

it.each(['file', 'file/below'])(
  'the commands of the sandbox refuse --directory %s, which is no directory',
  async (name) => {
    writeFileSync(join(home, 'file'), 'mine');
    for (const words of ['outcome', 'clock', 'requests', 'cards', 'reset --yes', 'start --port 0', 'exec -- true']) {
      const argv = ['sandbox', ...words.split(' ')];
      const { code, stderr } = await svc(...argv.toSpliced(2, 0, '--directory', join(home, name)), '-o', 'json');
      expect({ words, code, stderr }).toEqual({ words, code: 1, stderr: expect.stringContaining('a file is there') });
    }
    expect(readFileSync(join(home, 'file'), 'utf8')).toBe('mine');
  },
);

it.each(['outcome', 'outcome status=failed', 'clock', 'clock +1d', 'requests', 'reset --yes'])(
  'svc sandbox %s refuses a --directory that does not exist, and creates none',
  async (words) => {
    const missing = join(home, 'missing');
    const result = await svc('sandbox', ...words.split(' '), '--directory', missing);
    ended(result, 2, { error: { message: 'there is no sandbox in the directory that --directory names' } });
    expect(existsSync(missing)).toBe(false);
  },
);

it.each([
  ['card Nonsense', 'no test card has this scenario'],
  ['card 9', 'no test card has this scenario'],
  ['session nope', 'no session has this id'],
  ['POST /3ds/sessions/nope/authenticate', 'no session has this id'],
])('svc sandbox outcome refuses the %s, which cannot exist', async (target, problem) => {
  ended(await outcome(`status=failed@${target}:#1`), 2, {
    error: { message: expect.stringContaining(`the outcome: outcome 1: ${problem}`) },
  });
});

it('svc sandbox outcome decides the next authentication at a sandbox that runs already', async () => {
  const set = await outcome('reason=card-expired:#1');
  expect([set.code, JSON.parse(set.stdout)]).toEqual([0, { outcome: 'reason=card-expired:#1', matched: 0, tenant: 1 }]);
  expect((await run('failed', '--expect-reason', 'card-expired')).code).toBe(0);
  expect((await run('successful')).code).toBe(0);
  expect(JSON.parse((await outcome()).stdout)).toEqual({ outcome: 'reason=card-expired:#1', matched: 2, tenant: 1 });
});

it('svc sandbox outcome --clear lets the cards decide again', async () => {
  await outcome('status=rejected;eci=06');
  expect((await run('rejected')).code).toBe(0);
  const { stdout, stderr } = await outcome('--clear');
  expect([stdout, stderr]).toEqual([
    '',
    expect.stringMatching(/^no outcome is set for the sandboxes on \/.*: the cards decide\n$/),
  ]);
  expect((await run('successful')).code).toBe(0);
});

it('svc sandbox outcome decides for each tenant, and a request to the sandbox for the tenant of its key', async () => {
  const place = join(home, 'two');
  const two = await startSandbox({ directory: place, tenants: ['test', 'test'] });
  onTestFinished(() => two.close());
  const second = { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-2-private-key' };
  const secondRun = (expected: string) =>
    svcHere(['3ds', 'run', '--card', 'Successful Frictionless', '--expect', expected], {
      baseUrl: new URL(two.url),
      env: second,
    });
  const set = async (...argv: string[]) =>
    rowsIn((await svc('sandbox', 'outcome', '--directory', place, '-o', 'jsonl', ...argv)).stdout);
  expect(await set('status=rejected')).toEqual([
    { outcome: 'status=rejected', matched: 0, tenant: 1 },
    { outcome: 'status=rejected', matched: 0, tenant: 2 },
  ]);
  expect((await secondRun('rejected')).code).toBe(0);
  expect(await set('--clear')).toEqual([]);
  expect((await secondRun('successful')).code).toBe(0);
  const headers = { 'svc-api-key': 'sandbox-2-management-key' };
  await fetch(`${two.url}/sandbox/outcomes`, { method: 'POST', headers, body: 'status=attempted' });
  expect(await set()).toEqual([{ outcome: 'status=attempted', matched: 0, tenant: 2 }]);
});

it('svc 3ds run --outcome decides its own session only', async () => {
  const options = ['--outcome', 'challenge=static,reason=stolen-card', '--expect-reason', 'stolen-card'];
  expect((await run('rejected', ...options)).code).toBe(0);
  expect((await run('successful')).code).toBe(0);
});
