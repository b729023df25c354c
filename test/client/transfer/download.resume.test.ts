import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { etagOf, serveCut, serveObject, type StoreCall, type StoreScript } from '../../support/fault-store.ts';
import { OBJECT, setup } from './download-setup.ts';
import { content, failure, sha256 } from './support.ts';

describe('a download that was cut', () => {
  it('R45: a download that was cut continues where a cut transfer stood, and asks for the address each time', async () => {
    const { get, from, target } = await setup((call, index) =>
      index === 0 ? serveCut(call, OBJECT, 1_500_000) : serveObject(call, OBJECT),
    );
    let asked = 0;
    const address = (): Promise<URL> => Promise.resolve(from.url(`/bucket/key${(asked += 1)}`));
    await expect(get({ address })).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    const second = from.calls[1];
    expect(second?.target).toContain('/bucket/key2?');
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
      expect(from.calls).toHaveLength(2);
      expect(startOf(from.calls[1] as StoreCall)).toBeGreaterThan(0);
    },
  );

  it('R45: a download that was cut continues across an expired address', async () => {
    const { get, from } = await setup((call, index) => {
      if (index === 0) return serveCut(call, OBJECT, 1_500_000);
      if (index === 1) return call.reply(403, {}, '<Error><Code>AccessDenied</Code></Error>');
      return serveObject(call, OBJECT);
    });
    await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(from.calls[2]?.headers['range']).toBeDefined();
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
    const before = from.calls.length;
    await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(from.calls[before]?.headers['range']).toBeDefined();
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
    expect(from.calls[0]?.headers['range']).toBe(`bytes=${OBJECT.length - 1}-`);
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
  });

  const BAD_LEFTOVERS: [string, string | undefined, Buffer][] = [
    ['no note', undefined, OBJECT.subarray(0, 1_000)],
    ['a damaged note', '{"format":1,', OBJECT.subarray(0, 1_000)],
    ['a note of another format', '{"format":2,"etag":"x","total":5}', OBJECT.subarray(0, 1_000)],
    ['more bytes than the object has', `{"format":1,"etag":"\\"x\\"","total":5}`, OBJECT.subarray(0, 1_000)],
    [
      'other bytes than the object has',
      JSON.stringify({ format: 1, etag: etagOf(OBJECT), total: OBJECT.length }),
      Buffer.alloc(1_000, 1),
    ],
  ];

  it.each(BAD_LEFTOVERS)(
    'R45: a download that was cut starts again over a partial file with %s',
    async (_name, note, bytes) => {
      const { get, target, files } = await setup((call) => serveObject(call, OBJECT));
      fs.writeFileSync(`${target}.svc-part`, bytes);
      if (note !== undefined) fs.writeFileSync(`${target}.svc-part.json`, note);
      await get();
      expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
      expect(files()).toEqual(['results.csv']);
    },
  );
});

