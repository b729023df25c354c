import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { HttpResponse } from '../../../src/client/http/exchange.ts';
import { PartFile } from '../../../src/client/transfer/part-file.ts';
import { codingOf, continues, receive, versionOf } from '../../../src/client/transfer/receive.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const URL_OF_STORE = new URL('https://store.example/results?signature=secret');
const BODY = Buffer.from('token,result_code\nt,UPD_PAN\n');
const MD5 = createHash('md5').update(BODY).digest('hex');
const ETAG = `"${MD5}"`;

type Headers = Readonly<Record<string, string>>;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

function headersOf(headers: Headers): Pick<HttpResponse, 'header'> {
  return { header: (name) => headers[name] };
}

function unused(): never {
  throw new Error('not used');
}

/** Returns a response whose body comes in pieces and then ends, or breaks off with `failure`. */
function response(headers: Headers, body: Buffer, status: number, failure?: Error): HttpResponse {
  return {
    ...headersOf(headers),
    status,
    headers: unused,
    read: unused,
    discard: () => undefined,
    receive: async (take) => {
      for (let at = 0; at < body.length; at += 7) take(body.subarray(at, at + 7));
      if (failure) throw failure;
    },
  };
}

interface Given {
  readonly headers?: Headers;
  readonly body?: Buffer;
  /** The number of bytes that an earlier attempt left. */
  readonly kept?: number;
  readonly etag?: string;
  readonly failure?: Error;
}

async function received({ headers = {}, body = BODY, kept = 0, etag = ETAG, failure }: Given) {
  const part = PartFile.open(path.join(directory, 'results.csv'));
  part.begin({ etag, total: BODY.length }, true);
  if (kept > 0) part.write(BODY.subarray(0, kept));
  const progress: (number | undefined)[][] = [];
  const given = response(headers, body.subarray(kept), kept > 0 ? 206 : 200, failure);
  const result = await receive(part, URL_OF_STORE, given, ({ done, total }) => progress.push([done, total]));
  part.close();
  return { part, progress, result };
}

describe('a body that came to its end', () => {
  const length = { 'content-length': String(BODY.length) };

  it.each<[string, Headers, string]>([
    ['its MD5', { ...length, etag: ETAG }, 'md5'],
    ['its MD5 in capital letters', { etag: ETAG.toUpperCase() }, 'md5'],
    ['its length', length, 'length'],
    [
      'its length, where the ETag is of an encrypted object',
      { ...length, etag: ETAG, 'x-amz-server-side-encryption': 'aws:kms' },
      'length',
    ],
    [
      'its length, where the ETag is of an object with a key of its own',
      { ...length, etag: ETAG, 'x-amz-server-side-encryption-customer-algorithm': 'AES256' },
      'length',
    ],
    [
      'its length, where the ETag is of what was encoded',
      { ...length, etag: ETAG, 'content-encoding': 'aws-chunked' },
      'length',
    ],
    ['its length, where the ETag is of parts', { ...length, etag: `"${MD5}-2"` }, 'length'],
    [
      'its MD5, encrypted by the store or not encoded',
      { etag: ETAG, 'x-amz-server-side-encryption': 'AES256', 'content-encoding': 'identity' },
      'md5',
    ],
    ['its framing', { 'transfer-encoding': 'gzip, Chunked' }, 'framing'],
    ['nothing', {}, 'none'],
    ['nothing, where the length is none', { 'content-length': '12,12' }, 'none'],
  ])('R46: a body that came to its end is proven whole by %s', async (_, headers, proof) => {
    const { part, result, progress } = await received({ headers });
    const sha256 = createHash('sha256').update(BODY).digest('hex');
    expect(result).toEqual({ bytes: BODY.length, sha256, proof, flaws: [] });
    expect(progress.at(-1)).toEqual([
      BODY.length,
      'content-length' in headers && !headers['content-length']?.includes(',') ? BODY.length : undefined,
    ]);
    expect(fs.readFileSync(part.path)).toEqual(BODY);
  });

  it('R45: a body that came to its end is the rest of what is there, with the hashes of the whole', async () => {
    const { result, progress } = await received({ kept: 10, headers: { etag: ETAG } });
    expect(result).toMatchObject({ bytes: BODY.length, proof: 'md5', flaws: [] });
    expect(progress[0]).toEqual([17, BODY.length]);
  });
});

