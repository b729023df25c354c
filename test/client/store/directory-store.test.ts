import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import { type LocalFile, readText } from '../../../src/client/store/store.ts';
import { ARCHIVE } from '../../../src/logs/archive/records/record.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const host = {
  env: {},
  bucketWork: () => os.tmpdir(),
  cwd: os.tmpdir(),
  pid: process.pid,
  isAlive: () => true,
  clock: systemClock,
  signal: new AbortController().signal,
};

let top: string;
let store: DirectoryStore;

beforeEach(() => {
  top = temporaryDirectory();
  store = new DirectoryStore(path.join(top, 'archive'), host, ARCHIVE);
});

function localFile(text: string): LocalFile {
  const file = path.join(store.workDirectory, 'made');
  fs.writeFileSync(file, text);
  return { path: file, bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}

/** Returns the files of the archive that this process has open, on systems that list them. */
function openFiles(): string[] {
  const directory = '/proc/self/fd';
  if (!fs.existsSync(directory)) return [];
  const names = fs.readdirSync(directory).map((fd) => path.join(directory, fd));
  return names
    .filter((name) => fs.existsSync(name))
    .map((name) => fs.readlinkSync(name))
    .filter((name) => name.startsWith(top));
}

async function paths(prefix: string, after?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of store.list(prefix, after)) found.push(file.path);
  return found;
}

async function bytes(file: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of store.stream(file)) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('an archive in a directory', () => {
  it('a directory without an archive lists no files and has no names', async () => {
    expect(await paths('')).toEqual([]);
    expect(await readText(store, '_manifest/head.json')).toBeUndefined();
    await expect(bytes('a')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('the store creates complete files, from text and from a local file, and never overwrites one', async () => {
    await store.lock(async () => {
      expect(await store.create('_manifest/00000000.json', 'one\n')).toBe('created');
      expect(await store.create('_manifest/00000000.json', 'two\n')).toBe('exists');
      expect(await store.create('a/b/c.gz', localFile('hello'))).toBe('created');
      expect(await store.create('a/b/c.gz', localFile('other'))).toBe('exists');
      await store.put('_manifest/head.json', '1');
      await store.put('_manifest/head.json', '2');
    });
    expect(await readText(store, '_manifest/00000000.json')).toBe('one\n');
    expect(await bytes('a/b/c.gz')).toBe('hello');
    expect(await readText(store, '_manifest/head.json')).toBe('2');
    expect(await paths('')).toEqual(['_manifest/00000000.json', '_manifest/head.json', 'a/b/c.gz']);
    expect(fs.readdirSync(store.name).toSorted()).toEqual(['_manifest', 'a']);
    await store.remove('a/b/c.gz');
    await store.remove('a/b/c.gz');
    expect(await paths('a/')).toEqual([]);
  });

  it('other users cannot read the files of an archive', async () => {
    await store.lock(async () => void (await store.create('a/b', 'x')));
    for (const name of ['', 'a', 'a/b']) expect(fs.statSync(path.join(store.name, name)).mode & 0o077, name).toBe(0);
  });

  it('the store lists files with their sizes in the order of their whole paths', async () => {
    const names = ['a/z', 'a-b', 'a', 'b/c/d', 'b/c-d', '.hidden/x'].filter((name) => name !== 'a');
    await store.lock(async () => {
      for (const name of names) await store.create(name, name);
    });
    expect(await paths('')).toEqual(['a-b', 'a/z', 'b/c-d', 'b/c/d']);
    expect(await paths('b/c')).toEqual(['b/c-d', 'b/c/d']);
    expect(await paths('b/c/')).toEqual(['b/c/d']);
    expect(await paths('', 'a/z')).toEqual(['b/c-d', 'b/c/d']);
    for await (const file of store.list('')) expect(file.bytes).toBe(file.path.length);
  });

  it('the next writer removes the unfinished files of a killed run', async () => {
    await store.lock(async () => fs.writeFileSync(path.join(store.workDirectory, 'left'), ''));
    fs.mkdirSync(store.workDirectory);
    fs.writeFileSync(path.join(store.workDirectory, 'left'), '');
    await store.lock(async () => expect(fs.readdirSync(store.workDirectory)).toEqual([]));
  });

  it.each(['create', 'put'] as const)(
    'R70: a full disk leaves no file and no open descriptor behind: %s',
    async (write) => {
      await store.lock(async () => {
        const before = openFiles();
        const failing = vi.spyOn(fs, 'writeFileSync').mockImplementationOnce(() => {
          throw Object.assign(new Error('ENOSPC: injected'), { code: 'ENOSPC' });
        });
        await expect(store[write]('a/b', 'text')).rejects.toMatchObject({ code: 'local' });
        failing.mockRestore();
        expect(fs.readdirSync(store.workDirectory)).toEqual([]);
        expect(openFiles()).toEqual(before);
      });
      expect(await paths('a/')).toEqual([]);
    },
  );

  it('a directory has one writer at a time', async () => {
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(name);
      await systemClock.sleep(20);
      order.push(name);
    };
    await Promise.all([store.lock(work('a')), store.lock(work('b'))]);
    expect([order[0], order[2]]).toEqual([order[1], order[3]]);
  });

  it('the store reports what is in its way', async () => {
    const file = path.join(top, 'file');
    fs.writeFileSync(file, '');
    const inFile = new DirectoryStore(file, host, ARCHIVE);
    await expect(inFile.lock(async () => undefined)).rejects.toMatchObject({ code: 'local' });
    expect(await readText(inFile, '_manifest/head.json')).toBeUndefined();
  });
});

describe('a location', () => {
  it('the store names the reason of the system for a file that cannot be removed', async () => {
    await store.lock(async () => void (await store.create('a/b', 'text')));
    const refused = Object.assign(new Error('held'), { code: 'EPERM' });
    const unlink = vi.spyOn(fs.promises, 'unlink').mockRejectedValueOnce(refused);
    await expect(store.remove('a/b')).rejects.toMatchObject({
      code: 'local',
      message: `${path.join(store.name, 'a', 'b')} cannot be removed (EPERM)`,
    });
    unlink.mockRestore();
    for (const file of ['a/b', 'a/b', 'a/b/c']) await store.remove(file);
    expect(await store.names()).toEqual([]);
  });

  it('a relative location is resolved from the directory of the command', async () => {
    expect((await openStore({ ...host, cwd: top }, 'logs', ARCHIVE)).name).toBe(path.join(top, 'logs'));
  });

  it('a location with an unknown scheme is refused', async () => {
    await expect(openStore(host, 'ftp://host/logs', ARCHIVE)).rejects.toMatchObject({ code: 'usage' });
  });
});
