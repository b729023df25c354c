import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const host = { pid: process.pid, isAlive: () => true, clock: systemClock, signal: new AbortController().signal };

let top: string;
let objects: DirectoryStore;

beforeEach(() => {
  top = temporaryDirectory();
  fs.mkdirSync(path.join(top, 'shared'), { mode: 0o700 });
  objects = new DirectoryStore(path.join(top, 'shared'), host, { noun: 'ledger', writers: 'machines' });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const bytes = (text: string): Uint8Array => Buffer.from(text);

const at = (name: string): string => path.join(top, 'shared', name);

async function read(name: string): Promise<string | undefined> {
  const found = await objects.read(name, 100);
  return found && Buffer.from(found).toString();
}

async function names(prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const { path: name } of objects.list(prefix)) found.push(name);
  return found;
}

function refuse(): never {
  throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
}

describe('objects in a directory', () => {
  it('an object is created once, in private folders, and read back', async () => {
    expect(await objects.create('tenant/cycles/one/00000001.json', bytes('first'))).toBe('created');
    expect(await objects.create('tenant/cycles/one/00000001.json', bytes('second'))).toBe('exists');
    expect(await read('tenant/cycles/one/00000001.json')).toBe('first');
    expect(await read('tenant/cycles/one/00000002.json')).toBeUndefined();
    const folder = path.join(top, 'shared/tenant/cycles/one');
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.readdirSync(folder)).toEqual(['00000001.json']);
  });

  it.each([
    ['a group', 0o2770, 0o640],
    ['everyone, who may remove only their own files', 0o1777, 0o644],
    ['readers', 0o755, 0o644],
    ['its owner', 0o700, 0o600],
  ])(
    'a directory that is shared with %s gives its rights to what is in it, whatever the umask',
    async (_, mode, file) => {
      fs.chmodSync(path.join(top, 'shared'), mode);
      const before = process.umask(0o077);
      try {
        await objects.create('tenant/jobs/a', bytes('a'));
      } finally {
        process.umask(before);
      }
      for (const [name, rights] of [
        ['tenant', mode],
        ['tenant/jobs', mode],
        ['tenant/jobs/a', file],
      ] as const)
        expect((fs.statSync(at(name)).mode & 0o7777).toString(8), name).toBe(rights.toString(8));
    },
  );

  it('a shared directory that is not there is made by nobody, and is not taken for an empty one', async () => {
    fs.rmdirSync(path.join(top, 'shared'));
    const absent = { code: 'config', message: expect.stringContaining(`no directory ${path.join(top, 'shared')}`) };
    await expect(objects.create('tenant/jobs/a', bytes('a'))).rejects.toMatchObject(absent);
    await expect(read('tenant/jobs/a')).rejects.toMatchObject(absent);
    await expect(names('tenant/')).rejects.toMatchObject(absent);
    expect(fs.readdirSync(top)).toEqual([]);
  });

  it('what only this machine uses is private, whatever the rights of the directory', async () => {
    fs.chmodSync(top, 0o777);
    const own = new DirectoryStore(top, host, { noun: 'ledger', writers: 'machine' });
    await own.create('jobs/a', bytes('a'));
    const modes = ['jobs', 'jobs/a'].map((name) => (fs.statSync(path.join(top, name)).mode & 0o777).toString(8));
    expect(modes).toEqual(['700', '600']);
  });

  it('a shared directory that another user closed is named, with exit code 3', async () => {
    await objects.create('tenant/jobs/a', bytes('a'));
    vi.spyOn(fs.promises, 'lstat').mockImplementation(refuse);
    vi.spyOn(fs, 'readdirSync').mockImplementation(refuse);
    const closed = {
      code: 'config',
      exitCode: 3,
      message: expect.stringContaining(`this user may not read the ledger in ${path.join(top, 'shared')}`),
      hint: expect.stringContaining('chmod -R g+rwX'),
    };
    await expect(read('tenant/jobs/a')).rejects.toMatchObject(closed);
    await expect(names()).rejects.toMatchObject(closed);
  });

  it('of many writers at once one creates an object', async () => {
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, writer) => objects.create('jobs/a', bytes(`writer ${writer}`))),
    );
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
  });

  it('a draft that a killed writer left is no object', async () => {
    await objects.create('jobs/a', bytes('a'));
    fs.writeFileSync(path.join(top, 'shared/jobs/.0123456789abcdef'), 'half');
    expect(await names()).toEqual(['jobs/a']);
  });

  it('an object is created only when its bytes and its name are flushed', async () => {
    const order: string[] = [];
    const { fsyncSync, linkSync } = fs;
    vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
      order.push(fs.fstatSync(descriptor).isDirectory() ? 'folder' : 'file');
      fsyncSync(descriptor);
    });
    vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
      order.push('link');
      linkSync(from, to);
    });
    await objects.create('a', bytes('a'));
    expect(order.slice(order.indexOf('file'))).toEqual(['file', 'link', 'folder']);
  });

  it('a failure to flush the folder is no success', async () => {
    await objects.create('a', bytes('a'));
    const { fsyncSync } = fs;
    vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
      if (fs.fstatSync(descriptor).isDirectory()) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      fsyncSync(descriptor);
    });
    await expect(objects.create('b', bytes('b'))).rejects.toMatchObject({ code: 'local' });
  });

  it('a link, a folder, a FIFO or a larger file is not read', async () => {
    await objects.create('large', bytes('x'.repeat(101)));
    fs.symlinkSync(at('large'), at('link'));
    fs.mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('fifo')]);
    for (const name of ['large', 'link', 'folder', 'fifo'])
      await expect(objects.read(name, 100)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });

  it('a file system without hard links is refused, unless the machine is alone with it', async () => {
    vi.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw Object.assign(new Error('no links'), { code: 'EPERM' });
    });
    await expect(objects.create('a', bytes('a'))).rejects.toMatchObject({
      code: 'config',
      message: `the file system of ${path.join(top, 'shared')} has no hard links, so machines cannot share a ledger there`,
    });
    const own = new DirectoryStore(path.join(top, 'own'), host, { noun: 'ledger', writers: 'machine' });
    expect(await own.create('a', bytes('a'))).toBe('created');
    expect(await own.create('a', bytes('b'))).toBe('exists');
    expect(fs.readdirSync(path.join(top, 'own'))).toEqual(['a']);
  });
});
