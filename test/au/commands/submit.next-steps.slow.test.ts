import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere, svcIn } from '../../support/run-here.ts';
import { openMachine } from './machine.ts';
import { openQuickDesk } from './support.ts';

it.each([
  ['au submit q.csv --out -', 'svc au download <run> --out -'],
  ['au report r.csv', 'svc au download <run> --force'],
])('%s fails with the command that helps', async (line, next) => {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-next-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'r.csv'), 'token,result_code\n"open');
  const result = await svcHere(line.split(' '), { cwd, baseUrl: new URL('http://127.0.0.1:9') });
  expect(errorIn(result)).toMatchObject({ next });
});

it('svc au resume names the submitted file in the command that submits it again, also in a directory with another file of that name', async () => {
  const desk = await openQuickDesk({
    intercept(incoming, outgoing, proceed) {
      const [id] = /[0-9a-f-]{36}$/.exec(incoming.url ?? '') ?? [];
      if (incoming.method !== 'GET' || id === undefined) return proceed();
      const failed = JSON.stringify({ id, status: 'failed', errors: ['made up'] });
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(failed);
    },
  });
  mkdirSync(desk.home.file('data'));
  mkdirSync(desk.home.file('other'));
  for (const name of ['data/tokens.csv', 'other/tokens.csv'])
    copyFileSync(desk.home.file('tokens.csv'), desk.home.file(name));
  expect(await desk.svc('au submit data/tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  const line = ['au', 'resume', desk.runIds()[0] ?? ''];
  const here = await desk.svc(line);
  expect(here.code, here.stderr).toBe(10);
  expect(errorIn(here)).toMatchObject({ next: 'svc au submit data/tokens.csv --cycle 2026-12' });
  const options = { home: desk.home.path, env: desk.home.environment(desk.env), clock: new FakeClock() };
  const there = await svcIn(desk.home.file('other'), line, options);
  expect(errorIn(there)).toMatchObject({ next: `svc au submit ${desk.home.file('data/tokens.csv')} --cycle 2026-12` });
});

it('a submission that a young cycle refuses names commands with the options typed', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --cycle first-half --wait')).toMatchObject({ code: 0 });
  const file = machine.path('work/tokens.csv');
  const typed = `au submit ${file} --only-recorded --wait --out ${machine.path('work/r.csv')} --fail-on err`;
  const refused = await machine.svc(`${typed} --cycle second-half`);
  expect([refused.code, errorIn(refused)], refused.stderr).toEqual([
    6,
    expect.objectContaining({
      next: `svc ${typed} --cycle first-half`,
      alternatives: [`svc ${typed} --cycle second-half --pay-again`],
    }),
  ]);
});

it('a submission with an empty ledger names the command that begins it with the options typed', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  await machine.clock.advance(60_000);
  const file = machine.path('work/tokens.csv');
  const out = machine.path('work/r.csv');
  const line = `au submit ${file} --cycle c9 --only-recorded --wait --out ${out} --fail-on err`;
  const refused = await machine.svc(line, { SVC_STATE_DIR: machine.path('elsewhere') });
  expect([refused.code, errorIn(refused)['alternatives']], refused.stderr).toEqual([
    9,
    ['svc au jobs', `svc ${line} --new-ledger`],
  ]);
});

it('a run that was resumed before its cycle may begin names commands with --only-recorded, with which it was submitted', async () => {
  const machine = await openMachine();
  // With a job, the tenant is known before the run begins.
  expect(await machine.svc('au create')).toMatchObject({ code: 0 });
  machine.fault = ({ method }, outgoing, proceed) => (method === 'POST' ? outgoing.writeHead(403).end() : proceed());
  const file = machine.path('work/tokens.csv');
  expect(await machine.svc('au submit tokens.csv --cycle second-half --only-recorded')).toMatchObject({ code: 4 });
  machine.fault = undefined;
  const [run = ''] = machine.runIds();
  const rows = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/other.csv'), `${rows.slice(0, -2).join('\n')}\n`);
  expect(await machine.svc('au submit other.csv --cycle first-half --wait')).toMatchObject({ code: 0 });
  const refused = await machine.svc(`au resume ${run}`);
  expect([refused.code, errorIn(refused)], refused.stderr).toEqual([
    6,
    expect.objectContaining({
      next: `svc au submit ${file} --only-recorded --cycle first-half`,
      alternatives: [`svc au submit ${file} --only-recorded --cycle second-half --pay-again`],
    }),
  ]);
});

it('an interrupted submission with --pay-again names a command with --pay-again, which resuming does not take', async () => {
  let isBusy = false;
  const { svc, uploads } = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      isBusy && method === 'POST' ? outgoing.writeHead(429, { 'retry-after': '900' }).end() : proceed(),
  });
  expect(await svc('au submit tokens.csv --cycle first-half --wait --yes')).toMatchObject({ code: 0 });
  const line = 'au submit tokens.csv --cycle second-half --wait --out second.csv --pay-again';
  isBusy = true;
  const interrupted = await svc(`${line} --yes --timeout 10m --max-wait 2h`);
  expect(errorIn(interrupted), interrupted.stderr).toMatchObject({
    code: 'timeout',
    next: 'svc au submit tokens.csv --cycle second-half --pay-again --wait --out second.csv',
  });
  isBusy = false;
  const again = await svc(`${line} --yes`);
  expect(again.code, again.stderr).toBe(0);
  expect(uploads()).toBe(2);
});