describe('a store that lies about ranges', () => {
  const ETAG = etagOf(OBJECT);
  const LENGTH = OBJECT.length;
  const ranged = (start: number, end = LENGTH - 1, total: number | string = LENGTH): Record<string, string> => ({
    etag: ETAG,
    'content-range': `bytes ${start}-${end}/${total}`,
  });
  const LIES: [string, (call: StoreCall) => void][] = [
    ['another start', (call) => call.reply(206, ranged(startOf(call) + 1), rest(call))],
    ['another end', (call) => call.reply(206, ranged(startOf(call), LENGTH - 2), rest(call))],
    ['another total', (call) => call.reply(206, ranged(startOf(call), LENGTH - 1, LENGTH + 1), rest(call))],
    ['an unknown total', (call) => call.reply(206, ranged(startOf(call), LENGTH - 1, '*'), rest(call))],
    ['no range', (call) => call.reply(206, { etag: ETAG }, rest(call))],
    ['another ETag', (call) => call.reply(206, { ...ranged(startOf(call)), etag: '"other"' }, rest(call))],
    ['a weak ETag', (call) => call.reply(206, { ...ranged(startOf(call)), etag: `W/${ETAG}` }, rest(call))],
    ['no ETag', (call) => call.reply(206, { ...ranged(startOf(call)), etag: '' }, rest(call))],
    ['a packed body', (call) => call.reply(206, { ...ranged(startOf(call)), 'content-encoding': 'gzip' }, rest(call))],
    ['a length that is too short', (call) => call.reply(206, ranged(startOf(call)), rest(call).subarray(1))],
    ['a length that is too long', (call) => call.reply(206, ranged(startOf(call)), OBJECT)],
    [
      'a longer body in chunks',
      (call) => {
        call.raw(
          `HTTP/1.1 206 Partial\r\netag: ${ETAG}\r\ncontent-range: ${ranged(startOf(call))['content-range']}\r\n`,
        );
        call.raw('transfer-encoding: chunked\r\n\r\n');
        const body = Buffer.concat([rest(call), Buffer.from('more')]);
        call.raw(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]));
      },
    ],
    [
      'other bytes under the right ETag',
      (call) => call.reply(206, ranged(startOf(call)), Buffer.from(rest(call)).fill(1)),
    ],
    ['the whole object', (call) => call.reply(200, { etag: ETAG }, OBJECT)],
    ['412', (call) => call.reply(412)],
    ['416', (call) => call.reply(416)],
  ];

  it.each(LIES)(
    'R45: a store that lies about ranges is not believed when it answers with %s: the download starts again',
    async (_name, lie) => {
      const { get, target, files } = await setup((call, index) => {
        if (index === 0) serveCut(call, OBJECT, 1_000_000);
        else if (call.headers['range'] === undefined) serveObject(call, OBJECT);
        else lie(call);
      });
      await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
      expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
      expect(files()).toEqual(['results.csv']);
    },
  );

  it('R45: a store that lies about ranges does not hold us forever: cut and lie in turn end in an error', async () => {
    const { get, files, from } = await setup((call, index) =>
      index % 2 === 0 ? serveCut(call, OBJECT, 2_500_000) : call.reply(206, ranged(0), OBJECT),
    );
    await failure(get());
    expect(from.calls.length).toBeLessThan(20);
    expect(files()).not.toContain('results.csv');
  });

  it('R45: a store that lies about ranges brings the new object, whole, when it was replaced in between', async () => {
    const other = content(2_000_000, 2);
    const { get, target } = await setup((call, index) =>
      index === 0 ? serveCut(call, OBJECT, 1_000_000) : serveObject(call, other),
    );
    await get();
    expect(fs.readFileSync(target).equals(other)).toBe(true);
  });

  it('R45: a store that lies about ranges asks for no range where the first answer had no strong ETag', async () => {
    const { get, from } = await setup((call, index) =>
      index === 0 ? serveCut(call, OBJECT, 1_000_000, `W/${ETAG}`) : serveObject(call, OBJECT),
    );
    await expect(get()).resolves.toMatchObject({ sha256: sha256(OBJECT) });
    expect(from.calls[1]?.headers['range']).toBeUndefined();
  });

  it.each(['compress', 'gzip, br'])(
    'R47: a store that packs a body with the coding %s is refused: the bytes would not be the object',
    async (coding) => {
      const { get, files } = await setup((call) => call.reply(200, { 'content-encoding': coding }, 'packed'));
      expect(await failure(get())).toMatchObject({ code: 'checksum_mismatch', exitCode: 12 });
      expect(files()).toEqual([]);
    },
  );
});

describe('a cut', () => {
  it('R46: a cut is found by the length', async () => {
    const { get, files } = await setup((call) => {
      call.raw(`HTTP/1.1 200 OK\r\ncontent-length: ${OBJECT.length}\r\n\r\n`);
      call.socket.end(OBJECT.subarray(0, 1_000_000));
    });
    expect((await failure(get())).exitCode).toBe(8);
    expect(files()).toEqual([]);
  });

  it('R46: a cut is found by the chunks', async () => {
    const { get, files } = await setup((call) => {
      call.raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbytes\r\n');
      call.socket.end();
    });
    expect((await failure(get())).exitCode).toBe(8);
    expect(files()).toEqual([]);
  });

  it('R46: a cut is not suspected when the ETag proves the whole, nor when it cannot be an MD5', async () => {
    const whole = await setup(closed(`etag: ${etagOf(OBJECT)}\r\n`, OBJECT.length));
    await expect(whole.get()).resolves.toMatchObject({ proof: 'md5', sha256: sha256(OBJECT) });
    const other = 'etag: "0123456789abcdef0123456789abcdef"\r\n';
    for (const headers of [
      'etag: "0123456789abcdef0123456789abcdef-3"\r\n',
      `x-amz-server-side-encryption: aws:kms\r\n${other}`,
      `x-amz-server-side-encryption-customer-algorithm: AES256\r\n${other}`,
      `content-encoding: aws-chunked\r\n${other}`,
    ]) {
      const { get } = await setup(closed(headers, OBJECT.length));
      await expect(get()).resolves.toMatchObject({ proof: 'none' });
    }
  });
});

function startOf(call: StoreCall): number {
  return Number(/(\d+)-$/.exec(call.headers['range'] ?? '')?.[1]);
}

/** Responds without a length, so that the end of the connection is the end of the body. */
function closed(headers: string, count: number): StoreScript {
  return (call) => {
    call.raw(`HTTP/1.1 200 OK\r\nconnection: close\r\n${headers}\r\n`);
    call.socket.end(OBJECT.subarray(0, count));
  };
}

function rest(call: StoreCall): Buffer {
  return OBJECT.subarray(startOf(call));
}
