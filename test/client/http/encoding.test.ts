import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decoded } from '../../../src/client/http/encoding.ts';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { rowOf, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { answer } from '../../support/fault-steps.ts';
import { failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const BODY = JSON.stringify({ data: [{ message: 'ä'.repeat(1_000) }] });
const newer = zlib as { zstdCompressSync?: (body: string) => Buffer };
const isZstdRead = Number.parseInt(process.versions.node, 10) >= 24;

const ENCODED: readonly (readonly [encoding: string, body: Buffer])[] = [
  ['gzip', gzipSync(BODY)],
  ['x-gzip', gzipSync(BODY)],
  ['GZIP', gzipSync(BODY)],
  ['deflate', deflateSync(BODY)],
  ['deflate', deflateRawSync(BODY)],
  ['br', brotliCompressSync(BODY)],
  ['identity', Buffer.from(BODY)],
  ['gzip, br', brotliCompressSync(gzipSync(BODY))],
  ...(newer.zstdCompressSync && isZstdRead ? ([['zstd', newer.zstdCompressSync(BODY)]] as const) : []),
];

const WHOLE = { limit: 10_000, isPartial: false };

describe('a compressed body', () => {
  it.each(ENCODED)('is decoded from %s', async (encoding, body) => {
    const server = await serve([
      answer(200, body, { 'content-encoding': encoding, 'content-type': 'application/json' }),
    ]);
    const { body: read } = await makeCore(server.url).callAny(READ);
    expect(read?.text).toBe(BODY);
    expect(server.ledger[0]?.headers['accept-encoding']).toBe('gzip');
  });

  it.each(ENCODED)('is decoded from %s within its limit, and as far as it came of an error', async (encoding, body) => {
    const size = Buffer.byteLength(BODY);
    expect(await decoded(body, encoding, { limit: size, isPartial: false })).toMatchObject({ complete: true });
    if (encoding === 'identity') return;
    expect(await decoded(body, encoding, { limit: size - 1, isPartial: false })).toMatchObject({ complete: false });
    const cut = body.subarray(0, body.length - 9);
    expect(await decoded(cut, encoding, WHOLE)).toEqual({ problem: 'a compressed body that is cut off or damaged' });
  });

  it('is not read when it is damaged, or in an encoding that svc cannot decode', async () => {
    for (const [encoding, words] of [
      ['gzip', 'a compressed body that is cut off or damaged'],
      ['compress', 'a body in an encoding that svc cannot decode'],
      ['constructor', 'a body in an encoding that svc cannot decode'],
      ['gzip, gzip, gzip, gzip', 'a body in an encoding that svc cannot decode'],
    ] as const) {
      const server = await serve([answer(200, BODY, { 'content-encoding': encoding })]);
      expect((await failureOf(makeCore(server.url).call(READ))).message).toContain(words);
    }
  });

  it.runIf(newer.zstdCompressSync)('of zstd is refused by a Node that takes a part of it for the whole', async () => {
    const body = newer.zstdCompressSync?.(BODY) ?? Buffer.alloc(0);
    const cut = await decoded(body.subarray(0, -9), 'zstd', WHOLE);
    expect(cut).toEqual({
      problem: isZstdRead
        ? 'a compressed body that is cut off or damaged'
        : 'a body in an encoding that svc cannot decode',
    });
  });

  it('of an error is read like any other', async () => {
    const text = gzipSync('{"title":"Bad request","detail":"The size is too large."}');
    const server = await serve([answer(400, text, { 'content-encoding': 'gzip' })]);
    expect((await failureOf(makeCore(server.url).call(READ))).message).toContain('The size is too large.');
  });

  it('of a long error page is read to its title', async () => {
    const page = `<html><title>Gateway login</title>${'a <b>word</b> '.repeat(20_000)}</html>`;
    const server = await serve([answer(401, gzipSync(page), { 'content-encoding': 'gzip' })]);
    expect((await failureOf(makeCore(server.url).call(READ))).message).toContain('«Gateway login»');
  });
});

describe('a service that compresses although nobody asked', () => {
  it.each(['gzip', 'deflate', 'br'])('loses no session and no entry: %s', async (encoding) => {
    const { faults } = readFaults(`encode=${encoding}@* /**`);
    const service = await startSandboxHere({ intercept: faultInterceptor(faults) });
    const created = await svcHere(
      ['3ds', 'create', '--card', 'Successful Frictionless', '--type', 'customer'],
      service,
    );
    expect(rowOf(created)['id']).toMatch(/^[\da-f-]{36}$/);
    const logs = await svcHere(['logs', '--limit', '3', '-o', 'jsonl'], service);
    expect(logs.stdout.trimEnd().split('\n')).toHaveLength(3);
  });
});
