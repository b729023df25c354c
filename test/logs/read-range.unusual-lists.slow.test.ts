import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { type HereResult, svcHere } from '../support/run-here.ts';
import { Home } from '../support/svc.ts';
import { logAgo, type LogServer, startLogServer, messagesIn } from './commands/log-server.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const home = new Home();
let server: LogServer;
let number = 0;

beforeEach(async () => {
  server = await startLogServer();
  for (let index = 0; index < 250; index += 1)
    server.logs.push(logAgo(10 * MINUTE + index * 3_000, `entry ${index}`, { tenant_id: 't-1' }));
});

function svc(...argv: string[]): Promise<HereResult> {
  return svcHere(argv, { baseUrl: new URL(server.url), clock: new FakeClock({ start: Date.now() }) });
}

const ALL = Array.from({ length: 250 }, (_, index) => `entry ${index}`).toSorted();

function messages(lines: string): string[] {
  return messagesIn(lines).toSorted();
}

async function archived(): Promise<{ code: number; entries: number; stderr: string }> {
  const place = home.file(`archive-${(number += 1)}`);
  const { code, stdout, stderr } = await svc('logs', 'archive', place);
  const { entries } = JSON.parse(stdout) as { entries: number };
  return { code, entries, stderr };
}

describe('a service whose last, empty page repeats the cursor of its request', () => {
  beforeEach(() => {
    server.repeatsCursor = true;
  });

  it.each([false, true])(
    'R26: svc logs, tail, stats and archive read all of it (oldest first: %s)',
    async (isOldestFirst) => {
      server.isOldestFirst = isOldestFirst;
      const list = await svc('logs', '--all', '-o', 'jsonl');
      expect({ code: list.code, found: messages(list.stdout) }).toEqual({ code: 0, found: ALL });
      const tail = await svc('logs', 'tail', '--since', '1h', '--idle-exit', '1s', '-o', 'jsonl');
      expect({ code: tail.code, found: messages(tail.stdout) }).toEqual({ code: 0, found: ALL });
      const stats = await svc('logs', 'stats', '--since', '1h', '-o', 'jsonl');
      expect(JSON.parse(stats.stdout.split('\n')[0] ?? '')).toMatchObject({ by: 'all', count: 250 });
      server.requests = 0;
      expect(await archived()).toMatchObject({ code: 0, entries: 250 });
      expect(server.requests).toBeLessThan(60);
    },
  );
});

describe('a service that ignores start_date and end_date', () => {
  beforeEach(() => {
    server.ignoresDates = true;
    for (let index = 0; index < 1_000; index += 1)
      server.logs.push(logAgo(30 * HOUR + index * MINUTE, `old ${index}`, { tenant_id: 't-1' }));
  });

  const NOTICE = 'ignores start_date and end_date';

  it.each([false, true])(
    'svc logs, tail and archive take only the requested time, and say so once (oldest first: %s)',
    async (isOldestFirst) => {
      server.isOldestFirst = isOldestFirst;
      const list = await svc('logs', '--since', '1h', '--all', '-o', 'jsonl');
      expect({ code: list.code, found: messages(list.stdout) }).toEqual({ code: 0, found: ALL });
      expect(list.stderr.split(NOTICE)).toHaveLength(2);
      const tail = await svc('logs', 'tail', '--since', '1h', '--idle-exit', '1s', '-o', 'jsonl');
      expect({ code: tail.code, found: messages(tail.stdout) }).toEqual({ code: 0, found: ALL });
      const last = await svc('logs', 'tail', '--last', '5', '--for', '1s', '-o', 'jsonl');
      expect(messages(last.stdout)).toEqual(['entry 0', 'entry 1', 'entry 2', 'entry 3', 'entry 4']);
      server.requests = 0;
      const archive = await archived();
      expect(archive).toMatchObject({ code: 0, entries: 250 });
      expect(archive.stderr.split(NOTICE)).toHaveLength(2);
      expect(server.requests).toBeLessThan(60);
    },
  );

  it('svc logs stops behind the requested time where the list is newest first', async () => {
    const { code, stdout } = await svc('logs', '--since', '1h', '--all', '-o', 'jsonl');
    expect({ code, found: messages(stdout) }).toEqual({ code: 0, found: ALL });
    expect(server.requests).toBeLessThan(6);
  });
});
