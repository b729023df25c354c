import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, startLogServer } from '../commands/log-server.ts';
let server: LogServer;
let state: string;

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'svc-tails-'));
  server = await startLogServer();
});
afterEach(async () => {
  await server.close();
  rmSync(state, { recursive: true, force: true });
});

function run(argv: readonly string[], clock: FakeClock, signal?: AbortSignal): Promise<HereResult> {
  const env = { SVC_STATE_DIR: state };
  return svcHere(argv, { baseUrl: new URL(server.url), env, clock, ...(signal && { signal }) });
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 86_400_000);
}

function printedCommand({ stderr }: HereResult): string | undefined {
  return /resume with\n {2}(svc logs tail .*)\n/.exec(stderr)?.[1];
}

function messagesOf({ stdout }: HereResult): string[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

describe('the command that svc logs tail prints at its end', () => {
  it('R65: the printed command names a time one overlap back when no state can be written, and entries may repeat', async () => {
    const clock = new FakeClock({ start: Date.now() });
    writeFileSync(join(state, 'tails'), '');
    server.logs.push(logAgo(500_000, 'old'), logAgo(60_000, 'new'));
    const result = await run(['logs', 'tail', '--since', '1h', '--max', '2'], clock);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('no checkpoint could be kept here');
    const since = /elsewhere .*\n {2}svc logs tail --since (\S+)/.exec(result.stderr)?.[1] ?? '';
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() - 180_000 + 1_000);
    // After the first entry, and not the time at which the tail began.
    expect(Date.parse(since)).toBeGreaterThan(Date.now() - 500_000);
  });

  it('R65: the second command that is printed goes on from a time, with the filters and without a file', async () => {
    const clock = new FakeClock({ start: Date.now() });
    server.logs.push(logAgo(60_000, 'one'), logAgo(50_000, 'two'));
    const filters = ['--entity-type', 'token', '--overlap', '5m'];
    const { stderr } = await run(['logs', 'tail', '--since', '1h', '--max', '1', ...filters], clock);
    const [, command = ''] = /may repeat entries of the last 5m, loses none\) with\n {2}svc (.*)\n/.exec(stderr) ?? [];
    expect(command).toMatch(/^logs tail --since \S+Z --entity-type token --overlap 300s$/);
    const again = await run([...command.split(' '), '--max', '2'], clock);
    expect(messagesOf(again)).toEqual(expect.arrayContaining(['two']));
  });

  it('the checkpoint of the printed command is kept for seven days after its last use', async () => {
    const clock = new FakeClock({ start: Date.now() });
    const tails = join(state, 'tails');
    mkdirSync(tails);
    for (const [name, days] of [['used.json', 6] as const, ['unused.json', 8] as const]) {
      for (const file of [join(tails, name), join(tails, `${name}.lock`)]) writeFileSync(file, '{}');
      utimesSync(join(tails, name), daysAgo(days), daysAgo(days));
      utimesSync(join(tails, `${name}.lock`), daysAgo(9), daysAgo(9));
    }
    server.logs.push(logAgo(60_000, 'one'));
    const result = await run(['logs', 'tail', '--since', '1h', '--max', '1'], clock);
    const kept = readdirSync(tails).filter((name) => name.startsWith('2'));
    expect(readdirSync(tails).toSorted()).toEqual([...kept, 'used.json', 'used.json.lock'].toSorted());
    expect(kept).toHaveLength(1);
    expect(printedCommand(result)).toBe(`svc logs tail --checkpoint ${join(tails, kept[0] ?? '')}`);
  });
});
