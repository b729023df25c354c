import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from '../archive/build.ts';
import { type LogServer, startLogServer } from './log-server.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 30);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KNOWN = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const STRANGER = 'b1a0f1a3-0d2f-4f7e-9d1c-0a4f6c7f2f11';
let server: LogServer;
let cwd: string;

beforeEach(async () => {
  cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-stats-'));
  onTestFinished(() => fs.rmSync(cwd, { recursive: true, force: true }));
  server = await startLogServer();
  onTestFinished(() => server.close());
  server.now = new Date(NOW).toISOString();
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
  return svcHere(['logs', 'stats', ...argv], { baseUrl: new URL(server.url), clock, env, cwd });
}

/** Gives the service entries that are a second apart, the newest first. */
function busy(count: number): void {
  server.logs.length = 0;
  server.logs.push(...Array.from({ length: count }, (_, index) => entry((index + 1) * 1000, 'read', 'b')));
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
        'Shift, read live: 251 log entries from 2026-02-28 12:30:00Z to 2026-03-01',
        '12:30:00Z',
        '',
        'Deletions: 1',
        '  1  user cccccccccccccccccccccc…  1 card',
        '',
        'Changes of applications, keys and tenant: nothing of these was changed',
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
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'Shift, read live: 0 log entries from 2026-02-28 12:30:00Z to 2026-03-01',
      '12:30:00Z',
      '',
      'Deletions: nothing was deleted',
      '',
      'Changes of applications, keys and tenant: nothing of these was changed',
      '',
    ]);
    expect(stderr).toContain('no log entries');
  });

  it('svc logs stats refuses an empty interval and an unknown field before it sends a request', async () => {
    const swapped = await stats(['--since', '1h', '--until', '2h', '-o', 'json']);
    expect([swapped.code, errorIn(swapped)['message']]).toEqual([2, '--since must be before --until']);
    expect((await stats(['--fields', 'colour'])).code).toBe(2);
    expect(server.requests).toBe(0);
  });
});

