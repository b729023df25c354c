import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findLost } from '../../../src/logs/archive/missing.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, openStore, TENANT } from '../archive/build.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;

/** Builds an archive of some commits with an entry each. */
function archive() {
  const commits = [1, 2, 3, 4].map((hour) => ({
    to: START + hour * HOUR,
    entries: [
      { tenant_id: TENANT, message: `entry ${hour}`, created_at: new Date(START + hour * HOUR - 1).toISOString() },
    ],
  }));
  return buildArchive(START, commits);
}

/** Lists the folders of an archive as sshfs does for 20 s: without some files, and with some that are gone. */
function cacheLists(top: string, isHidden: (file: string) => boolean, gone: readonly string[] = []): void {
  const list = fs.readdirSync;
  const spy = vi.spyOn(fs, 'readdirSync').mockImplementation(((folder: string, options: object) => {
    const entries = list(folder, options as { withFileTypes: true });
    if (!folder.startsWith(top)) return entries;
    const ghosts = gone
      .filter((file) => path.dirname(file) === path.relative(top, folder))
      .map((file) => ({ name: path.basename(file), isDirectory: () => false }));
    return [...entries.filter(({ name }) => !isHidden(path.relative(top, path.join(folder, name)))), ...ghosts];
  }) as typeof fs.readdirSync);
  const stat = fs.lstatSync;
  const stats = vi
    .spyOn(fs, 'lstatSync')
    .mockImplementation(((file: string, options: object) =>
      gone.includes(path.relative(top, file))
        ? { size: 1, isFile: () => true }
        : stat(file, options)) as typeof fs.lstatSync);
  onTestFinished(() => [spy, stats].forEach((each) => each.mockRestore()));
}

function verify(top: string, ...argv: string[]) {
  return svcHere(['logs', 'verify', top, ...argv], { clock: new FakeClock({ start: START + 5 * HOUR }) });
}

it.each([[], ['--manifest-only'], ['--manifest-only', '--max-age', '2h']])(
  'svc logs verify %s opens what a list of another time lacks, and finds an intact archive',
  async (...argv) => {
    const { top, links } = await archive();
    // All that the last two commits wrote, and one that an earlier commit wrote.
    cacheLists(top, (file) => /0000000[134]/.test(file));
    const { code, stdout, stderr } = await verify(top, ...argv, '-o', 'json');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(links.at(-1)?.sha256);
    expect(await findLost(openStore(top))).toEqual({ missing: [], changed: [] });
  },
);

it('svc logs verify finds a file that cannot be opened although a list has it, and one that no list has', async () => {
  const { top } = await archive();
  const segment = filesIn(top).find((file) => file.startsWith('tenant=') && file.includes('00000002')) ?? '';
  fs.rmSync(path.join(top, segment));
  cacheLists(top, (file) => file === segment);
  const ended = await verify(top, '-o', 'json');
  expect([ended.code, errorIn(ended)['code']], ended.stderr).toEqual([12, 'checksum_mismatch']);
  expect((await findLost(openStore(top))).missing).toEqual([segment]);
});

it('svc logs verify does not report files that a list still has after they were removed', async () => {
  const { top } = await archive();
  cacheLists(top, () => false, ['_manifest/position-00000002-0123456789ab.json', 'note.txt']);
  expect(await verify(top)).toMatchObject({ code: 0 });
});