describe('a body that is not the object', () => {
  it('R46: a body that is not the object broke off when it is shorter than announced, and is kept', async () => {
    const { part, result } = await received({ headers: { 'content-length': String(BODY.length + 1) } });
    expect(result).toMatchObject({
      error: {
        code: 'truncated',
        retryable: true,
        message: `the store at https://store.example broke off after ${BODY.length} of ${BODY.length + 1} bytes`,
        facts: { bytes: BODY.length },
      },
    });
    expect(part.length).toBe(BODY.length);
  });

  it.each([new Error('reset'), undefined])(
    'R46: a body that is not the object is longer than announced, and is begun again: %s',
    async (failure) => {
      const { part, result } = await received({ headers: { 'content-length': '10' }, ...(failure && { failure }) });
      expect(result).toMatchObject({
        error: {
          code: 'checksum_mismatch',
          retryable: true,
          message: 'the store at https://store.example sent more than it announced',
        },
      });
      expect([part.length, part.version]).toEqual([0, undefined]);
    },
  );

  it('R45: continued with other bytes is begun again', async () => {
    const other = Buffer.from(BODY.toString().replace('UPD', 'XXX'));
    const { part, result } = await received({ kept: 10, body: other, headers: { etag: ETAG } });
    expect(result).toMatchObject({
      error: { code: 'checksum_mismatch', message: 'the store at https://store.example continued with other bytes' },
    });
    expect(part.length).toBe(0);
  });

  it('a body that is not the object breaks off with the failure of its connection', async () => {
    const failure = new SvcError('network', 'reset');
    await expect(received({ failure })).rejects.toBe(failure);
  });
});

describe('a response to a request for the rest', () => {
  const version = { etag: '"v1"', total: 100 };
  const right: Headers = { etag: '"v1"', 'content-range': 'bytes 40-99/100', 'content-length': '60' };

  it.each<[string, Headers, boolean]>([
    ['the rest', right, true],
    ['the rest without its length', { etag: '"v1"', 'content-range': 'bytes 40-99/100' }, true],
    ['the rest, said not to be packed', { ...right, 'content-encoding': 'identity' }, true],
    ['another version', { ...right, etag: '"v2"' }, false],
    ['a version that may differ', { ...right, etag: 'W/"v1"' }, false],
    ['no version', { 'content-range': 'bytes 40-99/100' }, false],
    ['a packed rest', { ...right, 'content-encoding': 'gzip' }, false],
    ['a rest from before', { ...right, 'content-range': 'bytes 39-99/100' }, false],
    ['a rest up to before', { ...right, 'content-range': 'bytes 40-98/100' }, false],
    ['a rest of another size', { ...right, 'content-range': 'bytes 40-99/101' }, false],
    ['no range', { etag: '"v1"' }, false],
    ['a range in other units', { ...right, 'content-range': 'lines 40-99/100' }, false],
    ['several ranges', { ...right, 'content-range': 'bytes 40-99/100, 1-2/100' }, false],
    ['a range of unknown size', { ...right, 'content-range': 'bytes 40-99/*' }, false],
    ['another length', { ...right, 'content-length': '59' }, false],
  ])('R45: a response to a request for the rest is checked: %s', (_, headers, isRest) => {
    expect(continues(headersOf(headers), version, 40)).toBe(isRest);
  });

  it('R45: a response to a request for the rest can be asked for where the first one had a strong ETag and a length', () => {
    expect(versionOf(headersOf({ etag: '"v1"', 'content-length': '100' }))).toEqual(version);
    for (const etag of ['W/"v1"', 'v1', '"v 1"', '""', '"v"1"', `"${'v'.repeat(257)}"`, 'x"v1"'])
      expect([etag, versionOf(headersOf({ etag, 'content-length': '100' }))]).toEqual([etag, undefined]);
    for (const length of ['', '-1', '1e2', '1'.repeat(16), '100, 100'])
      expect([length, versionOf(headersOf({ etag: '"v1"', 'content-length': length }))]).toEqual([length, undefined]);
  });

  it('R47: a response to a request for the rest is known to be packed', () => {
    const coding = (encoding: string): string | undefined => codingOf(headersOf({ 'content-encoding': encoding }));
    expect(['gzip', ' GZIP ', 'aws-chunked, gzip'].map(coding)).toEqual(['gzip', 'gzip', 'gzip']);
    expect(['br', 'gzip,br'].map(coding)).toEqual(['br', 'gzip, br']);
    for (const encoding of ['', 'identity', ' Identity ', 'aws-chunked']) expect(coding(encoding)).toBeUndefined();
    expect(codingOf(headersOf({}))).toBeUndefined();
  });
});
