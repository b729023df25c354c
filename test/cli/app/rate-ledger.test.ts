import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pacer } from '../../../src/client/http/pacer.ts';
import { Machine, REQUEST, quiet } from './sharing-processes.ts';

function openMachine(): Machine {
  const machine = new Machine();
  onTestFinished(machine.remove);
  return machine;
}

/** Ways to replace a ledger file with something that would block or slow a reader that trusts it. */
const UNREADABLE: [string, (file: string, content: Buffer) => void][] = [
  ['a pipe that nobody writes to', (file) => execFileSync('mkfifo', [file])],
  ['a device without an end', (file) => symlinkSync('/dev/zero', file)],
  [
    'a link to such a file',
    (file, content) => {
      writeFileSync(`${file}.elsewhere`, content);
      symlinkSync(`${file}.elsewhere`, file);
    },
  ],
  ['a directory', (file) => mkdirSync(file)],
  [
    '200 MB',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 200_000_000);
    },
  ],
  ['a million lines', (file) => writeFileSync(file, '\n{"id":"x","rules":["burst"],"sentAt":0}'.repeat(1_000_000))],
];

async function send(pacer: Pacer, times = 1): Promise<void> {
  for (let n = 0; n < times; n += 1) (await pacer.take(REQUEST, undefined, quiet))();
}

