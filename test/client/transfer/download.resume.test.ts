import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { etagOf, serveCut, serveObject, signedAddress } from '../../support/fault-store.ts';
import type { Received } from '../../support/request-reader.ts';
import { OBJECT, setup } from './download-setup.ts';
import { failure, sha256 } from './support.ts';

describe('a download that was cut', () => {
  it('R45: a download that was cut continues where a cut transfer stood, and asks for the address each time', async () => {
    const { get, from, target } = await setup((call, index) =>
      index === 0 ? serveCut(call, OBJECT, 1_500_000) : serveObject(call, OBJECT),
    );
    let asked = 0;
    const address = (): Promise<URL> => Promise.resolve(signedAddress(from, `/bucket/key${(asked += 1)}`));
    await expect(get({ address })).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    const second = from.ledger[1];
    expect(second?.path).toContain('/bucket/key2?');
    expect(second?.headers['if-match']).toBe(etagOf(OBJECT));
    expect(Number(/^bytes=(\d+)-$/.exec(second?.headers['range'] ?? '')?.[1])).toBeGreaterThan(0);
  });

  it.each([
    ['an MD5', etagOf(OBJECT)],
    ['no MD5', '"0123456789abcdef0123456789abcdef-3"'],
  ])(
    'R45: a download that was cut is completed by a single request for the rest, where the ETag is %s',
    async (_what, etag) => {
      const { get, target, from } = await setup((call, index) =>
        index === 0 ? serveCut(call, OBJECT, 1_500_000, etag) : serveObject(call, OBJECT, etag),
      );
      await expect(get()).resolves.toMatchObject({ bytes: OBJECT.length, sha256: sha256(OBJECT) });
      expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
      expect(from.ledger).toHaveLength(2);
      expect(startOf(from.ledger[1])).toBeGreaterThan(0);
    },
  );

  it('R45: a download that was cut continues across an expired address', async () => {
    const { get, from } = await setup((call, index) => {
      if (index === 0) return serveCut(call, OBJECT, 1_500_000);
      if (index === 1) return call.reply(403, {}, '<Error><Code>AccessDenied</Code></Error>');
      return serveObject(call, OBJECT);
    });
    await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(from.ledger[2]?.headers['range']).toBeDefined();
  });

  it('R45: a download that was cut continues in a later run, with what an earlier one kept', async () => {
    let isUp = false;
    const { get, files, target, from } = await setup((call, index) => {
      if (isUp) serveObject(call, OBJECT);
      else if (index === 0) serveCut(call, OBJECT, 1_500_000);
      else call.reset();
    });
    const error = await failure(get());
    expect(error).toMatchObject({ code: 'network' });
    expect(Number(error.facts?.['kept'])).toBeGreaterThan(100_000);
    expect(files()).toEqual(['results.csv.svc-part', 'results.csv.svc-part.json']);
    expect(fs.statSync(`${target}.svc-part`).mode & 0o777).toBe(0o600);
    expect(fs.statSync(`${target}.svc-part.json`).mode & 0o777).toBe(0o600);
    isUp = true;
    const before = from.ledger.length;
    await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(from.ledger[before]?.headers['range']).toBeDefined();
    expect(files()).toEqual(['results.csv']);
  });

  it('R45: a download that was cut checks a whole partial file against the store before it trusts it', async () => {
    const { get, target, from } = await setup((call) => serveObject(call, OBJECT));
    fs.writeFileSync(`${target}.svc-part`, OBJECT);
    fs.writeFileSync(
      `${target}.svc-part.json`,
      JSON.stringify({ format: 1, etag: etagOf(OBJECT), total: OBJECT.length }),
    );
    await get();
    expect(from.ledger[0]?.headers['range']).toBe(`bytes=${OBJECT.length - 1}-`);
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
  });
});

it('R46: a cut is found by the chunks', async () => {
  const { get, files } = await setup((call) => {
    call.raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbytes\r\n');
    call.socket.end();
  });
  expect((await failure(get())).exitCode).toBe(8);
  expect(files()).toEqual([]);
});

function startOf(request: Received | undefined): number {
  return Number(/(\d+)-$/.exec(request?.headers['range'] ?? '')?.[1]);
}
