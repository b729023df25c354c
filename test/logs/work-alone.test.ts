import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SvcError } from '../../src/base/errors.ts';
import { thisHost } from '../../src/base/files/lock-owner.ts';
import { workAlone } from '../../src/logs/work-alone.ts';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { buildArchive, TENANT } from './archive/build.ts';
import { startLogServer } from './commands/log-server.ts';
import { temporaryDirectory } from '../support/directory.ts';

const DAY = 86_400_000;
/** A process that the runs believe to live. */
const OTHER = 2 ** 30;
const EXT4 = 0xef53;

function writeLock(file: string, place: string, boot?: string): void {
  const owner = { pid: OTHER, token: '0123456789abcdef', since: '2026-01-01T00:00:00.000Z', place, boot };
  fs.writeFileSync(file, JSON.stringify(owner));
}

it.each([
  { argv: ['archive', 'ARCHIVE'], lock: '.lock' },
  { argv: ['review', 'ARCHIVE', '--sign-off'], lock: '.review.lock' },
  { argv: ['review', 'ARCHIVE', '--access', '--sign-off'], lock: '.review.lock' },
  { argv: ['tail', '--last', '1', '--checkpoint', 'ARCHIVE/../cp'], lock: '../cp.lock' },
])(
  'R72: svc logs $argv.0 ends with 11 while a living process has $lock, with 3 where nobody knows whether it lives, and goes on after a restart of the machine',
  async ({ argv, lock }) => {
    const server = await startLogServer();
    server.tenant = TENANT;
    const now = Date.now();
    const { top } = await buildArchive(now - 3 * DAY, [{ to: now }], server.url);
    const run = () =>
      svcHere(['logs', ...argv.map((word) => word.replace('ARCHIVE', top)), '-o', 'json'], {
        baseUrl: new URL(server.url),
        clock: new FakeClock({ start: now }),
        cwd: temporaryDirectory(),
      });
    const file = path.join(top, lock);
    writeLock(file, thisHost());
    const held = await run();
    expect([held.code, errorIn(held)]).toEqual([
      11,
      expect.objectContaining({ code: 'pending', retryable: true, held_by: OTHER }),
    ]);
    writeLock(file, 'another machine');
    const unknown = await run();
    expect([unknown.code, errorIn(unknown)['code']]).toEqual([3, 'config']);
    fs.rmSync(file);
    expect((await run()).code).toBe(0);
    // Only Linux tells one start of a machine from another.
    if (process.platform !== 'linux') return;
    const statfs = vi.spyOn(fs, 'statfsSync').mockReturnValue({ type: EXT4 } as fs.StatsFs);
    onTestFinished(() => statfs.mockRestore());
    writeLock(file, thisHost(), '00000000-0000-4000-8000-000000000000');
    const restarted = await run();
    expect([restarted.code, fs.existsSync(file)], restarted.stderr).toEqual([0, false]);
  },
);

it('R72: work that fails at the lock of another file is not called pending', async () => {
  const failure = new SvcError('config', 'the configuration is locked', { facts: { held_by: OTHER } });
  await expect(
    workAlone(
      (work) => work(),
      () => Promise.reject(failure),
    ),
  ).rejects.toBe(failure);
});
