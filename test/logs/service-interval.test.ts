import { beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../src/schema/log.ts';
import { FakeClock } from '../support/clock.ts';
import { errorIn, rowsIn, svcHere } from '../support/run-here.ts';
import { type LogServer, startLogServer } from './commands/log-server.ts';

const NOW = Date.UTC(2026, 2, 2, 12, 30);
const HOUR = 3_600_000;
const CARD = '3a04dacf-0000-4000-8000-000000000001';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.now = new Date(NOW).toISOString();
  server.tenant = 't-1';
  server.logs.push(...[1, 3, 9, 23.5].map(entry));
});

/** An entry of so many hours ago, by the service's clock. */
function entry(hours: number): Log {
  const created_at = new Date(NOW - hours * HOUR).toISOString();
  return { tenant_id: 't-1', entity_type: 'card', entity_id: CARD, operation: 'read', created_at };
}

/** Runs a command on a machine whose clock is ahead. */
function svc(aheadHours: number, ...argv: string[]) {
  const clock = new FakeClock({ start: NOW + aheadHours * HOUR });
  return svcHere(['logs', ...argv], { baseUrl: new URL(server.url), clock });
}

describe.each([0, 5, 26, -5, -26])("R25: on a machine whose clock is %i hours ahead of the service's", (ahead) => {
  it('svc logs --since 2h lists the last two hours of the service', async () => {
    const { code, stdout, stderr } = await svc(ahead, 'list', '--since', '2h', '--strict', '--fields', 'created_at');
    expect([code, stdout]).toEqual([0, '{"created_at":"2026-03-02T11:30:00.000Z"}\n']);
    expect(stderr).not.toContain('no log entries');
  });

  it.each([
    [['--since', '2h'], 1],
    [['--since', '10h', '--until', '2h'], 2],
    [[], 4],
  ])('svc logs stats %j counts the hours of the service', async (argv, count) => {
    const { code, stdout } = await svc(ahead, 'stats', ...argv, '--strict', '-o', 'jsonl');
    const rows = rowsIn<{ by: string; value: string; count: number }>(stdout);
    expect([code, rows[0]]).toEqual([0, expect.objectContaining({ by: 'all', count })]);
    const hours = rows.flatMap(({ by, value }) => (by === 'hour' ? [value] : []));
    expect(hours.at(-1)).toBe(argv.includes('--until') ? '2026-03-02T10:00:00Z' : '2026-03-02T12:00:00Z');
  });

  it('svc logs history finds all that the service keeps', async () => {
    const { code, stdout } = await svc(ahead, 'history', CARD);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 4]);
  });
});

it.each(['list', 'stats'])(
  "svc logs %s ends with 2 for a range that begins after the service's time",
  async (command) => {
    for (const ahead of [0, 5]) {
      const run = await svc(ahead, command, '--since', '2026-03-02T14:00:00Z', '--strict');
      expect([run.code, run.stdout, errorIn(run)]).toEqual([
        2,
        '',
        expect.objectContaining({
          message: "the time to read from, 2026-03-02 14:00:00Z, is after the service's time (2026-03-02 12:30:00Z)",
          next: 'svc doctor',
        }),
      ]);
    }
    expect((await svc(-5, command, '--since', '2026-03-02T11:00:00Z')).code).toBe(0);
  },
);

it('svc logs takes a range that begins less than 2 s after the last full second of the service', async () => {
  for (const [since, code] of [
    ['2026-03-02T12:29:59Z', 0],
    ['2026-03-02T12:30:02Z', 0],
    ['2026-03-02T12:30:03Z', 2],
  ] as const)
    expect([since, (await svc(0, 'list', '--since', since)).code]).toEqual([since, code]);
});

describe.each([
  ['three hours ahead', 3 * HOUR],
  ['of 2030', 4 * 365 * 24 * HOUR],
  ['of 1970', -NOW],
])('R25: where the Date header of the first response is %s', (_, aheadMs) => {
  beforeEach(() => {
    server.aheadMs = aheadMs;
    let lists = 0;
    server.onList = () => {
      lists += 1;
      if (lists === 1) queueMicrotask(() => (server.aheadMs = 0));
    };
  });

  it.each([
    [['--since', '2h'], 1],
    [['--since', '2h', '--until', '2026-03-02T12:00:00Z'], 1],
    [['--since', '2026-03-02T11:00:00Z'], 1],
    [['--since', '10h', '--until', '2h'], 2],
  ])('svc logs %j lists what the service has', async (argv, count) => {
    const { code, stdout } = await svc(0, 'list', ...argv);
    expect([code, stdout.split('\n').length - 1]).toEqual([0, count]);
  });

  it('svc logs stats --since 2h counts what the service has', async () => {
    const { code, stdout } = await svc(0, 'stats', '--since', '2h', '--strict', '-o', 'jsonl');
    expect([code, JSON.parse(stdout.split('\n')[0] ?? '')]).toEqual([0, expect.objectContaining({ count: 1 })]);
  });
});

it('R25: a list that goes on at a cursor does not judge its times', async () => {
  const first = await svc(0, 'list', '--since', '2026-03-02T01:00:00Z', '--page-size', '2', '-n', '2');
  server.aheadMs = -24 * HOUR;
  const rest = await svc(0, 'list', '--since', '2026-03-02T01:00:00Z', '--page-size', '2', '--start', '2');
  expect([first.code, rest.code, rest.stdout.trimEnd().split('\n').length]).toEqual([0, 0, 1]);
});
