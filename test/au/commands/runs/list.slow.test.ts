import { renameSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { svcHere } from '../../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from '../support.ts';

const DAY = 86_400_000;

async function listed(desk: QuickDesk, line = 'au runs'): Promise<Record<string, unknown>[]> {
  const { stdout } = await desk.svc(`${line} -o json`);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

it('svc au runs shows of each run how old it is, how long it can take, and where its results went', async () => {
  const desk = await openQuickDesk();
  await desk.svc('au submit tokens.csv --wait --out results.csv');
  expect(await listed(desk)).toMatchObject([{ status: 'completed', age: '0s', left: null, results: 'results.csv' }]);
});

it('svc au runs shows a path on a terminal whole or not at all', async () => {
  const desk = await openQuickDesk();
  const file = 'tokens of all customers for 2026-12.csv';
  const results = 'results of all customers for 2026-12.csv';
  renameSync(desk.home.file('tokens.csv'), desk.home.file(file));
  await desk.svc(['au', 'submit', file, '--wait', '--out', results]);
  const { home, env, clock } = desk;
  for (const columns of [60, 80, 100, 120, 140, 160, 240]) {
    const options = { clock, home: home.path, env: home.environment({ ...env, PAGER: 'cat' }), columns };
    const { code, stdout } = await svcHere(['au', 'runs'], options);
    expect(code).toBe(0);
    expect(stdout).not.toContain('…');
    expect(stdout.includes(file)).toBe(columns > 100);
    expect(stdout.includes(results)).toBe(columns > 160);
  }
});

it('svc au runs says of an open run how long it can take at most, and then how late it is', async () => {
  const desk = await openQuickDesk({ processingMs: 30 * DAY });
  await desk.svc('au submit tokens.csv');
  expect(await listed(desk)).toMatchObject([{ status: 'pending', left: 'at most 7d', results: null }]);
  await desk.clock.advance(9 * DAY);
  expect(await listed(desk)).toMatchObject([{ age: '9d', left: 'late by 2d' }]);
});

it('svc au runs --stale lists the runs that are open for too long, with exit code 10, and says when there are none', async () => {
  const desk = await openQuickDesk({ processingMs: 30 * DAY });
  expect(await desk.svc('au runs --stale 8d')).toMatchObject({ code: 0, stderr: expect.stringContaining('no runs') });
  await desk.svc('au submit tokens.csv');
  const none = await desk.svc('au runs --stale 8d');
  expect([none.code, none.stdout]).toEqual([0, '']);
  expect(none.stderr).toContain('no run is stale (1 run recorded on this machine)');
  await desk.clock.advance(9 * DAY);
  const stale = await desk.svc('au runs --stale 8d');
  expect(stale.code).toBe(10);
  expect(JSON.parse(stale.stdout)).toMatchObject({ status: 'pending', age: '9d' });
  expect(stale.stderr).toContain('svc au resume');
  writeFileSync(desk.home.file(`.local/state/svc/runs/${desk.runIds()[0] ?? ''}/run.json`), '{');
  expect((await desk.svc('au runs --stale 8d')).code).toBe(3);
});
