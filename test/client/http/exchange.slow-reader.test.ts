import { describe, expect, it } from 'vitest';
import { exchange } from '../../../src/client/http/exchange.ts';
import { signedAddress, type StoreCall } from '../../support/fault-store.ts';
import { content, SHORT, store, transport } from '../transfer/support.ts';

const BYTES = content(1_000_000);

/** Reads a response only after its connection has ended, and returns the number of bytes. */
async function readLate(script: (call: StoreCall) => void): Promise<number> {
  const from = await store(script);
  const answer = await exchange(transport(), { method: 'GET', url: signedAddress(from), headers: {}, limits: SHORT });
  await new Promise((resolve) => setTimeout(resolve, 50));
  let read = 0;
  await answer.receive((piece) => (read += piece.byteLength));
  return read;
}

describe('a reader slower than the network', () => {
  const HEADS = ['connection: close\r\n', `connection: close\r\ncontent-length: ${BYTES.length}\r\n`];

  it.each(HEADS)(
    'R22: a reader slower than the network gets every byte of an answer whose connection ends before it is read (%j)',
    async (head) => {
      // Whether the last byte meets a full buffer depends on the size, so the test tries several.
      for (const size of [65_536, 131_072, 196_608, 262_144, 500_000]) {
        const body = BYTES.subarray(0, size);
        const fitting = head.replace(String(BYTES.length), String(size));
        await expect(
          readLate((call) => {
            call.raw(`HTTP/1.1 200 OK\r\n${fitting}\r\n`);
            call.socket.end(body);
          }),
        ).resolves.toBe(size);
      }
    },
  );

  it.each(HEADS)(
    'R46: a reader slower than the network is told when the connection breaks before everything was read (%j)',
    async (head) => {
      for (const size of [65_536, 131_072, 600_000]) {
        const reading = readLate((call) => {
          call.raw(`HTTP/1.1 200 OK\r\n${head}\r\n`);
          call.socket.write(BYTES.subarray(0, size), () => setTimeout(() => call.reset(), 10));
        });
        await expect(reading).rejects.toMatchObject({ name: 'TransportFailure', kind: 'reset' });
      }
    },
  );

  it('R46: a reader slower than the network is told of a break that comes together with the last bytes, where the end of the connection is the end of the body', async () => {
    for (let round = 0; round < 5; round += 1) {
      const reading = readLate((call) => {
        call.raw(`HTTP/1.1 200 OK\r\n${HEADS[0]}\r\n`);
        call.socket.write(BYTES.subarray(0, 30_000));
        call.reset();
      });
      await expect(reading).rejects.toMatchObject({ name: 'TransportFailure', kind: 'reset' });
    }
  });
});
