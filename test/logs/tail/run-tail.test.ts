import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, startLogServer } from '../commands/log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.logs.push(logAgo(60_000, 'read'));
});

/** A clock that calls a function in every pause. */
class BusyClock extends FakeClock {
  onSleep: () => void = () => undefined;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.onSleep();
    await super.sleep(ms, signal);
  }
}

function tail(argv: readonly string[], clock = new BusyClock({ start: Date.now() })) {
  return svcHere(['logs', 'tail', ...argv, '-o', 'jsonl'], { baseUrl: new URL(server.url), clock });
}

describe('a tail whose time is over while the service does not respond', () => {
  it.each([
    ['--since', '1h', '--for', '2m'],
    ['--since', '1h', '--idle-exit', '2m'],
    ['-n', '5', '--for', '2m'],
    ['-n', '5', '--idle-exit', '2m'],
  ])('R72: svc logs tail %s %s %s %s ends with 8 when nothing could be read', async (...argv) => {
    server.refusal = 503;
    const ended = await tail(argv);
    expect([ended.code, ended.stdout, errorIn(ended)['message']]).toEqual([
      8,
      '',
      expect.stringMatching(/^the tail ended (before anything was read$|during an outage: )|^the service failed/),
    ]);
    expect(ended.stderr).not.toContain('read up to');
  });

  it.each([
    ['and stays away', false, 8],
    ['and comes back', true, 0],
  ])('R72: a tail that has read ends with its entries when the service goes away %s', async (_, comesBack, code) => {
    const clock = new BusyClock({ start: Date.now() });
    let pauses = 0;
    clock.onSleep = () => {
      pauses += 1;
      if (pauses === 3) server.refusal = 503;
      if (pauses === 12 && comesBack) server.refusal = undefined;
    };
    const ended = await tail(['--since', '1h', '--idle-exit', '30m'], clock);
    expect([ended.code, ended.stdout.includes('"read"'), ended.stderr.includes('disconnected')]).toEqual([
      code,
      true,
      true,
    ]);
    expect(ended.stderr).toContain('resume with\n');
  });
});

it('R30: a tail with a checkpoint prints its last entries again where they could not be printed', async () => {
  const home = temporaryDirectory();
  const full = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
  });
  const run = (stdout?: Writable) =>
    svcHere(['logs', 'tail', '-n', '5', '--checkpoint', 'c.json', '--idle-exit', '20s', '-o', 'jsonl'], {
      baseUrl: new URL(server.url),
      clock: new FakeClock({ start: Date.now() }),
      home,
      ...(stdout && { stdout }),
    });
  expect((await run(full)).code).not.toBe(0);
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('"read"') });
});

it.each([
  ['no gap of the seconds before its first response', '24h', 0],
  ['a gap of entries that are deleted already', '25h', 14],
])('a tail from where the service begins reports %s', async (_, since, code) => {
  const clock = new BusyClock({ start: Date.now() });
  // The service's clock is ahead, so that it has deleted a few more seconds than this machine expects.
  server.aheadMs = 30_000;
  const ended = await tail(['--since', since, '--strict', '--idle-exit', '20s'], clock);
  expect([ended.code, ended.stderr.includes('entries may be missing')], ended.stderr).toEqual([code, code === 14]);
});

it('R30: a tail with the key of another tenant is refused the checkpoint, and moves it past no entry', async () => {
  const home = temporaryDirectory();
  const run = () =>
    svcHere(['logs', 'tail', '--since', '1h', '--checkpoint', 'c.json', '--idle-exit', '20s', '-o', 'jsonl'], {
      baseUrl: new URL(server.url),
      clock: new FakeClock({ start: Date.now() }),
      home,
    });
  // The key of the first run may not read its tenant.
  expect(await run()).toMatchObject({ code: 0 });
  server.tenant = 't-1';
  expect(await run()).toMatchObject({ code: 0, stdout: '' });
  const checkpoint = readFileSync(join(home, 'c.json'), 'utf8');
  server.tenant = 't-2';
  server.logs.push(logAgo(1_000, 'delete'));
  const refused = await run();
  expect([refused.code, refused.stdout, readFileSync(join(home, 'c.json'), 'utf8')]).toEqual([3, '', checkpoint]);
  expect(errorIn(refused)['message']).toMatch(/c\.json is the checkpoint of tenant t-1, and the key is of tenant t-2$/);
  for (const tenant of [undefined, 't-1']) {
    server.tenant = tenant;
    expect((await run()).stdout.includes('delete')).toBe(tenant === undefined);
  }
});

it('a tail says why it cannot read its checkpoint', async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, 'directory'));
  symlinkSync('/dev/null', join(home, 'device'));
  const messageOf = async (checkpoint: string): Promise<unknown> => {
    const argv = ['logs', 'tail', '--checkpoint', checkpoint];
    return errorIn(await svcHere(argv, { baseUrl: new URL(server.url), home }))['message'];
  };
  expect(await messageOf('directory')).toMatch(/directory could not be read \(EISDIR\)$/);
  expect(await messageOf('device')).toMatch(/device is not a regular file$/);
});
