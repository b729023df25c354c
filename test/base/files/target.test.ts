import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readFileOrPipe } from '../../../src/base/files/read.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let directory: string;
let pipe: string;

beforeEach(() => {
  directory = temporaryDirectory();
  pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
});

it('a file or pipe that is read is a file of any size, as far as it is wanted', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, 'x'.repeat(200_000));
  expect(await readFileOrPipe(file, 1_000_000, { clock: new FakeClock() })).toHaveLength(200_000);
  expect(await readFileOrPipe(file, 100, { clock: new FakeClock() })).toHaveLength(100);
});

it('R14: a file or pipe that is read is given up when no writer opens the pipe within a minute', async () => {
  const clock = new FakeClock();
  const start = clock.now();
  expect(await readFileOrPipe(pipe, 100, { clock })).toHaveLength(0);
  expect(clock.now() - start).toBe(60_000);
});

it('R14: a file or pipe that is read is left at once when the signal aborts', async () => {
  const controller = new AbortController();
  const clock = new FakeClock({ auto: false });
  const reading = readFileOrPipe(pipe, 100, { clock, signal: controller.signal });
  controller.abort(new Error('interrupted'));
  await expect(reading).rejects.toThrow('interrupted');
});

it('a file or pipe that is read is empty when the writer closes the pipe without a byte', async () => {
  const clock = new FakeClock({ auto: false });
  const start = clock.now();
  const ended: boolean[] = [];
  const reading = readFileOrPipe(pipe, 100, { clock }).finally(() => ended.push(true));
  const writer = await fs.open(pipe, 'w');
  while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(20);
  while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  await writer.close();
  // Time passes only while the reader sleeps, so that a slow read takes none.
  for (; ended.length === 0; await new Promise((resolve) => setImmediate(resolve)))
    if (clock.sleeping > 0) await clock.advance(20);
  expect(await reading).toHaveLength(0);
  expect(clock.now() - start).toBeLessThan(1000);
});

it('a file or pipe that is read is waited for while its writer takes its time', async () => {
  const clock = new FakeClock({ auto: false });
  const reading = readFileOrPipe(pipe, 100, { clock });
  const writer = await fs.open(pipe, 'w');
  for (const part of ['ke', 'y']) {
    while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
    await writer.write(part);
    await clock.advance(20);
  }
  await writer.close();
  await clock.advance(20);
  while (clock.sleeping > 0) await clock.advance(20);
  expect(String(await reading)).toBe('key');
});
