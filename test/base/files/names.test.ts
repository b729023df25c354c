import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isShared, makeDirectory, modeText } from '../../../src/base/files/directory.ts';
import { writeFileAtomicSync } from '../../../src/base/files/draft.ts';
import { syncDirectory, whileBusy } from '../../../src/base/files/durable.ts';
import { withLock } from '../../../src/base/files/lock.ts';
import { isSamePath, refuseWindowsName } from '../../../src/base/files/names.ts';
import { inspectTarget, linkUnlessTaken } from '../../../src/base/files/target.ts';
import { resolvePath } from '../../../src/cli/app/files/typed-path.ts';
import { testSystem } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

afterEach(() => vi.restoreAllMocks());

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/** Returns a change that fails this many times before it succeeds. */
function busy(times: number, code = 'EPERM'): { change: () => string; calls: () => number } {
  let calls = 0;
  const change = (): string => {
    calls += 1;
    if (calls <= times) throw failure(code);
    return 'made';
  };
  return { change, calls: () => calls };
}

describe('a change of a file that another program has open', () => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])(
    'R11: a change of a file that another program has open is tried again on Windows, with longer pauses (%s)',
    (code) => {
      const pauses: number[] = [];
      expect(whileBusy(busy(3, code).change, 'win32', (ms) => void pauses.push(ms))).toBe('made');
      expect(pauses).toEqual([10, 20, 40]);
    },
  );

  it('a change of a file that another program has open is given up after a second, with the error of the system', () => {
    const pauses: number[] = [];
    const { change, calls } = busy(100);
    expect(() => whileBusy(change, 'win32', (ms) => void pauses.push(ms))).toThrow('EPERM');
    expect(calls()).toBe(8);
    expect(pauses.reduce((sum, ms) => sum + ms)).toBe(1270);
  });

  it.each([
    ['linux', 'EPERM'],
    ['darwin', 'EBUSY'],
    ['win32', 'ENOSPC'],
    ['win32', 'EEXIST'],
  ] as const)(
    'a change of a file that another program has open is not tried again on %s after %s',
    (platform, code) => {
      const { change, calls } = busy(1, code);
      expect(() => whileBusy(change, platform, () => {})).toThrow(code);
      expect(calls()).toBe(1);
    },
  );

  it('R11: a change of a file that another program has open ends well for a small file, a finished draft and a lock', async () => {
    vi.spyOn(os, 'platform').mockReturnValue('win32');
    const directory = temporaryDirectory();
    const file = path.join(directory, 'a.json');
    const { renameSync, rmSync } = fs;
    let refusals = 2;
    const once =
      <A extends unknown[]>(change: (...given: A) => void) =>
      (...given: A): void => {
        if (refusals-- > 0) throw failure('EBUSY');
        change(...given);
      };
    vi.spyOn(fs, 'renameSync').mockImplementation(once(renameSync));
    writeFileAtomicSync(file, 'new');
    expect(fs.readFileSync(file, 'utf8')).toBe('new');
    refusals = 1;
    vi.spyOn(fs, 'rmSync').mockImplementation(once(rmSync));
    expect(await withLock(path.join(directory, 'lock'), testSystem(), () => 7)).toBe(7);
    expect(fs.readdirSync(directory)).toEqual(['a.json']);
  });
});

describe('a file system without hard links', () => {
  it.each(['EPERM', 'ENOTSUP', 'EISDIR'])(
    'R44: a file system without hard links gives a file its name by a rename (%s)',
    (code) => {
      vi.spyOn(fs, 'linkSync').mockImplementation(() => {
        throw failure(code);
      });
      const [from, to] = ['from', 'to'].map((name) => path.join(temporaryDirectory(), name));
      fs.writeFileSync(from ?? '', 'whole');
      expect(linkUnlessTaken(from ?? '', to ?? '')).toBe(true);
      expect(fs.readFileSync(to ?? '', 'utf8')).toBe('whole');
    },
  );

  it.each(['EPERM', 'EISDIR', 'EACCES', 'EINVAL'])(
    'a file system without hard links need not let directories be flushed (%s)',
    (code) => {
      vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
        throw failure(code);
      });
      expect(() => syncDirectory(temporaryDirectory())).not.toThrow();
    },
  );
});