describe('processes that share a key', () => {
  it('processes that share a key leave a request to one that sends few, while another sends all it can', async () => {
    const machine = openMachine();
    const large = Array.from({ length: 4 }, () => machine.process());
    for (let n = 0; n < 11; n += 1) for (const one of large.slice(0, n < 10 ? 4 : 3)) await send(one);
    const before = machine.clock.now();
    await send(machine.process(), 4);
    expect(machine.clock.now()).toBe(before);
    await send(large[0] ?? machine.process());
    expect(machine.clock.now()).toBeGreaterThan(before);
  });

  it('R68: processes that share a key count what others sent since the first attempt of a request that had to wait', async () => {
    const machine = openMachine();
    const sendByOthers = (times: number) => (): void => {
      for (let n = 0; n < times; n += 1) void send(machine.process());
    };
    sendByOthers(47)();
    await machine.clock.sleep(1);
    let burstAt = 0;
    const burst = (): void => {
      burstAt = machine.clock.now();
      sendByOthers(48)();
    };
    await send(machine.process(undefined, [sendByOthers(1), burst]));
    expect(burstAt).toBeGreaterThan(0);
    expect(machine.clock.now() - burstAt).toBeGreaterThanOrEqual(10_000);
  });

  it('processes that share a key see the responses that came since the first attempt of a request that had to wait', async () => {
    const machine = openMachine();
    const others = await Promise.all(
      Array.from({ length: 47 }, () => machine.process().take(REQUEST, undefined, quiet)),
    );
    const before = machine.clock.now();
    const answer = (): void => {
      void send(machine.process());
      void machine.clock.sleep(100).then(() => others.forEach((ended) => ended()));
    };
    await send(machine.process(undefined, [answer]));
    expect(machine.clock.now() - before).toBeLessThanOrEqual(12_100);
  });

  it('R17: all pause when the service refused a request of one', async () => {
    const machine = openMachine();
    const before = machine.clock.now();
    machine.process().hold(REQUEST, 60_000);
    await send(machine.process());
    expect(machine.clock.now() - before).toBeGreaterThanOrEqual(60_000);
  });

  it('R81: processes that share a key wait for a hold no longer than their own --max-wait, whoever met it', async () => {
    const machine = openMachine();
    machine.patient(3_600_000).hold(REQUEST, 1_800_000);
    const before = machine.clock.now();
    await expect(send(machine.process())).rejects.toMatchObject({
      code: 'rate_limited',
      exitCode: 7,
      retryable: true,
      message: 'the service asked an earlier request with this key to wait; 1800 s are left, longer than 90 s',
      facts: { retry_after_s: 1_800 },
    });
    expect(machine.clock.now()).toBe(before);
    await send(machine.patient(1_800_000));
    expect(machine.clock.now() - before).toBeGreaterThanOrEqual(1_800_000);
  });

  it('R81: processes that share a key keep to a hold of hours to its end, also past midnight', async () => {
    const machine = openMachine();
    const until = machine.clock.now() + 20 * 3_600_000;
    machine.process().hold(REQUEST, 20 * 3_600_000);
    for (const hours of [1, 5, 7, 6]) {
      await machine.clock.sleep(hours * 3_600_000);
      await expect(send(machine.process())).rejects.toMatchObject({ code: 'rate_limited' });
    }
    await machine.clock.sleep(until - machine.clock.now() - 1_000);
    await send(machine.process());
    expect(machine.clock.now()).toBeGreaterThanOrEqual(until);
  });

  it('R81: processes that share a key ignore a hold that ends later than in 24 hours, wherever it stands', async () => {
    const machine = openMachine();
    machine.process().hold(REQUEST, 86_400_001);
    await send(machine.process());
    const before = machine.clock.now();
    const forged = { id: 'forged', rules: ['burst', 'minute'], sentAt: before, heldUntil: before + 400 * 86_400_000 };
    for (const name of machine.files())
      writeFileSync(path.join(machine.directory, name), `\n${JSON.stringify(forged)}`, { flag: 'a' });
    await send(machine.process());
    expect(machine.clock.now()).toBe(before);
  });

  it('R81: processes that share a key wait for the requests of others no longer than their own --max-wait, and for their own as long as it takes', async () => {
    const machine = openMachine();
    const other = machine.process();
    await send(other, 46);
    await expect(send(machine.patient(1_000), 3)).rejects.toMatchObject({
      code: 'rate_limited',
      message: 'other processes use up the rate limit of this key; 10 s are left, longer than 1 s',
    });
    await machine.clock.sleep(60_000);
    const before = machine.clock.now();
    await send(machine.patient(1_000), 50);
    expect(machine.clock.now() - before).toBeGreaterThanOrEqual(10_000);
  });

  it.each(UNREADABLE)(
    'R81: processes that share a key keep to the limits each for itself where a file of theirs is %s',
    async (_, put) => {
      const machine = openMachine();
      await send(machine.process());
      for (const name of readdirSync(machine.directory)) {
        const file = path.join(machine.directory, name);
        const content = readFileSync(file);
        rmSync(file);
        put(file, content);
        const [pacer, before] = [machine.process(), machine.clock.now()];
        await send(pacer, 48);
        expect(machine.clock.now()).toBe(before);
        await machine.clock.sleep(60_000);
        rmSync(file, { recursive: true });
        writeFileSync(file, content);
      }
    },
  );

  it.each([
    ['short lines', '1'],
    ['torn lines', '{"id":"x"'],
  ])('R81: processes that share a key do not read a log of more lines than a fleet writes: %s', async (_, line) => {
    const machine = openMachine();
    await send(machine.process());
    const [name = ''] = machine.files();
    writeFileSync(path.join(machine.directory, name), `\n${line}`.repeat(100_000));
    const before = machine.clock.now();
    await send(machine.process(), 48);
    expect(machine.clock.now()).toBe(before);
  });

  it('processes that share a key do not count the requests of other keys and services', async () => {
    const machine = openMachine();
    await send(machine.process(), 10);
    await send(machine.process('https://other.example/'));
    await machine.process().take({ ...REQUEST, secret: 'another' }, undefined, quiet);
    expect(machine.files()).toHaveLength(3);
  });

  it('R06: processes that share a key leave no trace of the key, in files of their own', async () => {
    const machine = openMachine();
    await send(machine.process());
    const files = readdirSync(machine.directory);
    const text = files.map((name) => name + readFileSync(path.join(machine.directory, name), 'latin1')).join('\n');
    expect(text).not.toContain(REQUEST.secret);
    expect(files.map((name) => statSync(path.join(machine.directory, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('R10 and R68: processes that share a key keep to the limits each for itself where the files cannot be used', async () => {
    const machine = openMachine();
    writeFileSync(machine.directory, 'in the way');
    const before = machine.clock.now();
    const pacer = machine.process();
    await send(pacer, 48);
    expect(machine.clock.now()).toBe(before);
    await send(pacer);
    expect(machine.clock.now() - before).toBe(10_000);
  });

  it('R68: processes that share a key go on together where what is old cannot be removed', async () => {
    const machine = openMachine();
    await send(machine.process(), 10);
    mkdirSync(path.join(machine.directory, `${'0'.repeat(32)}.1.log`));
    const others = Array.from({ length: 39 }, () => machine.process());
    const before = machine.clock.now();
    for (const other of others) await send(other);
    expect(machine.clock.now()).toBeGreaterThan(before);
  });

  it('begin again where a log is damaged or from a clock that was set back', async () => {
    const machine = openMachine();
    await send(machine.process(), 48);
    const [name = ''] = machine.files();
    const file = path.join(machine.directory, name);
    const soon = machine.clock.now() + 3_600_000;
    const future = [
      { id: 'x', rules: ['burst'], sentAt: soon },
      { id: 'x', rules: ['burst'], sentAt: 0, answeredAt: soon },
      { id: 'x', rules: ['burst'], sentAt: 0, heldUntil: 'x' },
    ];
    for (const text of ['', '\0\0', '\n{}\n[1]\n{"id', ...future.map((entry) => `\n${JSON.stringify(entry)}`)]) {
      writeFileSync(file, text);
      const before = machine.clock.now();
      await send(machine.process());
      expect(machine.clock.now()).toBe(before);
    }
  });
});
