import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/base/errors.ts';
import { FakeClock } from '../support/clock.ts';
import { svcIn } from '../support/run-here.ts';
import { Home } from '../support/svc.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
  execFileSync('mkfifo', [join(home.path, 'pipe')]);
});

/** Runs a command whose input never ends, and ends it by a signal once it reads. Returns its exit code. */
async function endedWhileReading(line: string, isReading: Promise<unknown>, input?: Readable): Promise<number> {
  const stop = new AbortController();
  const clock = new FakeClock({ start: Date.now(), auto: false });
  const env = { SVC_BASE_URL: 'https://vault.example' };
  const running = svcIn(home.path, line.split(' '), { signal: stop.signal, clock, env, ...(input && { input }) });
  const early = await Promise.race([isReading, running]);
  stop.abort(new SvcError('terminated', 'ended by a signal'));
  const { code, stderr } = await running;
  expect([early, stderr]).toEqual([undefined, expect.stringContaining('ended by a signal')]);
  return code;
}

describe('input that stays silent', () => {
  it.each([
    ['events replay pipe --forward-to http://127.0.0.1:1/'],
    ['events replay pipe --forward-to http://127.0.0.1:1/ --dry-run'],
    ['3ds validate pipe'],
    ['tenant diff pipe'],
    ['tenant update --file pipe --dry-run'],
    ['api POST /3ds/sessions --file pipe'],
  ])('R19: a pipe that stays silent does not keep a signal from ending svc %s', async (line) => {
    // The writer opens the pipe as soon as the command does, and writes nothing.
    const writer = fs.open(join(home.path, 'pipe'), constants.O_WRONLY);
    try {
      expect(
        await endedWhileReading(
          line,
          writer.then(() => undefined),
        ),
      ).toBe(143);
    } finally {
      // Without a command that reads, the opening would wait forever.
      await fs
        .open(join(home.path, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
        .then((reader) => reader.close());
      await (await writer).close();
    }
  });

  it.each([
    ['au check -'],
    ['au submit -'],
    ['au prepare - --out request.csv'],
    ['3ds validate -'],
    ['tenant diff -'],
    ['api POST /3ds/sessions --file -'],
    ['login --management-key-stdin'],
    ['login --private-key-stdin'],
  ])('R19: standard input that stays silent does not keep a signal from ending svc %s', async (line) => {
    const begun = new AbortController();
    const isReading = once(begun.signal, 'abort').then(() => undefined);
    const input = new Readable({ read: () => begun.abort() });
    expect(await endedWhileReading(line, isReading, input)).toBe(143);
  });
});