const UNFIT = [
  'CON',
  'con',
  'aux.csv',
  'C:\\data\\AUX',
  'prn.tar.gz',
  'COM1',
  'com¹.txt',
  'lpt9.csv',
  'nul.csv',
  'NUL .csv',
  'results.csv.',
  'results.csv ',
  'a. \\b.csv',
  'C:\\dir.\\x',
  'a:b:c',
  'run:1.csv',
  'C:\\a:stream',
  'a?.csv',
  'a*',
  '"a"',
  'a|b',
  '<file>',
  'a\u0007b',
];
const FIT = [
  'a.csv',
  'C:\\a',
  'C:a',
  'c:/a/b.csv',
  '\\\\server\\share\\a.csv',
  '.\\a',
  '..\\a',
  '../a',
  '.hidden',
  'a b.csv',
  'NUL',
  'console.csv',
  'auxiliary.csv',
  'com10.csv',
  'comma.csv',
  'é.csv',
  `C:\\${'long'.repeat(70)}\\a.csv`,
  '\\\\?\\C:\\a',
  '\\\\.\\pipe\\svc',
  '-',
  '',
];

describe('a name on Windows', () => {
  it.each(UNFIT)('a name on Windows is refused where it means something else than a file of this name: %j', (name) => {
    expect(() => refuseWindowsName(name, 'win32')).toThrow('cannot be the name of a file on Windows');
    expect(() => refuseWindowsName(name, 'linux')).not.toThrow();
    expect(() => resolvePath({ system: { cwd: '/', platform: 'win32' } }, name)).toThrow(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining('CON') as unknown }),
    );
  });

  it.each(FIT)('a name on Windows is taken: %j', (name) => {
    expect(() => refuseWindowsName(name, 'win32')).not.toThrow();
  });

  it('a name on Windows is refused before anything is written or made', async () => {
    vi.spyOn(os, 'platform').mockReturnValue('win32');
    const directory = temporaryDirectory();
    await expect(inspectTarget(path.join(directory, 'aux.csv'), true)).rejects.toMatchObject({ code: 'usage' });
    expect(() => makeDirectory(path.join(directory, 'runs.', 'a'))).toThrow('on Windows');
    expect(fs.readdirSync(directory)).toEqual([]);
  });
});

describe('a long name', () => {
  it('a long name is taken on a path of more than 260 characters, and refused in words where a part is too long', () => {
    const directory = path.join(temporaryDirectory(), 'a'.repeat(200), 'b'.repeat(200));
    makeDirectory(directory);
    writeFileAtomicSync(path.join(directory, 'c.json'), '1');
    expect(fs.readFileSync(path.join(directory, 'c.json'), 'utf8')).toBe('1');
    expect(() => writeFileAtomicSync(path.join(directory, 'd'.repeat(300)), '1')).toThrow('its name is too long');
  });
});

describe('two paths', () => {
  it('two paths are the same file on macOS and Windows where they differ in case, or in how an accent is written', () => {
    for (const platform of ['darwin', 'win32'] as const) {
      expect(isSamePath('/a/Runs', '/A/runs/', platform)).toBe(true);
      expect(isSamePath('/a/caf\u00e9', '/a/cafe\u0301', platform)).toBe(true);
    }
    expect(isSamePath('/a/Runs', '/a/runs', 'linux')).toBe(false);
    expect(isSamePath('/a/b/../c', '/a/c', 'linux')).toBe(true);
    expect(isSamePath('/a/b', '/a/c', 'darwin')).toBe(false);
  });
});

describe('permissions on Windows', () => {
  it('permissions on Windows are neither refused nor said to be private: the mode says nothing there', () => {
    const file = path.join(temporaryDirectory(), 'key');
    fs.writeFileSync(file, 'k', { mode: 0o666 });
    fs.chmodSync(file, 0o666);
    const found = fs.statSync(file);
    expect([isShared(found), modeText(found)]).toEqual([true, '0666']);
    vi.spyOn(os, 'platform').mockReturnValue('win32');
    expect([isShared(found), modeText(found)]).toEqual([false, 'access not checked on Windows']);
  });

  it('permissions on Windows leave a symbolic link in place of a file to be refused', async () => {
    const { readPrivateFile } = await import('../../../src/base/files/directory.ts');
    const directory = temporaryDirectory();
    const link = path.join(directory, 'link');
    fs.symlinkSync(path.join(directory, 'file'), link);
    vi.spyOn(os, 'platform').mockReturnValue('win32');
    expect(() => readPrivateFile(link, 1_000, String)).toThrow('is a symbolic link');
  });
});
