import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { etagOf, serveCut, serveObject, type StoreCall } from '../../support/fault-store.ts';
import { OBJECT, setup } from './download-setup.ts';
import { content, failure, sha256 } from './support.ts';

describe('a download that was cut', () => {
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
    expect(from.ledger.length).toBeLessThan(20);
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
    expect(from.ledger[1]?.headers['range']).toBeUndefined();
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

function startOf(call: StoreCall): number {
  return Number(/(\d+)-$/.exec(call.headers['range'] ?? '')?.[1]);
}

function rest(call: StoreCall): Buffer {
  return OBJECT.subarray(startOf(call));
}
