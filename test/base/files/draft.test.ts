import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Draft, removeOrphanedTemporaries, sha256Of, writeFileAtomicSync } from '../../../src/base/files/draft.ts';
import { modeOf } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

function existing(): string {
  const file = path.join(temporaryDirectory(), 'a.json');
  fs.writeFileSync(file, 'old', { mode: 0o644 });
  return file;
}

/** More bytes than a draft collects before it writes. */
const LARGE = 100_000;

afterEach(() => vi.restoreAllMocks());

const WRITERS = {
  'an atomic write': async (file: string, data: string | Uint8Array) => writeFileAtomicSync(file, data),
  'a draft': async (file: string, data: string | Uint8Array) => {
    const draft = await Draft.begin(file);
    try {
      await draft.write(data);
      await draft.finish(true);
    } finally {
      await draft.discard();
    }
  },
};

describe.each(Object.entries(WRITERS))('%s', (_name, write) => {
  it('R11: an atomic write replaces the file whole and private', async () => {
    const file = existing();
    await write(file, 'new é');
    expect(fs.readFileSync(file, 'utf8')).toBe('new é');
    expect(modeOf(file)).toBe('600');
    await write(file, new Uint8Array([1, 2]));
    expect([...fs.readFileSync(file)]).toEqual([1, 2]);
    expect(fs.readdirSync(path.dirname(file))).toEqual(['a.json']);
  });

  it('R11: an atomic write leaves no temporary file when the new one cannot take its place', async () => {
    const directory = path.join(temporaryDirectory(), 'taken');
    fs.mkdirSync(path.join(directory, 'inside'), { recursive: true });
    await expect(write(directory, 'new')).rejects.toMatchObject({ code: 'local', exitCode: 1 });
    expect(fs.readdirSync(path.dirname(directory))).toEqual(['taken']);
  });

  it('an atomic write names a missing directory', async () => {
    const file = path.join(temporaryDirectory(), 'missing', 'a.json');
    await expect(write(file, 'new')).rejects.toMatchObject({
      code: 'local',
      message: `${file} could not be written: its directory does not exist (ENOENT)`,
    });
  });
});

describe('two drafts of one file', () => {
  it.each(['first', 'second'])('R44: of two drafts of one file, the %s to finish is whole', async (which) => {
    const file = existing();
    const [one, other] = [await Draft.begin(file), await Draft.begin(file)];
    await one.write(Buffer.from('first'));
    await other.write(Buffer.from('seco'));
    if (which === 'second') await one.finish(true);
    const { bytes } = await (which === 'first' ? one : other).finish(true);
    expect([fs.readFileSync(file, 'utf8'), bytes]).toEqual(which === 'first' ? ['first', 5] : ['seco', 4]);
    await one.discard();
    await other.discard();
    expect(fs.readdirSync(path.dirname(file))).toEqual(['a.json']);
  });

  it('R44: a draft that somebody removed never gets its name', async () => {
    const file = existing();
    const draft = await Draft.begin(file);
    await draft.write(Buffer.from('new'));
    await draft.seal();
    fs.rmSync(draft.path);
    await expect(draft.finish(true)).rejects.toMatchObject({
      code: 'local',
      message: `${file} could not be written: another process removed what was to become of it`,
    });
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
  });

  it('R44: a draft removes those that killed processes of this machine left, and no others', async () => {
    const file = existing();
    const alive = new Set([1, 2]);
    const as = (pid: number) => ({ pid, isAlive: (each: number) => alive.has(each) });
    for (const pid of [1, 2, 3]) await (await Draft.begin(file, as(pid))).seal();
    await (await Draft.begin(`${file}.other`, as(3))).seal();
    await (await Draft.begin(file)).seal();
    const elsewhere = '.a.json.00000000-3.0123456789abcdef.tmp';
    fs.writeFileSync(path.join(path.dirname(file), elsewhere), '');
    const kept = fs.readdirSync(path.dirname(file)).filter((name) => !/^\.a\.json\.[^.]+-3\./.test(name));
    const draft = await Draft.begin(file, as(1));
    await draft.finish(true);
    expect(fs.readdirSync(path.dirname(file)).toSorted()).toEqual([...kept, elsewhere].toSorted());
  });
});

