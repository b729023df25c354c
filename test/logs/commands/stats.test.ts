import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn } from '../archive/build.ts';
import { type LogServer, startLogServer } from './log-server.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 30);
const HOUR = 3_600_000;
let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  onTestFinished(() => server.close());
  server.aheadMs = NOW - Date.now();
  server.logs.push(
    ...Array.from({ length: 250 }, (_, index) => entry((index + 1) * 60_000, 'read', 'b'.repeat(36))),
    entry(5 * HOUR, 'delete', 'c'.repeat(36)),
    entry(30 * HOUR, 'create', 'd'.repeat(36)),
  );
});

function entry(agoMs: number, operation: string, actor: string): Log {
  const created_at = new Date(NOW - agoMs).toISOString();
  return { entity_type: 'card', operation, actor_id: actor, actor_type: 'user', message: 'm', created_at };
}

function stats(argv: readonly string[], env: Record<string, string> = {}) {
  const clock = new FakeClock({ start: NOW });
  return svcHere(['logs', 'stats', ...argv], { baseUrl: new URL(server.url), clock, env });
}

describe('svc logs stats', () => {
  it('svc logs stats counts the last 24 hours over all pages, and writes one row for each count', async () => {
    const { code, stdout } = await stats([]);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(code).toBe(0);
    expect(rows[0]).toMatchObject({ by: 'all', count: 251, first_at: '2026-03-01T07:30:00Z' });
    expect(rows.filter(({ by }) => by === 'hour')).toHaveLength(25);
    expect(rows.filter(({ by }) => by === 'operation')).toMatchObject([
      { value: 'read', count: 250 },
      { value: 'delete', count: 1 },
    ]);
    server.logs.push({ ...entry(60_000, 'read', 'e'), entity_id: 'one' });
    const { stdout: ofOne } = await stats(['--entity-id', 'one']);
    expect(JSON.parse(ofOne.split('\n')[0] ?? '')).toMatchObject({ by: 'all', count: 1 });
    const members = rows.map((row) => Object.keys(row).join());
    expect(new Set(members)).toEqual(new Set(['by,value,actor_type,count,share,first_at,last_at']));
  });

  it('svc logs stats accepts the filters of svc logs list, and names those applied client-side', async () => {
    const { stdout, stderr } = await stats(['--since', '3d', '--operation', 'create', '-o', 'csv']);
    expect(stdout.split('\n')[1] ?? '').toBe('all,,,1,1,2026-02-28T06:30:00Z,2026-02-28T06:30:00Z');
    expect(stderr).toContain('1 match in the 252 entries read (--operation is filtered client-side)');
  });

  it('svc logs stats counts from --since on, and reports what the service no longer had', async () => {
    const { stdout, stderr } = await stats(['--since', '3d', '--fields', 'by,count']);
    expect(stdout.split('\n')[0]).toBe('{"by":"all","count":252}');
    expect(stderr).toContain('missing from 2026-02-26 12:30:00Z to 2026-02-28 06:30:00Z: older than');
    expect((await stats(['--until', '2026-03-01T07:30:01Z', '--fields', 'by,count'])).stdout).toContain(
      '{"by":"all","count":1}',
    );
  });

  it('svc logs stats draws a sparkline and bars for people, with the value of one mark', async () => {
    const { stdout } = await stats(['-o', 'table']);
    expect(stdout).toBe(
      [
        '251 log entries from 2026-02-28 12:30:00Z to 2026-03-01 12:30:00Z',
        '',
        'entries per hour since 2026-02-28 12:00:00Z',
        `  ${'▁'.repeat(19)}▂▆███▅`,
        '  peak: 60 at 2026-03-01 09:00:00Z',
        '',
        'entity types',
        '  card  251  100.0%  ████████████████',
        '',
        'operations',
        '  read    250   99.6%  ████████████████',
        '  delete    1    0.4%  ▏',
        '',
        'actor types',
        '  user  251  100.0%  ████████████████',
        '',
        'actors',
        `  user ${'b'.repeat(36)}  250   99.6%  ████████████████`,
        `  user ${'c'.repeat(36)}    1    0.4%  ▏`,
        '',
      ].join('\n'),
    );
  });

  it('svc logs stats draws with ASCII on a terminal without Unicode', async () => {
    const { stdout } = await stats(['-o', 'table', '--since', '30d'], { LANG: 'C' });
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(stdout).toContain('entries per 12 hours since');
  });

  it('svc logs stats states in words that there are no entries', async () => {
    server.logs.length = 0;
    const { code, stdout, stderr } = await stats(['-o', 'table']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '0 log entries from 2026-02-28 12:30:00Z to 2026-03-01 12:30:00Z\n',
    });
    expect(stderr).toContain('no log entries');
  });

  it('svc logs stats refuses an empty interval and an unknown field before it sends a request', async () => {
    const swapped = await stats(['--since', '1h', '--until', '2h', '-o', 'json']);
    expect([swapped.code, errorIn(swapped)['message']]).toEqual([2, '--since must be before --until']);
    expect((await stats(['--fields', 'colour'])).code).toBe(2);
    expect(server.requests).toBe(0);
  });
});

