import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { findFlaws } from '../../../src/au/results/download.ts';
import type { Flaw, Proof } from '../../../src/client/transfer/receive.ts';
import { setup } from '../../client/transfer/download-setup.ts';
import { etagOf, signedAddress, type StoreCall } from '../../support/fault-store.ts';

const HEADER = 'token,note,result_code';
const row = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9-]{1,8}$/),
    fc.constantFrom('', 'new', '"a ""b"', '"x\ny"'),
    fc.constantFrom('UPD_PAN', 'X'),
  )
  .map(([token, next, code]) => `${token},${next},${code}\n`);
const resultFile = fc.array(row, { minLength: 1, maxLength: 3 }).map((rows) => `${HEADER}\n${rows.join('')}`);

/** Ways to send the beginning of a file as if it were all of it. */
const FRAMINGS: Readonly<Record<string, (call: StoreCall, body: Buffer, headers: string) => void>> = {
  length: (call, body, headers) => {
    call.raw(`HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n`);
    call.socket.end(body);
  },
  chunks: (call, body, headers) => {
    call.raw(`HTTP/1.1 200 OK\r\n${headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n`);
    const size = body.length === 0 ? '' : `${body.length.toString(16)}\r\n`;
    call.socket.end(Buffer.concat([Buffer.from(size), body, Buffer.from(size === '' ? '0\r\n\r\n' : '\r\n0\r\n\r\n')]));
  },
  close: (call, body, headers) => {
    call.raw(`HTTP/1.1 200 OK\r\n${headers}connection: close\r\n\r\n`);
    call.socket.end(body);
  },
};

const inspect = (file: string, proof: Proof): Promise<readonly Flaw[]> => findFlaws(file, proof, {});

/** Returns the lengths at which the client accepts the beginning of a file as the whole file. */
async function taken(file: Buffer, framing: string, headers: string): Promise<number[]> {
  const { get, from, target } = await setup((call) => {
    const length = Number(/\d+/.exec(call.path)?.[0]);
    FRAMINGS[framing]?.(call, file.subarray(0, length), headers);
  });
  const found: number[] = [];
  const lengths = Array.from({ length: file.length + 1 }, (_, length) => length);
  const worker = async (): Promise<void> => {
    for (let length = lengths.shift(); length !== undefined; length = lengths.shift()) {
      const address = Promise.resolve(signedAddress(from, `/${length}`));
      // The first refusal is enough, so the test does not wait for the next download.
      const onUnproven = (): never => {
        throw new Refused();
      };
      try {
        await get({ inspect, onUnproven, target: `${target}-${length}`, address: () => address });
        found.push(length);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return found.toSorted((a, b) => a - b);
}

class Refused extends Error {}

it.each(['length', 'chunks', 'close'])(
  'R59: a result file that is cut at any byte is taken only when it is whole, where the store gives its MD5: framed by %s',
  async (framing) => {
    await fc.assert(
      fc.asyncProperty(resultFile, async (text) => {
        const file = Buffer.from(text);
        expect(await taken(file, framing, `etag: ${etagOf(file)}\r\n`)).toEqual([file.length]);
      }),
      { numRuns: process.env['SOAK'] ? 50 : 3 },
    );
  },
);

it.each(['chunks', 'close'])(
  'R59: a result file that is cut at any byte is taken only after a whole row, where nothing but the text can tell: framed by %s',
  async (framing) => {
    await fc.assert(
      fc.asyncProperty(resultFile, async (text) => {
        const ends = text
          .split('')
          .flatMap((unit, at) => (unit === '\n' && text.slice(0, at).split('"').length % 2 === 1 ? [at + 1] : []));
        expect(await taken(Buffer.from(text), framing, '')).toEqual(ends);
      }),
      { numRuns: process.env['SOAK'] ? 50 : 3 },
    );
  },
);