describe('the shift that svc logs stats reads', () => {
  it('svc logs stats names who deleted and changed what, by actor and type', async () => {
    const change = { ...entry(4 * HOUR, 'update', 'd'), entity_type: 'application' };
    server.logs.push(entry(HOUR, 'delete', 'c'), { ...entry(HOUR, 'delete', 'c'), entity_type: 'bank' }, change);
    const { stdout } = await stats(['--since', '6h', '-o', 'table']);
    expect(stdout).toMatch(/\nDeletions: 3\n {2}2 {2}user c +1 bank, 1 card\n/);
    expect(stdout).toContain('Changes of applications, keys and tenant: 1\n  1  user d  1 update application\n');
  });

  it('R61: svc logs stats names a deletion without a readable time', async () => {
    server.logs.push({ ...entry(0, 'delete', 'c'), created_at: 'lately', entity_type: 'bank', entity_id: 'b-1' });
    const html = path.join(cwd, 'shift.html');
    const { code, stdout } = await stats(['--since', '6h', '-o', 'table', '--html', html]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nDeletions: 2\n(.*\n)* {2}1 {2}user c +1 bank\n/)]);
    expect(fs.readFileSync(html, 'utf8')).toMatch(/no time.*b-1/s);
  });

  it('svc logs stats does not say that nothing was deleted when a filter leaves deletions out', async () => {
    const { stdout } = await stats(['--exclude-operation', 'delete', '-o', 'table']);
    expect(stdout).toContain('Deletions: none among the entries that match\n');
  });

  it('svc logs stats reads the newest entries up to --max, and says which part and how to read the rest', async () => {
    busy(5_000);
    const { code, stdout, stderr } = await stats(['--since', '2h', '--until', '12:30', '--max', '1000', '-o', 'table']);
    const all = Number(/: ([\d,]+) log entries/.exec(stdout)?.[1]?.replace(',', ''));
    expect(code).toBe(0);
    expect(all).toBeGreaterThan(900);
    expect(all).toBeLessThanOrEqual(1_000);
    const part = /read ([\d:]+Z) to 12:30Z of 10:30Z to 12:30Z on 2026-03-01 \(1\d\.\d%\)/.exec(stderr);
    const from = part?.[1] ?? 'no part';
    expect(stdout.replaceAll('\n', ' ')).toContain(`${part?.[0]} `);
    expect(stdout).toContain('Deletions: none among the entries that were read\n');
    expect(stderr).toContain(
      `for the rest\n  svc logs stats --since 2026-03-01T10:30:00.000Z --until 2026-03-01T${from.slice(0, -1)}`,
    );
  });

  it('svc logs stats --strict prints what it read of a shift, and exits with 14 and the command for the rest', async () => {
    busy(1_000);
    const failed = await stats(['--since', '2h', '--max', '200', '--strict', '-o', 'json']);
    const rest = 'svc logs stats --since 2026-03-01T10:30:00.000Z --until 2026-03-01T12:2';
    expect(failed.code).toBe(14);
    expect(errorIn(failed)['next']).toContain(rest);
    expect(errorIn(failed)['next']).toContain(' --max 200 --strict');
    const [all, hour] = JSON.parse(failed.stdout) as { by: string; value: string; count: number }[];
    expect(all?.count).toBeGreaterThan(0);
    expect(hour).toMatchObject({ by: 'hour', value: '2026-03-01T12:00:00Z', count: all?.count });
    expect((await stats(['--since', '2h', '--strict'])).code).toBe(0);
  });

  it('svc logs stats --quiet warns of entries that it did not read', async () => {
    busy(1_000);
    const { stderr } = await stats(['--since', '2h', '--max', '200', '--quiet']);
    expect(stderr).toMatch(/^warning: read 12:2\d:\d\dZ to 12:30Z of 10:30Z to 12:30Z on 2026-03-01 \([\d.]+%\)\n$/);
  });

  it('svc logs stats --html writes a page that names the shift, its filters and what was not read, and runs nothing', async () => {
    busy(1_000);
    const odd = '<script>\u202E';
    server.logs.push({ ...entry(2_000, 'delete', odd), entity_id: 'card-1' });
    const file = path.join(cwd, 'shift.html');
    const argv = ['--since', '2h', '--max', '200', '--entity-type', 'card', '--html', 'shift.html'];
    const { code, stderr } = await stats(argv);
    const html = fs.readFileSync(file, 'utf8');
    // The page of the rest needs another name.
    expect([code, stderr]).toEqual([0, expect.stringMatching(/for the rest\n .* --max 200 --html <file>\n/)]);
    expect(html).toContain('<h1>Shift, read live (UTC)</h1>');
    expect(html).toMatch(
      /class="odd".*<li>2026-03-01 10:30:00Z to 2026-03-01 12:2\d:\d\dZ: read 12:2\S+ to 12:30Z of 10:30Z to 12:30Z/,
    );
    expect(html).toContain('<p>Only entries that match: <code>--entity-type card</code></p>');
    expect(html).toContain('<h2 id="deletions-">Deletions: 1</h2>');
    expect(html).toContain('data-label="Id">card-1</td>');
    expect(html).not.toMatch(/<script|\u202e|review/i);
    expect((await stats([...argv, '-o', 'json'])).code).toBe(2);
    await stats(['--since', '10m', '--html', 'whole.html']);
    expect(fs.readFileSync(path.join(cwd, 'whole.html'), 'utf8')).toContain(
      'class="fine">All entries from 2026-03-01 12:20:00Z to 2026-03-01 12:30:00Z were read.',
    );
  });

  it('svc logs stats --archive names actors that an archive of seven days before does not have', async () => {
    server.logs.length = 0;
    const tenant_id = TENANT;
    const of = (actor: string, agoMs: number) => ({ ...entry(agoMs, 'read', actor), tenant_id });
    server.logs.push(of(KNOWN, HOUR), of(STRANGER, HOUR));
    const begin = NOW - 10 * DAY;
    const { top } = await buildArchive(begin, [{ to: NOW - DAY, entries: [of(KNOWN, 9 * DAY)] }], server.url);
    const without = await stats(['--since', '2h', '-o', 'table']);
    expect(without.stdout).not.toContain('not seen');
    const { stdout, stderr } = await stats(['--since', '2h', '--archive', top, '-o', 'table']);
    expect(stdout, stderr).toContain('Actors not seen in the 30 days before: 1 (user b1a0f1a3)\n');
    const young = await buildArchive(NOW - DAY, [{ to: NOW - HOUR, entries: [] }], server.url);
    expect((await stats(['--since', '2h', '--archive', young.top, '-o', 'table'])).stdout.replace('\n', ' ')).toContain(
      'Actors not seen in the 30 days before: skipped: the archive covers 0.9 of the 30',
    );
    const { top: other } = await buildArchive(NOW - DAY, []);
    expect((await stats(['--archive', other])).stderr).toContain('is an archive of https://vault.example, not of');
  });

  it.each([
    ['--archive', 'audit'],
    ['--max', '200'],
    ['--retention', '2d'],
    ['--html', 'page.html'],
  ])('svc logs stats refuses %s of an archive', async (...option) => {
    const refused = await stats([path.join(cwd, 'audit'), ...option, '-o', 'json']);
    expect([refused.code, errorIn(refused)['message']]).toEqual([
      2,
      `${option[0]} is about entries read from the service`,
    ]);
  });
});

