import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { openQuickDesk } from '../commands/support.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';

const OF_CYCLE = 'au resume 2026-12 --wait --out all.csv --fail-on err=5%';

it.each([
  {
    line: 'au resume --wait --fail-on err=5% --stale 8d --exec true',
    again: 'au resume --wait --fail-on err=5% --stale 691200s --exec true',
    on: 'the machine that sent the file',
  },
  { line: 'au wait', again: 'au resume --wait', on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'another machine' },
])('R43: an interrupt of svc $line prints the same command again on $on', async ({ line, again, on }) => {
  const interrupt = new AbortController();
  let polls = -Infinity;
  const desk = await openQuickDesk({
    processingMs: 3_600_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method === 'GET' && /\/jobs\/[^/]+$/.test(incoming.url ?? '') && (polls += 1) === 4)
        interrupt.abort(new SvcError('interrupted', 'interrupted'));
      proceed();
    },
  });
  const shared = { SVC_LEDGER: desk.home.file('ledger') };
  const elsewhere = on === 'another machine' ? { SVC_STATE_DIR: desk.home.file('elsewhere') } : {};
  expect(await desk.svc('au submit tokens.csv --cycle 2026-12', shared)).toMatchObject({ code: 0 });
  polls = 0;
  const env = desk.home.environment({ ...desk.env, ...shared, ...elsewhere });
  const here = { home: desk.home.path, env, signal: interrupt.signal };
  const ended = await svcHere(line.split(' '), here);
  expect(ended.code, ended.stderr).toBe(130);
  expect(errorIn(ended)).toMatchObject({ next: `svc ${again}` });
});

it.each([
  [
    'au submit other.csv --wait --fail-on err=5% --summary s.md',
    'au resume RUN --wait --fail-on err=5% --summary s.md',
  ],
  ['au resume RUN --wait --out r.csv --force --fail-on err=5% --exec true'],
  ['au resume JOB --wait --summary s.md'],
])('R43: an interrupt of the wait of svc %s prints a command with the same options', async (line, again = line) => {
  const interrupt = new AbortController();
  let polls = -Infinity;
  const desk = await openQuickDesk({
    processingMs: 3_600_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method === 'GET' && /\/jobs\/[^/]+$/.test(incoming.url ?? '') && (polls += 1) === 4)
        interrupt.abort(new SvcError('interrupted', 'interrupted'));
      proceed();
    },
  });
  const submitted = await desk.svc('au submit tokens.csv');
  const { run, job } = JSON.parse(submitted.stdout) as { readonly run: string; readonly job: string };
  writeFileSync(desk.home.file('other.csv'), 'token,expiration_year,expiration_month,merchant_id\nother,,,\n');
  polls = 0;
  const inHome = (words: string): string => words.replaceAll(/\b\w+\.(csv|md)\b/g, (name) => desk.home.file(name));
  const words = inHome(line).replace('RUN', run).replace('JOB', job).split(' ');
  const here = { home: desk.home.path, env: desk.home.environment(desk.env), signal: interrupt.signal };
  const ended = await svcHere(words, here);
  expect(ended.code, ended.stderr).toBe(130);
  const resumed = desk.runIds().find((id) => line.includes('RUN') || id !== run) ?? '';
  expect(errorIn(ended)).toMatchObject({ next: `svc ${inHome(again).replace('RUN', resumed).replace('JOB', job)}` });
});
