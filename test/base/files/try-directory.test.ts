import fs from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tryDirectory } from '../../../src/base/files/try-directory.ts';
import { linkIfFree } from '../../../src/base/files/target.ts';
import { succeeded, svcHere } from '../../support/run-here.ts';
import { refuseLinks } from '../../support/refuse-links.ts';
import { temporaryDirectory } from '../../support/directory.ts';

async function doctor(home: string) {
  const { stdout } = await svcHere(['doctor', '-o', 'json'], { env: { SVC_STATE_DIR: home } });
  const findings = JSON.parse(stdout) as { check: string; result: string; code: string | null; found: string }[];
  return findings.find(({ check }) => check === 'state directory');
}

it('svc doctor tries the state directory, and leaves nothing there', async () => {
  const home = temporaryDirectory();
  expect(await doctor(home)).toMatchObject({ result: 'ok', found: home });
  expect(fs.readdirSync(home)).toEqual([]);
});

it.each([
  ['EIO', 'failed', 'has no hard links (EIO)'],
  ['ENOTSUP', 'warning', 'may not stop other machines'],
])('svc doctor says what a state directory lacks that answers %s to a hard link', async (code, result, found) => {
  const home = temporaryDirectory();
  refuseLinks(home, code);
  expect(await doctor(home)).toMatchObject({ result, found: expect.stringContaining(found) });
  expect(fs.readdirSync(home)).toEqual([]);
});

it('svc doctor fails where the mode of a file cannot be set, as submitting does', async () => {
  const home = temporaryDirectory();
  const chmod = vi.spyOn(fs, 'fchmodSync').mockImplementation(() => {
    throw Object.assign(new Error('ENOSYS: fchmod'), { code: 'ENOSYS', syscall: 'fchmod' });
  });
  onTestFinished(() => chmod.mockRestore());
  const found = expect.stringContaining('cannot set the mode of a file (ENOSYS)');
  expect(await doctor(home)).toMatchObject({ result: 'failed', code: 'config', found });
});

it('a directory that creates a file that exists once more is refused', () => {
  const home = temporaryDirectory();
  const open = fs.openSync;
  const spy = vi
    .spyOn(fs, 'openSync')
    .mockImplementation((file, flags, mode) =>
      open(file, flags === 'wx' && fs.existsSync(file) ? 'w' : (flags ?? 'r'), mode),
    );
  onTestFinished(() => spy.mockRestore());
  expect(() => tryDirectory(home)).toThrow('creates a file that exists once more');
});

it('a name is taken where a hard link is refused with EPERM because another was faster', () => {
  fs.writeFileSync('draft', '');
  fs.writeFileSync('name', '');
  refuseLinks('name', 'EPERM');
  expect(linkIfFree('draft', 'name')).toBe(false);
  expect(() => linkIfFree('draft', 'name-2')).toThrow('EPERM');
});

it('svc logs archive warns where another machine may take the same lock, and names a bucket', async () => {
  const home = temporaryDirectory();
  refuseLinks(home, 'ENOTSUP');
  const onDisk = vi.spyOn(fs, 'statfsSync').mockReturnValue({ type: 0x65735546 } as fs.StatsFs);
  onTestFinished(() => onDisk.mockRestore());
  const { stderr } = succeeded(await svcHere(['--sandbox', 'logs', 'archive', `${home}/audit`, '--quiet'], {}));
  expect(stderr).toContain('its lock may not stop other machines: let only one write to the archive, or use a bucket');
});
