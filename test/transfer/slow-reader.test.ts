import { describe, expect, it } from 'vitest';
import { exchange } from '../../src/http/exchange.ts';
import { TransportFailure } from '../../src/http/transport-failure.ts';
import type { StoreCall } from '../support/fault-store.ts';
import { content, SHORT, store, transport } from './support.ts';

const BYTES = content(1_000_000);
/** Reads an answer so slowly that the connection has long ended when the reader comes to the end. */
async function readSlowly(script: (call: StoreCall) => void): Promise<number> {
  const from = await store(script);
  const answer = await exchange(transport(), { method: 'GET', url: from.url(), headers: {}, limits: SHORT });
  let read = 0;
  for await (const piece of answer.body) {
    read += piece.byteLength;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return read;
}

describe('a reader slower than the network', () => {
  const HEADS = ['connection: close\r\n', `connection: close\r\ncontent-length: ${BYTES.length}\r\n`];

  it.each(HEADS)(
    'R22 gets every byte of an answer whose connection ends before it is read (%j)',
    async (head) => {
      // Whether the last byte meets a full buffer is a matter of sizes: many of them.
      for (const size of [65_536, 131_072, 196_608, 262_144, 500_000]) {
        const body = BYTES.subarray(0, size);
        const fitting = head.replace(String(BYTES.length), String(size));
        await expect(
          readSlowly((call) => {
            call.raw(`HTTP/1.1 200 OK\r\n${fitting}\r\n`);
            call.socket.end(body);
          }),
        ).resolves.toBe(size);
      }
    },
  );

  it('R46 is told when the connection breaks before everything was read', async () => {
    for (const size of [65_536, 131_072, 600_000]) {
      const reading = readSlowly((call) => {
        call.raw(`HTTP/1.1 200 OK\r\n${HEADS[1]}\r\n`);
        call.socket.write(BYTES.subarray(0, size), () => setTimeout(() => call.reset(), 10));
      });
      await expect(reading).rejects.toMatchObject({ name: 'TransportFailure', kind: 'reset' });
    }
  });

  it('R22 survives a break of a connection that bounds its body by ending', async () => {
    for (const size of [65_536, 131_072, 600_000]) {
      const reading = readSlowly((call) => {
        call.raw(`HTTP/1.1 200 OK\r\n${HEADS[0]}\r\n`);
        call.socket.write(BYTES.subarray(0, size), () => setTimeout(() => call.reset(), 10));
      });
      // The system may show a break as an end, so either may come; a crash would fail the whole run.
      const read: unknown = await reading.catch((error: unknown) => error);
      const isBreak = read instanceof TransportFailure && read.kind === 'reset';
      expect(isBreak || Number(read) <= size).toBe(true);
    }
  });
});
