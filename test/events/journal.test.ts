import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createRedactor } from '../../src/base/security/redact.ts';
import { Journal, type JournalLine, readJournal, recentIds } from '../../src/events/journal.ts';
import { FakeClock } from '../support/clock.ts';
import { handlePrototype, received } from './support.ts';
import { temporaryDirectory } from '../support/directory.ts';

const plain = (text: string): string => text;
const directory = temporaryDirectory();
let file = '';
let made = 0;

beforeEach(() => {
  made += 1;
  file = join(directory, `${made}.jsonl`);
});

async function gather<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of source) found.push(item);
  return found;
}

/** Writes no more than thirty bytes, as a nearly full disk does. */
async function writeShort(this: fs.FileHandle, buffer: unknown, from: unknown) {
  return { buffer, bytesWritten: writeSync(this.fd, buffer as Buffer, from as number, 30) } as never;
}

function idsIn(found: readonly JournalLine[]): (string | undefined)[] {
  return found.map((line) => ('entry' in line ? line.entry.id : undefined));
}

it('the journal keeps each event as a line, for its owner only, with the very text that came', async () => {
  const journal = await Journal.open(file, plain);
  const event = received('e1', { note: 'ü\n"\u2028' });
  await journal.append(event);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [line] = await gather(readJournal(file));
  expect(line).toMatchObject({
    line: 1,
    entry: { id: 'e1', type: 'account-updater.job.completed', received_at: '2026-01-05T12:00:00.000Z' },
  });
  expect(line && 'entry' in line && line.entry.body).toBe(event.bytes.toString());
  await journal.append(received('e2'));
  await journal.close();
  expect(readFileSync(file, 'utf8')).toMatch(/^[^\n]+\n[^\n]+\n$/);
});

it('the journal has an event on the disk before it says that it has it', async () => {
  const happened: string[] = [];
  const flush = vi.spyOn(await handlePrototype(), 'datasync').mockImplementation(async () => {
    await setImmediate();
    happened.push('on the disk');
  });
  onTestFinished(() => flush.mockRestore());
  const journal = await Journal.open(file, plain);
  await journal.append(received('e1'));
  happened.push('said so');
  await journal.close();
  expect(happened).toEqual(['on the disk', 'said so']);
});

it('the journal keeps the order of a thousand that come at once, and adds to what was there', async () => {
  for (const start of [0, 500]) {
    const journal = await Journal.open(file, plain);
    await Promise.all(Array.from({ length: 500 }, (_, at) => journal.append(received(`e${start + at}`))));
    await journal.close();
  }
  expect(idsIn(await gather(readJournal(file)))).toEqual(Array.from({ length: 1000 }, (_, at) => `e${at}`));
});

it('the journal continues after a line that was left incomplete, and skips it when reading', async () => {
  const first = await Journal.open(file, plain);
  await first.append(received('e1'));
  await first.close();
  appendFileSync(file, '{"received_at":"2026-01-05T12:00:00.000Z","id":"e2","ty');
  expect(idsIn(await gather(readJournal(file)))).toEqual(['e1', undefined]);
  const second = await Journal.open(file, plain);
  await second.append(received('e3'));
  await second.close();
  expect(await gather(readJournal(file))).toMatchObject([
    { line: 1, entry: { id: 'e1' } },
    { line: 2, problem: 'it is truncated or not JSON' },
    { line: 3, entry: { id: 'e3' } },
  ]);
});

it('the journal continues where only the beginning of its first entry was written', async () => {
  for (const text of ['{', '{"received_at":"2026-01-05T12:00:00.000Z","id":"e2","ty\n']) {
    writeFileSync(file, text);
    const journal = await Journal.open(file, plain);
    await journal.append(received('e1'));
    await journal.close();
    expect(idsIn(await gather(readJournal(file)))).toEqual([undefined, 'e1']);
  }
});