describe('a draft that meets trouble', () => {
  it('R44: a draft that meets trouble is written in a directory that may not be listed', async () => {
    const file = existing();
    vi.spyOn(fs, 'readdirSync').mockImplementation(() => {
      throw Object.assign(new Error('not allowed'), { code: 'EACCES' });
    });
    const draft = await Draft.begin(file, { pid: 1, isAlive: () => true });
    await draft.write('new');
    await draft.finish(true);
    expect(fs.readFileSync(file, 'utf8')).toBe('new');
  });

  it('R70: a draft that meets trouble gets no name once a write has failed, even when its writer continues', async () => {
    const file = existing();
    const draft = await Draft.begin(file);
    const failing = vi.spyOn(await prototypeOfHandles(), 'writeFile').mockRejectedValueOnce(full());
    await expect(draft.write(new Uint8Array(LARGE))).rejects.toMatchObject({ code: 'local' });
    failing.mockRestore();
    await draft.write('more');
    await expect(draft.finish(true)).rejects.toMatchObject({ code: 'local', message: expect.stringContaining('full') });
    await draft.discard();
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
    expect(fs.readdirSync(path.dirname(file))).toEqual(['a.json']);
  });

  it.each([
    ['fewer', (file: string) => fs.truncateSync(file, 1)],
    ['more', (file: string) => fs.appendFileSync(file, 'x')],
  ])('R70: a draft that meets trouble gets no name when the disk has %s bytes than were written', async (_, change) => {
    const file = existing();
    const draft = await Draft.begin(file);
    await draft.write(new Uint8Array(LARGE));
    change(draft.path);
    await expect(draft.finish(true)).rejects.toMatchObject({
      code: 'local',
      message: expect.stringContaining('bytes'),
    });
    await draft.discard();
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
  });
});

it('a draft writes small pieces together, in their order, and takes each when it is given', async () => {
  const file = existing();
  const draft = await Draft.begin(file);
  const writing = vi.spyOn(await prototypeOfHandles(), 'writeFile');
  const piece = Buffer.alloc(100);
  const expected: Buffer[] = [];
  for (let at = 0; at < 2_000; at += 1) {
    piece.fill(at % 251);
    expected.push(Buffer.from(piece), Buffer.from(`é${at}\n`));
    await draft.write(piece);
    await draft.write(`é${at}\n`);
  }
  for (const length of [65_535, 65_536, 65_537, 1]) {
    expected.push(Buffer.alloc(length, length % 256));
    await draft.write(Buffer.alloc(length, length % 256));
  }
  const { bytes, sha256 } = await draft.finish(true);
  const whole = Buffer.concat(expected);
  expect(fs.readFileSync(file).equals(whole)).toBe(true);
  expect([bytes, sha256]).toEqual([whole.byteLength, sha256Of(whole)]);
  expect(writing.mock.calls.length).toBeLessThan(12);
});

function full(): Error {
  return Object.assign(new Error('ENOSPC: injected'), { code: 'ENOSPC' });
}

/** Returns the prototype of open files, which no module exports, so that a test can replace their methods. */
async function prototypeOfHandles(): Promise<fs.promises.FileHandle> {
  const handle = await fs.promises.open(path.join(temporaryDirectory(), 'any'), 'w');
  await handle.close();
  return Object.getPrototypeOf(handle) as fs.promises.FileHandle;
}

describe('an atomic write that meets trouble', () => {
  it('an atomic write that meets trouble sets the mode that is requested', () => {
    const file = existing();
    writeFileAtomicSync(file, 'new', { mode: 0o644 });
    expect(modeOf(file)).toBe('644');
  });

  it.each([
    ['openSync', 'EROFS', 'read-only'],
    ['writeFileSync', 'ENOSPC', 'disk is full'],
    ['writeFileSync', 'EDQUOT', 'quota'],
    ['fsyncSync', 'EIO', 'could not be written: its disk fails (EIO)'],
    ['renameSync', 'EACCES', 'not allowed'],
  ] as const)(
    'R11: an atomic write that meets trouble keeps the old file when %s fails with %s',
    (call, code, words) => {
      const file = existing();
      const failing = vi.spyOn(fs, call).mockImplementation(() => {
        throw Object.assign(new Error(`${code}: injected`), { code });
      });
      const write = (): void => writeFileAtomicSync(file, 'new');
      expect(write).toThrow(expect.objectContaining({ code: 'local', message: expect.stringContaining(words) }));
      failing.mockRestore();
      expect(fs.readFileSync(file, 'utf8')).toBe('old');
      expect(fs.readdirSync(path.dirname(file))).toEqual(['a.json']);
    },
  );

  it('R11: an atomic write that meets trouble syncs the content before the rename, and the directory after it', () => {
    const file = existing();
    const names = ['openSync', 'fchmodSync', 'writeFileSync', 'fsyncSync', 'closeSync', 'renameSync'] as const;
    const spies = names.map((name) => [name, vi.spyOn(fs, name)] as const);
    writeFileAtomicSync(file, 'new');
    const calls = spies.flatMap(([name, { mock }]) => mock.invocationCallOrder.map((order) => [order, name] as const));
    expect(calls.toSorted(([one], [other]) => one - other).map(([, name]) => name)).toEqual([
      ...names,
      'openSync',
      'fsyncSync',
      'closeSync',
    ]);
  });

  it('an atomic write that meets trouble removes what killed writers of the same file left, and nothing else', () => {
    const file = existing();
    const directory = path.dirname(file);
    for (const name of ['.a.json.0123456789abcdef.tmp', '.b.json.0123456789abcdef.tmp', '.a.json.mine.tmp'])
      fs.writeFileSync(path.join(directory, name), '');
    removeOrphanedTemporaries(file);
    expect(fs.readdirSync(directory).toSorted()).toEqual([
      '.a.json.mine.tmp',
      '.b.json.0123456789abcdef.tmp',
      'a.json',
    ]);
  });
});