describe('svc logs stats of an archive', () => {
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

  it('svc logs stats of an archive warns of entries without a readable time, which it does not count', async () => {
    const timeless = { ...entryAt(BEGIN, KNOWN), created_at: 'yesterday' };
    const { top } = await buildArchive(BEGIN, [{ to: NOW, entries: [entryAt(BEGIN, KNOWN), timeless, timeless] }]);
    const count = (...argv: string[]) =>
      svcHere(['logs', 'stats', top, '-o', 'jsonl', ...argv], { clock: new FakeClock({ start: NOW }) });
    const all = await count();
    expect(JSON.parse(all.stdout.split('\n')[0] ?? '')).toMatchObject({ by: 'all', count: 1 });
    expect(all.stderr).toContain('warning: not counted: 2 entries without a readable time');
    expect((await count('--since', new Date(BEGIN).toISOString())).stderr).not.toContain('readable');
  });

  it('svc logs stats warns of an archive that ended before the requested time did', async () => {
    const { top } = await buildArchive(BEGIN, [{ to: NOW - 3 * DAY, entries: [entryAt(BEGIN, KNOWN)] }]);
    const ends = 'warning: the archive ends at 2026-02-26';
    expect((await stats([top, '--since', '7d'])).stderr).toContain(ends);
    expect((await stats([top, '--since', '2d'])).stderr).toContain(ends);
    expect((await stats([top])).stderr).not.toContain('ends at');
  });

  it('svc logs stats accepts intervals and filters for an archive', async () => {
    const { top } = await archive();
    const { stdout } = await stats([top, '--since', '29d', '--actor', KNOWN, '-o', 'csv']);
    expect(stdout.split('\n')[1]).toMatch(/^all,,,224,1,/);
    const later = await stats([top, '--since', '2026-03-01T12:29:00Z', '-o', 'table']);
    expect(later.stdout).toMatch(/^0 log entries/);
  });

  it('R33: svc logs stats exits with 12 for a missing or changed file, and with 5 without an archive', async () => {
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
    expect((await stats([path.join(top, 'none')])).code).toBe(5);
  });
});

function entryAt(at: number, actor: string): Log {
  return { ...entry(0, 'read', actor), created_at: new Date(at).toISOString() };
}