it('the journal reads round lines that are no events', async () => {
  const event = '{"id":"e","type":"t","received_at":"2026-01-05T12:00:00Z","body":"{}"}';
  const never = event.replace('2026-01-05', 'never');
  writeFileSync(file, `\n[]\n{"id":1}\n\0\u0000x\n${never}\n${event}\n`);
  expect((await gather(readJournal(file))).map((line) => line.line)).toEqual([2, 3, 4, 5, 6]);
  expect(idsIn(await gather(readJournal(file)))).toEqual([undefined, undefined, undefined, undefined, 'e']);
});

it('a line of the journal that is longer than any event is refused after the lines before it are read', async () => {
  const piece = 'x'.repeat(1_000_000);
  writeFileSync(file, `short\n${piece.repeat(15)}\n${piece.repeat(17)}`);
  const found: number[] = [];
  const reading = (async () => {
    for await (const { line } of readJournal(file)) found.push(line);
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'refused_input',
    message: `line 3 of ${file} is longer than any event`,
  });
  expect(found).toEqual([1, 2]);
});

it('R19: reading the journal ends with the command, also within a line', async () => {
  writeFileSync(file, 'x'.repeat(1_000_000));
  const reason = new Error('interrupted');
  await expect(gather(readJournal(file, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
});

it('R19: reading a pipe ends with the command, also while nobody writes to it', async () => {
  execFileSync('mkfifo', [file]);
  const clock = new FakeClock({ auto: false });
  const stop = new AbortController();
  const reading = gather(readJournal(file, { clock, signal: stop.signal }));
  while (clock.sleeping === 0) await setImmediate();
  const reason = new Error('interrupted');
  stop.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

it('reading a pipe takes what its writer writes, however long that pauses, and ends when that closes it', async () => {
  execFileSync('mkfifo', [file]);
  const clock = new FakeClock({ auto: false });
  const ended: boolean[] = [];
  const reading = gather(readJournal(file, { clock })).finally(() => ended.push(true));
  const writer = await fs.open(file, 'w');
  for (const part of ['first\nsec', 'ond\n\u00e4', 'third']) {
    while (clock.sleeping === 0) await setImmediate();
    await writer.write(part);
    await clock.advance(300_000);
  }
  await writer.close();
  for (; ended.length === 0; await setImmediate()) await clock.advance(20);
  expect((await reading).map(({ line }) => line)).toEqual([1, 2, 3]);
});

it('the journal refuses another file, and leaves its bytes and its mode as they are', async () => {
  for (const text of ['token,merchant\n1,2\n', '{"a":1}\n', '{\n  "a": 1\n}\n', 'x']) {
    writeFileSync(file, text);
    chmodSync(file, 0o644);
    await expect(Journal.open(file, plain)).rejects.toMatchObject({ code: 'refused_input' });
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([text, 0o644]);
  }
});

it('the journal takes away from others a file that they can read', async () => {
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  await (await Journal.open(file, plain)).close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('the journal closes a file whose mode it cannot change', async () => {
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  const denied = Object.assign(new Error('not permitted'), { code: 'EPERM' });
  const chmod = vi.spyOn(await handlePrototype(), 'chmod').mockRejectedValueOnce(denied);
  onTestFinished(() => chmod.mockRestore());
  await expect(Journal.open(file, plain)).rejects.toMatchObject({ code: 'local' });
  expect(chmod.mock.contexts).toMatchObject([{ fd: -1 }]);
});

it('R06: the journal holds no key, no signed query and no card number', async () => {
  const journal = await Journal.open(file, createRedactor().redact);
  const event = received('e1', {
    download_url: 'https://store.example/r.csv?X-Amz-Signature=canary-a&X-Amz-Expires=60',
    note: '4111 1111 1111 1111',
  });
  const headers = new Map([...event.headers, ['authorization', 'Bearer canary-b'], ['svc-api-key', 'canary-c']]);
  await journal.append({ ...event, headers });
  await journal.close();
  expect(readFileSync(file, 'utf8')).not.toMatch(/canary|4111 1111/);
  const [line] = await gather(readJournal(file));
  expect(line).toMatchObject({ entry: { redacted: true } });
  expect(line && 'entry' in line && JSON.parse(line.entry.body)).toMatchObject({ event: { id: 'e1' } });
});

it('the journal keeps a signature of any form, and notes an event with a header that is not kept as it came', async () => {
  const journal = await Journal.open(file, createRedactor().redact);
  const event = received('e1');
  const signed = { 'x-signature': 'signature=3q2+7w==,t=1', signature: 'sig=deadbeef&v=2', authorization: 'Bearer x' };
  await journal.append({ ...event, headers: new Map(Object.entries(signed)) });
  const masked = [
    ['x-signature', 'signature=4111111111111111'],
    ['x-note', 'https://store.example/?sig=canary'],
    ['x-signature', 'https://store.example/?sig=canary'],
  ] as const;
  for (const [name, value] of masked) await journal.append({ ...event, headers: new Map([[name, value]]) });
  await journal.close();
  const entries = (await gather(readJournal(file))).flatMap((line) => ('entry' in line ? [line.entry] : []));
  expect(entries[0]?.headers).toEqual({ ...signed, authorization: '[hidden]' });
  expect(entries.map(({ redacted = false }) => redacted)).toEqual([false, true, true, true]);
  expect(readFileSync(file, 'utf8')).not.toMatch(/canary|4111111111111111/);
});

it('the journal refuses each event once its file is removed, and goes on in one that was only moved', async () => {
  const journal = await Journal.open(file, plain);
  await journal.append(received('e1'));
  renameSync(file, `${file}.1`);
  await journal.append(received('e2'));
  rmSync(`${file}.1`);
  for (const id of ['e3', 'e4'])
    await expect(journal.append(received(id))).rejects.toThrow(`${file} was removed: start the command again`);
  await journal.close();
});

it('the journal says that the disk is full, each time', async () => {
  const journal = await Journal.open('/dev/full', plain);
  for (let time = 0; time < 2; time += 1) {
    await expect(journal.append(received())).rejects.toMatchObject({
      code: 'local',
      message: expect.stringContaining('the disk is full'),
    });
  }
  await journal.close();
});

it('the journal writes what a short write has left, and begins another line after one that a full disk cut short', async () => {
  const journal = await Journal.open(file, plain);
  const write = vi.spyOn(await handlePrototype(), 'write');
  onTestFinished(() => write.mockRestore());
  write.mockImplementationOnce(writeShort);
  await journal.append(received('e1'));
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  write.mockImplementationOnce(writeShort).mockRejectedValueOnce(full);
  await expect(journal.append(received('e2'))).rejects.toMatchObject({ code: 'local' });
  await journal.append(received('e3'));
  await journal.close();
  expect(idsIn(await gather(readJournal(file)))).toEqual(['e1', undefined, 'e3']);
});

it('the journal says of no event that it has it if the disk cannot keep it, and goes on where a device has no sync', async () => {
  const sync = vi.spyOn(await handlePrototype(), 'datasync');
  onTestFinished(() => sync.mockRestore());
  const journal = await Journal.open(file, plain);
  sync.mockRejectedValueOnce(Object.assign(new Error('bad disk'), { code: 'EIO' }));
  await expect(journal.append(received('e1'))).rejects.toMatchObject({ code: 'local' });
  sync.mockRejectedValueOnce(Object.assign(new Error('no sync'), { code: 'EINVAL' }));
  await journal.append(received('e2'));
  await journal.close();
});

it('the journal refuses a directory, a pipe and a place that is not there, and waits for none of them', async () => {
  mkdirSync(file);
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const odd of [file, pipe, join(directory, 'none/here.jsonl')])
    await expect(Journal.open(odd, plain)).rejects.toMatchObject({ code: 'local', hint: expect.any(String) });
});

it('the journal tells its last ids, and none where there is no file', async () => {
  expect(await gather(recentIds(file))).toEqual([]);
  const journal = await Journal.open(file, plain);
  for (const id of ['a', 'b', 'a']) await journal.append(received(id));
  await journal.close();
  expect(await gather(recentIds(file))).toEqual(['a', 'b', 'a']);
});

it('the journal says that a journal to read is not there', async () => {
  await expect(gather(readJournal(file))).rejects.toMatchObject({ code: 'local', message: `${file} does not exist` });
});
