import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from './build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;

it.each([
  ['review', '--html'],
  ['review --access', '--html'],
  ['evidence', '--out'],
])('R76: svc logs %s writes no file of %s into an archive, however it is named', async (command, option) => {
  const { top } = await buildArchive(START, [
    { to: START + DAY, entries: [{ tenant_id: TENANT, created_at: new Date(START).toISOString() }] },
  ]);
  const { top: other } = await buildArchive(START, []);
  const cwd = temporaryDirectory();
  fs.symlinkSync(top, path.join(cwd, 'link'));
  const before = [filesIn(top), filesIn(other)];
  for (const [archive, typed, into] of [
    [top, path.join(top, 'x'), top],
    ['link', path.join(top, '_manifest', 'x'), top],
    [top, 'link/x', top],
    [top, path.join(other, 'x'), other],
  ] as const) {
    const run = await svcHere(['logs', ...command.split(' '), archive, option, typed, '--force'], {
      clock: new FakeClock({ start: START + 1.5 * DAY }),
      cwd,
    });
    const message = `${option} would write ${typed} into the archive ${into}`;
    expect([run.code, errorIn(run)['message'], [filesIn(top), filesIn(other)]]).toEqual([2, message, before]);
  }
  const beside = await svcHere(['logs', ...command.split(' '), top, option, `${top}-page`], {
    clock: new FakeClock({ start: START + 1.5 * DAY }),
    cwd,
  });
  fs.rmSync(`${top}-page`);
  expect(beside.code).toBe(0);
});

it.each([
  ['stats', '--html'],
  ['tail', '--checkpoint'],
])('R76: svc logs %s of the service writes no file of %s into an archive', async (command, option) => {
  const { top } = await buildArchive(START, []);
  const before = filesIn(top);
  const typed = path.join(top, 'x');
  const run = await svcHere(['--sandbox', 'logs', command, option, typed]);
  const message = `${option} would write ${typed} into the archive ${top}`;
  expect([run.code, errorIn(run)['message'], filesIn(top)]).toEqual([2, message, before]);
});
