import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { finished, Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { logAgo, type LogServer, messagesIn, startLogServer } from './log-server.ts';

const KILLS = process.env['SOAK'] === '1' ? 100 : 5;
// A poll takes a few requests, each of which finds 35 more entries; processes killed before it may have made some, too.
const MAX_PER_POLL = 600;
const home = new Home();
let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
});

function env(): Record<string, string> {
  return { SVC_MANAGEMENT_API_KEY: 'a-management-key', SVC_BASE_URL: server.url, SVC_PACING: 'off' };
}

/** Returns the number of entries passed on by a checkpoint: all before a time, and the listed ones after it. */
function covered(name: string): number {
  if (!existsSync(home.file(name))) return 0;
  const { settled, passed } = JSON.parse(readFileSync(home.file(name), 'utf8')) as {
    settled: string;
    passed: [string, number, number][];
  };
  const before = server.logs.filter(({ created_at }) => Date.parse(created_at) < Date.parse(settled));
  return passed.reduce((sum, [, , count]) => sum + count, before.length);
}

describe('svc logs tail', () => {
  it(`R29: svc logs tail killed ${KILLS} times loses nothing and repeats at most one poll each time`, async () => {
    const output = home.file('killed.jsonl');
    writeFileSync(output, '');
    let [number, repeated] = [0, 0];
    // The entries appear by request, not by time, so that a slow poll does not find more of them.
    server.onList = () => {
      for (let index = 0; index < 33; index += 1) server.logs.push(logAgo((index % 5) * 700, `entry ${(number += 1)}`));
      server.logs.push(logAgo(3_000, 'twin'), logAgo(3_000, 'twin'));
    };
    const begin = new Date(Date.now() - 60_000).toISOString();
    const argv = ['logs', 'tail', '--checkpoint', 'killed.json', '--since', begin, '--interval', '50ms'];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const file = openSync(output, 'a');
      const child = spawn(process.execPath, [LAUNCHER, ...argv], {
        cwd: home.path,
        env: home.environment(env()),
        stdio: ['ignore', file, 'ignore'],
      });
      closeSync(file);
      // Every third process dies while it starts, the others after they have written.
      const patience = kill % 3 === 0 ? 500 : 20_000;
      const [size, since] = [statSync(output).size, Date.now()];
      while (statSync(output).size === size && Date.now() < since + patience) await pause(20);
      await pause((kill * 137) % 300);
      const ended = new Promise((resolve) => child.on('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      // Only written entries that are not yet in the checkpoint are repeated: at most those of one poll.
      const onItsWay = messagesIn(readFileSync(output, 'utf8')).length - repeated - covered('killed.json');
      expect(onItsWay).toBeLessThanOrEqual(MAX_PER_POLL);
      repeated += onItsWay;
    }
    server.onList = () => undefined;
    const last = await home.svc([...argv, '--idle-exit', '3s'], { env: env() });
    expect(last.code).toBe(0);
    const found = messagesIn(readFileSync(output, 'utf8') + last.stdout);
    const lost = server.logs.map(({ message }) => String(message));
    for (const message of found) {
      const at = lost.indexOf(message);
      if (at !== -1) lost.splice(at, 1);
    }
    expect(lost).toEqual([]);
    expect(found.length - server.logs.length).toBe(repeated);
    expect(found.length - last.stdout.split('\n').length).toBeGreaterThan(KILLS * 20);
  });

  it('R53: svc logs tail exits with 130 on Ctrl-C and prints the command that resumes exactly there', async () => {
    for (let index = 0; index < 3; index += 1) server.logs.push(logAgo(10_000, 'twin'));
    const argv = ['logs', 'tail', '--checkpoint', 'stopped.json', '--entity-type', 'token'];
    const child = home.start([...argv, '--since', '1h'], { env: env() });
    const ended = finished(child);
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGINT'), 200));
    const first = await ended;
    expect(first.code).toBe(130);
    expect(first.stderr).toContain('  svc logs tail --checkpoint stopped.json --entity-type token\n');
    expect(messagesIn(first.stdout)).toHaveLength(3);
    server.logs.push(logAgo(10_000, 'twin'), logAgo(5_000, 'late'));
    const second = await home.svc([...argv, '--max', '1'], { env: env() });
    expect([second.code, messagesIn(second.stdout).length]).toEqual([0, 1]);
    const other = await home.svc(['logs', 'tail', '--checkpoint', 'stopped.json'], { env: env() });
    expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining('another log') });
  });
});

describe('svc logs tail on a terminal', () => {
  it('R30: svc logs tail shows on a terminal that it is running, disconnected and caught up, and restores the cursor', async () => {
    const screen = new TerminalSession(process.execPath, [LAUNCHER, 'logs', 'tail', '--interval', '100ms'], {
      cwd: home.path,
      columns: 110,
      env: { HOME: home.path, ...env() },
    });
    try {
      await screen.waitFor(/logs: following/);
      server.refusal = 503;
      await screen.waitFor('disconnected: ');
      server.refusal = undefined;
      await screen.waitFor(/caught up after \d+s: 0 entries/);
      screen.type('\u0003');
      expect(await screen.exited).toEqual({ exitCode: 130 });
      expect(screen.cursorShows).toBe(true);
      expect(screen.screen().match(/disconnected: /g)).toHaveLength(1);
    } finally {
      screen.kill();
    }
  });
});
