import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeFile } from '../../../src/base/files/decode-file.ts';
import { UnprovenDownload } from '../../../src/client/transfer/download.ts';
import type { Flaw } from '../../../src/client/transfer/receive.ts';
import { etagOf, serveObject, signedAddress, type StoreCall } from '../../support/fault-store.ts';
import { OBJECT, setup } from './download-setup.ts';
import { content, failure, sha256 } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const SHORT_OBJECT = OBJECT.subarray(0, 1_000_000);
const OF_WHOLE = { etag: etagOf(OBJECT) };

function inspect(): Promise<readonly Flaw[]> {
  return Promise.resolve([{ rule: 'columns', problem: 'is no result file' }]);
}

function chunked(call: StoreCall, body: Buffer, headers = ''): void {
  const size = body.length.toString(16);
  call.raw(`HTTP/1.1 200 OK\r\n${headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n${size}\r\n`);
  call.socket.end(Buffer.concat([body, Buffer.from('\r\n0\r\n\r\n')]));
}

describe('a download that came to its end', () => {
  const CUTS: [string, (call: StoreCall) => void][] = [
    ['a shorter length', (call) => call.reply(200, OF_WHOLE, SHORT_OBJECT)],
    ['fewer chunks', (call) => chunked(call, SHORT_OBJECT, `etag: ${OF_WHOLE.etag}\r\n`)],
    [
      'an early end of the connection',
      (call) => {
        call.raw(`HTTP/1.1 200 OK\r\nconnection: close\r\netag: ${OF_WHOLE.etag}\r\n\r\n`);
        call.socket.end(SHORT_OBJECT);
      },
    ],
    ['an ETag in capital letters', (call) => call.reply(200, { etag: OF_WHOLE.etag.toUpperCase() }, SHORT_OBJECT)],
  ];

  it.each(CUTS)(
    'R59 and R46: a download that came to its end is refused by the MD5 in its ETag: %s',
    async (_, cut) => {
      const { get, from, files, slept, target } = await setup((call) => cut(call));
      const error = await failure(get());
      expect(error).toMatchObject({ code: 'checksum_mismatch', exitCode: 12, facts: { rules: ['checksum'] } });
      expect(from.ledger).toHaveLength(3);
      expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(20_000);
      // All attempts got the same bytes and only one check failed, so the file is kept for the operator to judge.
      expect(files()).toEqual(['results.csv.unproven']);
      expect(fs.statSync(`${target}.unproven`).mode & 0o777).toBe(0o600);
    },
  );

  const STORED: readonly (readonly [coding: string, packed: Buffer])[] = [
    ['gzip', gzipSync(OBJECT)],
    ['x-gzip', gzipSync(OBJECT)],
    ['deflate', deflateSync(OBJECT)],
    ['br', brotliCompressSync(OBJECT, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ];
  it.each(STORED)('R94: a download of an object that is stored with %s is decompressed', async (coding, packed) => {
    const { get, target, files } = await setup((call) =>
      call.reply(200, { etag: etagOf(packed), 'content-encoding': coding }, packed),
    );
    await expect(get()).resolves.toMatchObject({
      sha256: sha256(OBJECT),
      bytes: OBJECT.length,
      proof: 'gzip',
      flaws: [],
    });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    expect(files()).toEqual(['results.csv']);
  });

  it('R94: a download of a compressed object that is damaged or breaks off is refused', async () => {
    const packed = gzipSync(SHORT_OBJECT);
    const damaged = Buffer.from(packed).fill(0, packed.length - 8, packed.length - 4);
    for (const sent of [damaged, packed.subarray(0, -100)]) {
      const { get, from } = await setup((call) => call.reply(200, { 'content-encoding': 'gzip' }, sent));
      expect(await failure(get())).toMatchObject({
        code: 'checksum_mismatch',
        message: expect.stringContaining('it is compressed and is damaged or breaks off'),
      });
      expect(from.ledger).toHaveLength(3);
    }
  });

  it('R94: a file is decompressed up to a limit', async () => {
    const file = path.join(temporaryDirectory(), 'bomb');
    fs.writeFileSync(file, gzipSync(Buffer.alloc(1_000_001)));
    await expect(decodeFile(file, 'gzip', 1_000_000)).rejects.toThrow('is far too long');
    expect(fs.existsSync(`${file}.plain`)).toBe(false);
  });

  it('R59: a download that came to its end is taken when a later one is whole, each with a fresh address', async () => {
    const { get, from, files } = await setup((call, index) =>
      index < 2 ? call.reply(200, OF_WHOLE, SHORT_OBJECT) : serveObject(call, OBJECT),
    );
    let asked = 0;
    const address = (): Promise<URL> => Promise.resolve(signedAddress(from, `/key${(asked += 1)}`));
    await expect(get({ address })).resolves.toMatchObject({ sha256: sha256(OBJECT), proof: 'md5', flaws: [] });
    expect(from.ledger.map(({ path, headers }) => [path.slice(0, 5), headers['range']])).toEqual([
      ['/key1', undefined],
      ['/key2', undefined],
      ['/key3', undefined],
    ]);
    expect(files()).toEqual(['results.csv']);
  });

  it('R59: a download that came to its end is not kept when other bytes came each time, or several rules speak against it', async () => {
    const changing = await setup((call, index) => call.reply(200, OF_WHOLE, content(1_000, index)));
    expect(await failure(changing.get())).toBeInstanceOf(UnprovenDownload);
    expect(changing.files()).toEqual([]);
    const page = await setup((call) =>
      call.reply(200, { ...OF_WHOLE, 'content-type': 'text/html; charset=utf-8' }, '<html>'),
    );
    const error = await failure(page.get());
    expect(error.facts).toMatchObject({ rules: ['checksum', 'content_type'], kept: undefined });
    expect(page.files()).toEqual([]);
  });

  it('R59: a download that came to its end is judged by what the caller knows of the object as well', async () => {
    const { get, files } = await setup((call) => serveObject(call, OBJECT));
    expect((await failure(get({ inspect }))).message).toContain('it is no result file');
    expect(files()).toEqual(['results.csv.unproven']);
    await expect(get({ inspect, acceptUnproven: true })).resolves.toMatchObject({ flaws: [{ rule: 'columns' }] });
    expect(files()).toEqual(['results.csv', 'results.csv.unproven']);
  });

  it.each([
    ['text/html', true],
    ['application/xhtml+xml', true],
    ['application/xml', true],
    ['application/problem+json; charset=utf-8', true],
    ['APPLICATION/JSON', true],
    ['text/csv', false],
    ['binary/octet-stream', false],
    ['text/plain', false],
    ['nonsense', false],
    ['text/html-csv', false],
    ['', false],
  ])('R59: as %j is refused: %s', async (type, isRefused) => {
    const { get } = await setup((call) => call.reply(200, { 'content-type': type }, 'bytes'));
    const came = await get().catch((error: unknown) => error);
    expect(came instanceof UnprovenDownload).toBe(isRefused);
  });
});
