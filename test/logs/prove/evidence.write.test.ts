import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SvcError, writeFailure } from '../../../src/base/errors.ts';
import { Draft } from '../../../src/base/files/draft.ts';
import { ended, errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;

it.each([
  ['ENOSPC', 'the disk is full'],
  ['EFBIG', 'the file size limit is reached'],
])(
  'R70: svc logs evidence names the file that cannot be written (%s), and leaves nothing of it',
  async (code, reason) => {
    const entry = { tenant_id: TENANT, created_at: new Date(START).toISOString() };
    const { top } = await buildArchive(START, [{ to: START + DAY, entries: [entry] }]);
    const cwd = temporaryDirectory();
    const failure = writeFailure('e.tgz', Object.assign(new Error('full'), { code }));
    const full = vi.spyOn(Draft.prototype, 'write').mockRejectedValue(failure);
    onTestFinished(() => full.mockRestore());
    const run = await svcHere(['logs', 'evidence', top, '--out', path.join(cwd, 'e.tgz'), '-o', 'json'], { cwd });
    expect([run.code, errorIn(run)]).toEqual([
      1,
      expect.objectContaining({ code: 'local', message: expect.stringMatching(`e.tgz .*${reason}.*\\(${code}\\)`) }),
    ]);
    expect(fs.readdirSync(cwd)).toEqual([]);
  },
);

it('R53: svc logs evidence that is interrupted while it writes says so, and leaves nothing of its file', async () => {
  const entry = { tenant_id: TENANT, created_at: new Date(START).toISOString() };
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: [entry] }]);
  const cwd = temporaryDirectory();
  const stop = new AbortController();
  const write = vi.spyOn(Draft.prototype, 'write').mockImplementation(async () => {
    stop.abort(new SvcError('interrupted', 'interrupted'));
  });
  onTestFinished(() => write.mockRestore());
  const argv = ['logs', 'evidence', top, '--out', path.join(cwd, 'e.tgz'), '-o', 'json'];
  const run = await svcHere(argv, { cwd, signal: stop.signal });
  ended(run, 130, { error: { code: 'interrupted' } });
  expect(fs.readdirSync(cwd)).toEqual([]);
});
