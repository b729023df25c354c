import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, messagesIn, startLogServer } from './log-server.ts';

let server: LogServer;
let home: string;

beforeEach(async () => {
  server = await startLogServer();
  home = temporaryDirectory();
});

function tail(...argv: string[]) {
  const clock = new FakeClock({ start: Date.now() });
  return svcHere(['logs', 'tail', ...argv], { baseUrl: new URL(server.url), home, clock });
}

describe('svc logs tail', () => {
  it.each([
    ['that is past', 600_000],
    ['just now', 8_000],
  ])('R28: svc logs tail writes a burst of 1,000 and 300 equal entries %s, each once', async (_, ageMs) => {
    const twin = logAgo(ageMs + 5_000, 'twin');
    server.logs.push(...Array.from({ length: 1000 }, (_entry, index) => logAgo(ageMs, `burst ${index}`)));
    server.logs.push(...Array.from({ length: 300 }, () => ({ ...twin })));
    const { code, stdout, stderr } = await tail('--since', '1h', '--max', '1300');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('1,300 entries') });
    const found = messagesIn(stdout);
    expect(found.filter((message) => message === 'twin')).toHaveLength(300);
    expect(new Set(found).size).toBe(1001);
    expect(found.slice(0, 300)).toEqual(Array<string>(300).fill('twin'));
  });

  it.each([
    [401, 'at first', 0],
    [401, 'after it was read', 6],
    [403, 'after it was read', 6],
  ])('R30: svc logs tail ends with 4 when the key is refused with %i %s', async (status, _, refuseAfter) => {
    Object.assign(server, { refusal: status, refuseAfter });
    expect((await tail('--since', '1h')).code).toBe(4);
  });

  it.each([
    ['30h', 14],
    ['1442m', 14],
    ['24h', 0],
    ['23h', 0],
  ])('R31: svc logs tail --since %s --strict ends with %i, and names what may be missing', async (since, strict) => {
    server.logs.push(logAgo(3_600_000, 'kept'));
    const argv = ['--since', since, '--idle-exit', '2s'];
    const loose = await tail(...argv);
    expect([loose.code, messagesIn(loose.stdout)]).toEqual([0, ['kept']]);
    expect(/may be missing from \d.*Z to \d.*Z/.test(loose.stderr)).toBe(strict === 14);
    expect((await tail(...argv, '--strict')).code).toBe(strict);
  });

  it('R65: svc logs tail prints a command that resumes from --since when it ends before its first page', async () => {
    server.logs.push(logAgo(600_000, 'early'));
    Object.assign(server, { refusal: 400, refuseAfter: 2 });
    const failed = await tail('--checkpoint', 'early.json', '--since', '1h');
    expect(failed).toMatchObject({ code: 6, stdout: '' });
    const [, line = ''] = /^ {2}svc logs tail (.*)$/m.exec(failed.stderr) ?? [];
    server.refusal = undefined;
    expect(messagesIn((await tail(...line.split(' '), '--idle-exit', '1s')).stdout)).toEqual(['early']);
  });

  it('R65: svc logs tail --max goes on within what one poll read, however old the rest is', async () => {
    for (const [at, secondsAgo] of [3_000, 2_999, 2_998, 60].entries())
      server.logs.push(logAgo(secondsAgo * 1_000, `entry ${at}`));
    const found: string[] = [];
    for (let run = 0; run < 4; run += 1)
      found.push(...messagesIn((await tail('--since', '1h', '--checkpoint', 'most.json', '--max', '1')).stdout));
    expect(found).toEqual(['entry 0', 'entry 1', 'entry 2', 'entry 3']);
  });

  it('svc logs tail prints only entries that match its filters', async () => {
    const gone = { operation: 'delete' };
    server.logs.push(logAgo(9_000, 'a'), logAgo(9_000, 'b', gone), logAgo(8_000, 'c', gone));
    const { stdout } = await tail('--since', '1h', '--operation', 'delete', '--idle-exit', '2s');
    expect(messagesIn(stdout)).toEqual(['b', 'c']);
  });

  it('svc logs tail --entity-type knows a type that an entry has, though nobody listed it', async () => {
    server.logs.push(logAgo(9_000, 'a', { entity_type: 'cards' }));
    const { code, stdout } = await tail('--since', '1h', '--entity-type', 'cards', '--idle-exit', '2s');
    expect([code, messagesIn(stdout)]).toEqual([0, ['a']]);
  });

  it('svc logs tail refuses to begin in the future, and keeps no checkpoint there', async () => {
    const { code, stderr } = await tail('--checkpoint', 'late.json', '--since', '2099-01-01T00:00:00Z');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("the time to read from, 2099-01-01 00:00:00Z, is after the service's"),
    ]);
    expect(existsSync(join(home, 'late.json'))).toBe(false);
  });

  it('svc logs tail reports that a checkpoint takes precedence over --since', async () => {
    server.logs.push(logAgo(9_000, 'first'));
    const argv = ['--checkpoint', 'both.json', '--since', '1h', '--idle-exit', '1s'];
    expect((await tail(...argv)).stderr).not.toContain('--since ignored');
    const again = await tail(...argv);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toMatch(/resuming from the checkpoint: read up to 2.*Z \(--since ignored\)/);
  });

  it('svc logs tail refuses an interval that would use up the rate limit of the key, except for a service on this machine', async () => {
    const refused = await svcHere(['logs', 'tail', '--interval', '999ms'], {
      baseUrl: new URL('https://service.invalid'),
    });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--interval must be 1s or longer') });
    expect((await tail('--interval', '100ms', '--idle-exit', '1s')).code).toBe(0);
  });

  it('svc logs tail refuses a file that is not a checkpoint, before any request', async () => {
    writeFileSync(join(home, 'odd.json'), '{"version":1}');
    expect([(await tail('--checkpoint', 'odd.json')).code, server.requests]).toEqual([3, 0]);
  });
});
