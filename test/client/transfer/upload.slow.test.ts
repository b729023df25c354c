import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { AddressRefused } from '../../../src/client/transfer/store-errors.ts';
import { type StoreScript, takeObject } from '../../support/fault-store.ts';
import { failure, TINY } from './support.ts';
import { LARGE, setup } from './uploading.ts';

describe('an upload', () => {
  it('R35: an upload arrives byte for byte where the store reads haltingly, though memory is used again', async () => {
    let arrived: Buffer | undefined;
    const { send } = await setup(async (call) => {
      const { socket } = call;
      const halting = setInterval(() => (socket.isPaused() ? socket.resume() : socket.pause()), 3);
      arrived = await takeObject(call);
      clearInterval(halting);
    }, LARGE);
    await send();
    expect(arrived?.equals(LARGE)).toBe(true);
  });

  it('an upload tells how far it is, up to the whole', async () => {
    const seen: number[] = [];
    const { send } = await setup(async (call) => void (await takeObject(call)), LARGE);
    await send({ onProgress: ({ done, total }) => seen.push(total === LARGE.length ? done : -1) });
    expect(seen.length).toBeGreaterThan(10);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(LARGE.length);
  });
});

describe('an upload that is refused', () => {
  const ANSWER = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
  const HEAD = `HTTP/1.1 403 Forbidden\r\nconnection: close\r\n`;
  const EARLY: [string, StoreScript][] = [
    ['and goes on reading', (call) => call.reply(403, {}, ANSWER)],
    ['and reads no further', (call) => (call.socket.pause(), call.reply(403, {}, ANSWER))],
    [
      'and closes',
      async (call) => {
        await call.body(1_000_000);
        call.socket.pause();
        call.reply(403, { connection: 'close' }, ANSWER);
        call.socket.end(() => call.close());
      },
    ],
    [
      'without a length and closes',
      async (call) => {
        await call.body(3_000_000);
        call.socket.pause();
        call.socket.write(`${HEAD}\r\n${ANSWER}`, () => call.close());
      },
    ],
    [
      'at once and resets',
      (call) => {
        call.socket.pause();
        call.socket.write(`${HEAD}content-length: ${ANSWER.length}\r\n\r\n${ANSWER}`, () => call.close());
      },
    ],
  ];

  it.each(EARLY)(
    'R38: an upload that is refused reports an early answer %s, not a broken pipe',
    async (_name, script) => {
      const times = process.env['SOAK'] ? 100 : 10;
      const { send, target } = await setup(script, LARGE);
      for (let time = 0; time < times; time += 1) {
        const error = await failure(send());
        expect(error).toBeInstanceOf(AddressRefused);
        expect(error.message).toContain('403 AccessDenied: Request has expired');
      }
      expect(target.ledger).toHaveLength(times);
    },
  );

  it('R16: an upload that is refused stops after five attempts', async () => {
    const { send, target } = await setup((call) => call.reply(429));
    expect(await failure(send())).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(target.ledger).toHaveLength(5);
  });

  it('R94: an upload that the store itself puts off early is tried five times', async () => {
    const { send, target } = await setup((call) => {
      call.socket.pause();
      call.reply(503, {}, '<Error><Code>SlowDown</Code></Error>');
    }, LARGE);
    expect(await failure(send())).toMatchObject({ code: 'server', status: 503 });
    expect(target.ledger).toHaveLength(5);
  });

  it('R94: an upload that is confirmed before the store has the whole file is sent again at once, and never completely', async () => {
    const shares: string[] = [];
    const arrived: (Buffer | undefined)[] = [];
    const { send, slept } = await setup(async (call, index) => {
      if (index === 2) return void arrived.push(await takeObject(call));
      call.socket.pause();
      call.reply(200);
    }, LARGE);
    await expect(send({ onSent: (share) => shares.push(share) })).resolves.toMatchObject({ attempts: 3 });
    expect(arrived[0]?.equals(LARGE)).toBe(true);
    expect(shares).toEqual(['some', 'some', 'some', 'some', 'some', 'all']);
    expect(slept).toEqual([]);
  });

  it('R94: an upload that is always confirmed too early ends without a doubt about the file', async () => {
    const { send, target } = await setup((call) => (call.socket.pause(), call.reply(200)), LARGE);
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'bad_response', status: 200 });
    expect(error.message).toContain('before it had the whole file');
    expect(target.ledger).toHaveLength(5);
  });
});

function diskIsFull(): never {
  throw new SvcError('local', 'the disk is full');
}

describe('an upload whose end is unclear', () => {
  it('R36: an upload whose end is unclear says so before the last bytes go out, and sends none of them when that cannot be recorded', async () => {
    const lengths: number[] = [];
    const { send } = await setup(async (call) => {
      lengths.push((await call.body()).length);
      call.reply(200);
    }, LARGE);
    const steps: string[] = [];
    await send({ onSent: (share) => steps.push(share) });
    expect(steps).toEqual(['some', 'all']);
    expect(await failure(send({ onSent: (share) => (share === 'all' ? diskIsFull() : undefined) }))).toMatchObject({
      code: 'local',
    });
    await expect.poll(() => lengths.length).toBe(2);
    expect(lengths[0]).toBe(LARGE.length);
    expect(lengths[1]).toBeLessThan(LARGE.length);
  });

  it('R36: an upload whose end is unclear sends again after a reset before the last byte went out: no store can have the file', async () => {
    const arrived: (Buffer | undefined)[] = [];
    const { send } = await setup(async (call, index) => {
      if (index === 2) return void arrived.push(await takeObject(call));
      if (index === 1) await call.body(2_000_000);
      call.reset();
    }, LARGE);
    await expect(send()).resolves.toMatchObject({ attempts: 3 });
    expect(arrived[0]?.equals(LARGE)).toBe(true);
  });

  it('R14: an upload whose end is unclear ends when the store stops reading mid-way', async () => {
    const { send } = await setup((call) => void call.socket.pause(), LARGE);
    expect(await failure(send({ limits: TINY }))).toMatchObject({ code: 'network' });
  });
});

describe('a file that changes', () => {
  it('R35: a file that changes never arrives whole when it changes while it is sent', async () => {
    const whole: boolean[] = [];
    const { send, file, target } = await setup(async (call) => {
      await call.body(2_000_000);
      fs.writeSync(fs.openSync(file, 'r+'), 'changed', LARGE.length - 7);
      whole.push((await call.body()).length === LARGE.length);
    }, LARGE);
    expect(await failure(send())).toMatchObject({ code: 'checksum_mismatch' });
    await expect.poll(() => whole).toEqual([false]);
    expect(target.ledger).toHaveLength(1);
  });
});
