import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { etagOf, serveObject, signedAddress, type StoreCall } from '../../support/fault-store.ts';
import { OBJECT, setup } from './download-setup.ts';
import { failure, sha256, store, TINY } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

describe('a download', () => {
  it('R47 and R44: a download leaves exactly the bytes of the store, private, and nothing else', async () => {
    const { get, target, files, from } = await setup((call) => serveObject(call, OBJECT));
    const seen: number[] = [];
    const result = await get({ onProgress: ({ done }) => seen.push(done) });
    expect(result).toEqual({ bytes: OBJECT.length, sha256: sha256(OBJECT), proof: 'md5', flaws: [], path: target });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    expect(fs.statSync(target).mode & 0o777).toBe(0o600);
    expect(files()).toEqual(['results.csv']);
    expect(seen.at(-1)).toBe(OBJECT.length);
    expect(Object.keys(from.ledger[0]?.headers ?? {}).toSorted()).toEqual(['accept-encoding', 'connection', 'host']);
  });

  it('R48: a download takes no name from the store', async () => {
    const { get, files } = await setup((call) =>
      call.reply(200, { 'content-disposition': 'attachment; filename="../../evil.csv"' }, 'bytes'),
    );
    await get();
    expect(files()).toEqual(['results.csv']);
  });

  it('a download brings an empty object', async () => {
    const { get, target } = await setup((call) => call.reply(200, { etag: etagOf(Buffer.alloc(0)) }));
    await expect(get()).resolves.toMatchObject({ bytes: 0, proof: 'md5' });
    expect(fs.readFileSync(target)).toHaveLength(0);
  });

  it.each([301, 302, 303, 307, 308])(
    'R01: a download follows no redirect (%i) and names its host only',
    async (status) => {
      const other = await store((call) => serveObject(call, OBJECT));
      const { get, files } = await setup((call) => call.reply(status, { location: signedAddress(other).href }));
      const error = await failure(get());
      expect(error).toMatchObject({ code: 'bad_response', status });
      expect(error.message).toContain(signedAddress(other).host);
      expect(other.ledger).toHaveLength(0);
      expect(files()).toEqual([]);
    },
  );

  it('R37: a download asks for a fresh address once, then tells of the refusal', async () => {
    const { get, from } = await setup((call) => call.reply(403, {}, '<Error><Code>ExpiredRequest</Code></Error>'));
    expect(await failure(get())).toMatchObject({ storeCode: 'ExpiredRequest', code: 'forbidden' });
    expect(from.ledger).toHaveLength(2);
  });

  it('R15: a download tries again after 429 and 5xx, at once gives up on 404 and odd successes', async () => {
    const answers = [429, 503, 500, 502];
    const { get, slept } = await setup((call, index) => {
      const status = answers[index];
      if (status === undefined) serveObject(call, OBJECT);
      else call.reply(status, { 'retry-after': '3' });
    });
    await get();
    expect(slept.every((ms) => ms >= 3_000)).toBe(true);
    for (const [status, code] of [
      [404, 'not_found'],
      [204, 'bad_response'],
      [206, 'bad_response'],
    ] as const) {
      const other = await setup((call) => call.reply(status));
      expect(await failure(other.get())).toMatchObject({ code, status });
      expect(other.from.ledger).toHaveLength(1);
      expect(other.files()).toEqual([]);
    }
  });

  it('R14: a download ends when the store falls silent at any stage', async () => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n`;
    for (const said of ['', 'HTTP/1.1 200 OK\r\ncont', head, `${head}ab`]) {
      const { get, from, files } = await setup((call) => call.raw(said));
      expect(await failure(get({ limits: TINY }))).toMatchObject({ code: 'network', exitCode: 8 });
      await expect.poll(() => from.ledger).toHaveLength(5);
      expect(files()).toEqual([]);
    }
  });

  it('a download waits for a store that is slow but alive', async () => {
    const { get } = await setup(async (call) => {
      call.raw('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n');
      for (const part of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        call.raw(part);
      }
    });
    await expect(get()).resolves.toMatchObject({ bytes: 6 });
  });

  it('R19: a download ends at once when the signal aborts, and keeps what can be continued', async () => {
    const { get, target, files } = await setup((call) => {
      call.raw(`HTTP/1.1 200 OK\r\ncontent-length: ${OBJECT.length}\r\netag: ${etagOf(OBJECT)}\r\n\r\n`);
      call.raw(OBJECT.subarray(0, 1_000_000));
    });
    const controller = new AbortController();
    const download = get({ signal: controller.signal });
    await expect.poll(() => fs.statSync(`${target}.svc-part`, { throwIfNoEntry: false })?.size).toBeGreaterThan(0);
    controller.abort(new Error('stop'));
    await expect(download).rejects.toThrow('stop');
    expect(files()).toEqual(['results.csv.svc-part', 'results.csv.svc-part.json']);
  });
});

describe('the target of a download', () => {
  it('R44: the target of a download is not overwritten, and nothing is asked of the store, unless that was wished', async () => {
    const { get, target, from, files } = await setup((call) => serveObject(call, OBJECT));
    fs.writeFileSync(target, 'old');
    const error = await failure(get());
    expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(error.hint).toContain('replaced');
    expect(from.ledger).toHaveLength(0);
    expect(fs.readFileSync(target, 'utf8')).toBe('old');
    await get({ overwrite: true });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    expect(files()).toEqual(['results.csv']);
  });

  it('R44: the target of a download is not overwritten when it appears during the transfer; the bytes are kept', async () => {
    const { get, target } = await setup((call) => {
      fs.writeFileSync(target, 'mine');
      serveObject(call, OBJECT);
    });
    expect(await failure(get())).toMatchObject({ code: 'usage', facts: { kept: OBJECT.length } });
    expect(fs.readFileSync(target, 'utf8')).toBe('mine');
    await get({ overwrite: true });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
  });

  it('R44: the target of a download is never written into through a partial file that a killed run had linked to it', async () => {
    const { get, target, files } = await setup((call, index) =>
      index === 0 ? call.reply(404) : serveObject(call, OBJECT),
    );
    const old = Buffer.from('the earlier result');
    fs.writeFileSync(target, old);
    fs.linkSync(target, `${target}.svc-part`);
    fs.writeFileSync(`${target}.svc-part.json`, JSON.stringify({ format: 1, etag: etagOf(OBJECT), total: 99 }));
    await failure(get({ overwrite: true }));
    expect(fs.readFileSync(target).equals(old)).toBe(true);
    // A file that is left open cannot be replaced on Windows.
    const at = fs.realpathSync(target);
    expect(openFiles().filter((file) => file.startsWith(at))).toEqual([]);
    await get({ overwrite: true });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    expect(files()).toEqual(['results.csv']);
  });

  it('R44: the target of a download keeps a link to it, and refuses a dangling one', async () => {
    const { get, target } = await setup((call) => serveObject(call, OBJECT));
    const real = path.join(temporaryDirectory(), 'real.csv');
    fs.writeFileSync(real, 'old');
    fs.symlinkSync(real, target);
    await get({ overwrite: true });
    expect(fs.lstatSync(target).isSymbolicLink()).toBe(true);
    expect(fs.readFileSync(real).equals(OBJECT)).toBe(true);
    fs.rmSync(real);
    expect(await failure(get())).toMatchObject({ code: 'usage' });
  });

  it('R44: the target of a download is a file: a pipe or a device gets a copy of one that is whole', async () => {
    const { get, target, from } = await setup((call) => serveObject(call, OBJECT));
    execFileSync('mkfifo', [target]);
    expect(await failure(get({ overwrite: true }))).toMatchObject({ code: 'usage' });
    expect(await failure(get({ target: '/dev/null' }))).toMatchObject({ code: 'usage' });
    expect(from.ledger).toHaveLength(0);
  });

  it.each([0o555, 0o000])(
    'R44: the target of a download is refused before any request where nothing can be written (mode %i)',
    async (mode) => {
      const { get, from, target } = await setup((call) => serveObject(call, OBJECT));
      fs.chmodSync(path.dirname(target), mode);
      const isRoot = process.geteuid?.() === 0;
      if (isRoot) process.seteuid?.(65_534);
      try {
        expect(await failure(get())).toMatchObject({ code: 'local', exitCode: 1 });
      } finally {
        if (isRoot) process.seteuid?.(0);
        fs.chmodSync(path.dirname(target), 0o755);
      }
      expect(await failure(get({ target: path.join(temporaryDirectory(), 'none', 'x') }))).toMatchObject({
        code: 'local',
      });
      expect(await failure(get({ target: temporaryDirectory() }))).toMatchObject({ code: 'usage' });
      expect(from.ledger).toHaveLength(0);
    },
  );

  it.each([
    ['fewer', (file: string) => fs.truncateSync(file, OBJECT.length - 1)],
    ['more', (file: string) => fs.appendFileSync(file, 'x')],
  ])('R70: the target of a download gets no name when the disk has %s bytes than came', async (_, change) => {
    const { get, target } = await setup((call) => serveObject(call, OBJECT));
    const onProgress = ({ done }: { readonly done: number }): void => {
      if (done === OBJECT.length) change(`${target}.svc-part`);
    };
    expect(await failure(get({ onProgress }))).toMatchObject({ code: 'local', exitCode: 1 });
    expect(fs.existsSync(target)).toBe(false);
  });

  it('the target of a download gets its name only after it was recorded, and none where that fails', async () => {
    const { get, target } = await setup((call) => serveObject(call, OBJECT));
    const named: boolean[] = [];
    const onAccepted = async (file: string): Promise<void> => {
      named.push(fs.existsSync(target));
      expect(fs.readFileSync(file).equals(OBJECT)).toBe(true);
      if (named.length === 1) throw new SvcError('local', 'it cannot be recorded');
    };
    expect(await failure(get({ onAccepted }))).toMatchObject({ message: 'it cannot be recorded', hint: undefined });
    expect(fs.existsSync(target)).toBe(false);
    await get({ onAccepted });
    expect([named, fs.readFileSync(target).equals(OBJECT)]).toEqual([[false, false], true]);
  });

  it('R44: the target of a download is brought by one process at a time', async () => {
    const waiting: StoreCall[] = [];
    const { get, from } = await setup((call) => void waiting.push(call));
    const first = get();
    await expect.poll(() => from.ledger.length).toBe(1);
    expect(await failure(get())).toMatchObject({ code: 'config', retryable: true });
    for (const call of waiting) serveObject(call, OBJECT);
    await expect(first).resolves.toMatchObject({ bytes: OBJECT.length });
  });
});

/** Returns the files that this process has open. */
function openFiles(): string[] {
  return fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [fs.readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The one with which the directory was read.
      return [];
    }
  });
}
