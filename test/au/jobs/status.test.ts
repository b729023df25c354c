import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { openQuickDesk } from '../commands/support.ts';
import { succeeded } from '../../support/run-here.ts';

/** A desk whose machines share a ledger, and whose service can forget all jobs. */
async function openSharing() {
  const service = { forgets: false, refuses: false };
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    if (service.refuses) {
      outgoing.writeHead(403, { 'content-type': 'application/problem+json' }).end('{"title":"Forbidden","status":403}');
      return;
    }
    if (service.forgets && /\/jobs\/[^/]+$/.test(incoming.url ?? ''))
      outgoing.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"Not Found","status":404}');
    else proceed();
  };
  const desk = await openQuickDesk({ intercept, processingMs: 3_600_000 });
  mkdirSync(desk.home.file('ledger'));
  const on = (machine: string, line: string) =>
    desk.svc(line, { SVC_STATE_DIR: desk.home.file(machine), SVC_LEDGER: desk.home.file('ledger') });
  return { ...desk, service, on };
}

it('svc au status shows the open cycles of the ledger on a machine that sent nothing, until somebody reads the results', async () => {
  const { on, clock } = await openSharing();
  const none = await on('laptop', 'au status');
  expect([none.code, none.stdout]).toEqual([0, '']);
  const sent = succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
  const { job } = JSON.parse(sent.stdout) as { readonly job: string };
  await clock.advance(60_000);
  const open = succeeded(await on('laptop', 'au status'));
  const row = { cycle: '2026-12', status: 'processing', file: 'tokens.csv', rows: 40, jobs: 1, open_jobs: [job] };
  expect(JSON.parse(open.stdout)).toMatchObject(row);
  await clock.advance(3_700_000);
  expect(JSON.parse((await on('laptop', 'au status')).stdout)).toMatchObject({ ...row, status: 'completed' });
  expect(await on('runner', 'au resume')).toMatchObject({ code: 0 });
  const done = await on('laptop', 'au status');
  expect([done.code, done.stdout]).toEqual([0, '']);
  expect(done.stderr).toContain('no job is open');
});

it('svc au status says that a ledger without any job is not the one that the other machines use', async () => {
  const { on, home, svc } = await openSharing();
  expect(await on('runner', 'au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  const alone = await svc('au status', { SVC_STATE_DIR: home.file('alone') });
  expect([alone.code, alone.stdout]).toEqual([0, '']);
  expect(alone.stderr).toMatch(/^the ledger in .* has no job: what was sent without it is not known here$/m);
  expect(alone.stderr).toContain('svc au jobs');
});

it('svc au status ends with 9 for a cycle with a job that the service does not know', async () => {
  const { on, service } = await openSharing();
  expect(await on('runner', 'au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  service.forgets = true;
  const open = await on('laptop', 'au status');
  expect([open.code, JSON.parse(open.stdout)], open.stderr).toEqual([
    9,
    expect.objectContaining({ status: 'unknown' }),
  ]);
});

it('svc au status shows nothing to a key that may not list jobs, and says so', async () => {
  const { on, service } = await openSharing();
  expect(await on('runner', 'au submit tokens.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  service.refuses = true;
  expect(await on('laptop', 'au status')).toMatchObject({ code: 4, stdout: '' });
});
