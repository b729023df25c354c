import { expect, it } from 'vitest';
import { moveClock } from '../../../src/emulator/state/state.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { LogPage } from '../../../src/schema/log.ts';
import { MANAGEMENT, PRIVATE, sandbox, START } from '../harness.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HOUR = 3_600_000;
const real = () => START;

it('the clock of a directory moves running sandboxes: uploads expire, jobs finish, logs age', async () => {
  const on = await sandbox({ processingMs: 7 * 24 * HOUR });
  const [open, used] = [await on.createJob(), await on.createJob()];
  await on.upload(used, exampleRequestFile());
  expect(moveClock(on.directory, real, (before) => before + 2 * HOUR)).toEqual({
    before: START,
    after: START + 2 * HOUR,
    ahead: 2 * HOUR,
  });
  expect((await on.call(`/account-updater/jobs/${open.id}`, { headers: PRIVATE })).status).toBe(404);
  expect((await on.upload(open, exampleRequestFile())).status).toBe(403);
  expect((await on.readJob(used.id)).status).toBe('processing');
  moveClock(on.directory, real, (before) => before + 7 * 24 * HOUR - 2 * HOUR);
  expect((await on.readJob(used.id)).status).toBe('completed');
  const { data } = await on.json<LogPage>('/logs?size=100', { headers: MANAGEMENT });
  expect(data.map((log) => log.message)).toEqual(['Job read']);
  const answer = await on.call('/nothing');
  expect(Date.parse(answer.headers.get('date') ?? '')).toBe(START + 7 * 24 * HOUR);
});

it('the clock of a directory can be set, read, and set back', () => {
  const directory = temporaryDirectory();
  const to = Date.parse('2027-01-01T00:00:00Z');
  expect(moveClock(directory, real)).toEqual({ before: START, after: START, ahead: 0 });
  expect(moveClock(directory, real, () => to)).toMatchObject({ before: START, after: to });
  expect(moveClock(directory, () => START + 5)).toEqual({ before: to + 5, after: to + 5, ahead: to - START });
  expect(moveClock(directory, real, (before) => before + 10)).toMatchObject({ before: to, after: to + 10 });
  expect(moveClock(directory, real, (_, now) => now)).toEqual({ before: to + 10, after: START, ahead: 0 });
});

it('the clock of a directory does not shut a key out for what lies ahead of a clock that was set back', async () => {
  const on = await sandbox({ limits: 'on' });
  moveClock(on.directory, real, (before) => before + 24 * HOUR);
  for (let count = 0; count < 11; count += 1) await on.call('/account-updater/jobs', { headers: PRIVATE });
  moveClock(on.directory, real, (_, now) => now);
  expect((await on.call('/account-updater/jobs', { headers: PRIVATE })).status).toBe(200);
});