describe('svc logs stats of an archive', () => {
  const KNOWN = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
  const STRANGER = 'b1a0f1a3-0d2f-4f7e-9d1c-0a4f6c7f2f11';
  const DAY = 24 * HOUR;
  const BEGIN = NOW - 30 * DAY;

  function archive() {
    const usual = Array.from({ length: 29 * 8 }, (_, index) => entryAt(BEGIN + (index / 8) * DAY, KNOWN));
    const burst = Array.from({ length: 60 }, (_, index) => entryAt(NOW - 3 * HOUR + index, STRANGER));
    return buildArchive(BEGIN, [{ to: NOW, entries: [...usual, ...burst], late: [entryAt(BEGIN, KNOWN)] }]);
  }

  it('svc logs stats counts all of an archive offline, up to its end', async () => {
    const { top } = await archive();
    const { code, stdout } = await stats([top, '-o', 'jsonl']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([code, server.requests]).toEqual([0, 0]);
    expect(rows[0]).toMatchObject({ by: 'all', count: 29 * 8 + 60 + 1 });
    expect((await stats([top, '--since', '1d', '--fields', 'count'])).stdout.split('\n')[0]).toBe('{"count":60}');
  });

  it('svc logs stats accepts intervals and filters for an archive', async () => {
    const { top } = await archive();
    const { stdout } = await stats([top, '--since', '29d', '--actor', KNOWN, '-o', 'csv']);
    expect(stdout.split('\n')[1]).toMatch(/^all,,,224,1,/);
    const later = await stats([top, '--since', '2026-03-01T12:29:00Z', '-o', 'table']);
    expect(later.stdout).toMatch(/^0 log entries/);
  });

  it('R69: svc logs stats gives the same counts with and without the index', async () => {
    const { top } = await archive();
    const filters = [
      [],
      ['--since', '29d'],
      ['--since', '4h', '--actor', STRANGER],
      ['--since', '9d', '--operation', 'x'],
    ];
    const all = async () =>
      (await Promise.all(filters.map((each) => stats([top, ...each])))).map(({ stdout }) => stdout);
    const before = await all();
    fs.rmSync(path.join(top, '_index'), { recursive: true });
    expect(await all()).toEqual(before);
  });

  it('R33: svc logs stats exits with 12 for a missing file or another size, with and without the index, and with 5 without an archive', async () => {
    const { top } = await archive();
    const segment = filesIn(top).findLast((file) => file.startsWith('tenant=')) ?? '';
    const reports = async () =>
      [await stats([top, '--entity-id', 'any']), await stats([top])].map((each) => errorIn(each));
    const next = `svc logs verify ${top}`;
    const found = (problem: string): object => ({ exit_code: 12, message: `${segment} was changed: ${problem}`, next });
    fs.appendFileSync(path.join(top, segment), 'x');
    const unreadable = found('it cannot be decompressed');
    expect(await reports()).toMatchObject([unreadable, unreadable]);
    fs.rmSync(path.join(top, segment));
    expect(await reports()).toMatchObject([found('it is missing'), found('it is missing')]);
    fs.rmSync(path.join(top, '_index'), { recursive: true });
    expect(await reports()).toMatchObject([found('it is missing'), found('it is missing')]);
    expect((await stats([path.join(top, 'none')])).code).toBe(5);
  });
});

function entryAt(at: number, actor: string): Log {
  return { ...entry(0, 'read', actor), created_at: new Date(at).toISOString() };
}
