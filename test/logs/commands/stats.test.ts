import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, rowsIn, svcHere } from '../../support/run-here.ts';
import { buildArchive } from '../archive/build.ts';
import { archive, BEGIN, DAY, entry, entryAt, HOUR, KNOWN, NOW, type Shift, startShift } from './shift.ts';

let server: Shift['server'];
let cwd: string;
let stats: Shift['stats'];
let busy: Shift['busy'];

beforeEach(async () => {
  ({ server, cwd, stats, busy } = await startShift());
});

describe('svc logs stats', () => {
  it('svc logs stats counts the last 24 hours over all pages, and writes one row for each count', async () => {
    const { code, stdout } = await stats([]);
    const rows = rowsIn(stdout);
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
        'Shift, read live (UTC)',
        `251 log entries at ${server.url.replace(/\/$/, '')}`,
        'all entries from 2026-02-28 12:30:00Z to 2026-03-01 12:30:00Z were read',
        '',
        'Deletions: 1',
        `  OPERATION  ENTITY  ACTOR${' '.repeat(38)}ENTRIES  TIME (UTC)`,
        `  delete     card    user ${'c'.repeat(36)}        1  2026-03-01 07:30:00`,
        'Changes of applications, keys and tenant: nothing of these was changed',
        'Deleted entities',
        '  TIME (UTC)           ENTITY  ID  ACTOR',
        `  2026-03-01 07:30:00  card    -   user ${'c'.repeat(36)}`,
        'Entries by hour since 2026-02-28 12:00:00Z',
        `  ${'▁'.repeat(19)}▂▆███▅`,
        '  peak: 60 at 2026-03-01 09:00:00Z',
        'Entity types',
        '  ENTITY TYPE  ENTRIES   SHARE                    FIRST                 LAST',
        '  card             251  100.0%  ████████████████  2026-03-01 07:30:00Z  2026-03-01 12:29:00Z',
        'Operations',
        '  OPERATION  ENTRIES  SHARE                    FIRST                 LAST',
        '  read           250  99.6%  ████████████████  2026-03-01 08:20:00Z  2026-03-01 12:29:00Z',
        '  delete           1   0.4%  ▏                 2026-03-01 07:30:00Z  2026-03-01 07:30:00Z',
        'Actors',
        `  ACTOR${' '.repeat(38)}ENTRIES  SHARE                    FIRST                 LAST`,
        `  user ${'b'.repeat(36)}      250  99.6%  ████████████████  2026-03-01 08:20:00Z  2026-03-01 12:29:00Z`,
        `  user ${'c'.repeat(36)}        1   0.4%  ▏                 2026-03-01 07:30:00Z  2026-03-01 07:30:00Z`,
        '',
      ].join('\n'),
    );
  });

  it.each([
    [['--month', 'this'], '2026-03-01 00:00:00Z'],
    [['--since', '2h', '--until', '2026-03-02'], '2026-03-01 10:30:00Z'],
    [['--until', '2026-03-05'], '2026-02-28 12:30:00Z'],
  ])('R87: svc logs stats %j does not say that it read what is in the future', async (argv, from) => {
    expect((await stats([...argv, '-o', 'table'])).stdout).toContain(
      `all entries from ${from} to 2026-03-01 12:30:00Z were read\n`,
    );
  });

  it('R87: svc logs stats does not say that it read what came while it read', async () => {
    busy(3_000);
    let lists = 0;
    server.onList = () => {
      lists += 1;
      if (lists > 3) server.now = new Date(NOW + HOUR).toISOString();
    };
    const { stdout } = await stats(['--since', '2h', '-o', 'table']);
    expect(stdout).toContain('all entries from 2026-03-01 10:30:00Z to 2026-03-01 12:30:00Z were read\n');
  });

  it('R90: svc logs stats leaves the entries of the second in which it begins to the next shift', async () => {
    server.logs.splice(0, Infinity, entry(-100, 'read', 'b'), entry(100, 'read', 'c'));
    const countAt = async (now: number, since: number): Promise<unknown> => {
      server.now = new Date(now).toISOString();
      const argv = ['logs', 'stats', '--since', new Date(since).toISOString()];
      const clock = new FakeClock({ start: now });
      const { stdout } = await svcHere(argv, { baseUrl: new URL(server.url), clock, cwd });
      return rowsIn(stdout)[0]?.['count'];
    };
    expect(await countAt(NOW + 400, NOW - HOUR)).toBe(1);
    expect(await countAt(NOW + HOUR, NOW)).toBe(1);
  });

  it('svc logs stats --curl refuses a time that has not begun, as a run does', async () => {
    const refused = await stats(['--curl', '--since', '2026-03-02']);
    expect([refused.code, errorIn(refused)['message']]).toEqual([
      2,
      "the time to read from, 2026-03-02 00:00:00Z, is after the service's time (2026-03-01 12:30:00Z)",
    ]);
  });

  it('svc logs stats --curl ends at --until, as the first request does', async () => {
    const { stdout } = await stats(['--curl', '--until', '2026-03-01T12:00:00.5Z']);
    expect(stdout).toContain('start_date=2026-03-01T11%3A59%3A51.000Z&end_date=2026-03-01T12%3A00%3A01.000Z');
  });

  it('svc logs stats draws the hours of entries that are a thousand years apart', async () => {
    server.logs.push({ ...entry(0, 'read', 'e'), created_at: '0926-01-01T00:00:00Z' });
    const argv = ['--since', '0900-01-01', '-o', 'table', '--html', 'years.html'];
    const { code, stdout } = await stats(argv);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /Entries by hour since 0926-.*\n.*\n {2}peak: 60 at 2026-03-01 09:00:00Z; each mark is 1\d{5} /,
      ),
    ]);
    expect(fs.readFileSync(path.join(cwd, 'years.html'), 'utf8')).toMatch(/Entries per 1\d{5} hours/);
  });

  it('svc logs stats draws with ASCII on a terminal without Unicode', async () => {
    const { stdout } = await stats(['-o', 'table', '--since', '30d'], { LANG: 'C' });
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(stdout).toContain('each mark is 12 hours');
  });

  it('svc logs stats states in words that there are no entries', async () => {
    server.logs.length = 0;
    const { code, stdout, stderr } = await stats(['-o', 'table']);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'Shift, read live (UTC)',
      `0 log entries at ${server.url.replace(/\/$/, '')}`,
      'all entries from 2026-02-28 12:30:00Z to 2026-03-01 12:30:00Z were read',
      '',
      'Deletions: nothing was deleted',
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
    expect(stdout).toMatch(
      /\nDeletions: 3\n {2}OPERATION .*\n {2}delete +card +user c+ +1 .*\n {2}delete +bank +user c +1 .*\n {2}delete +card +user c +1 /,
    );
    expect(stdout).toMatch(/Changes of applications, keys and tenant: 1\n.*\n {2}update +application +user d +1 /);
  });

  it('R61: svc logs stats names a deletion without a readable time', async () => {
    server.logs.push({ ...entry(0, 'delete', 'c'), created_at: 'lately', entity_type: 'bank', entity_id: 'b-1' });
    const html = path.join(cwd, 'shift.html');
    const { code, stdout, stderr } = await stats(['--since', '6h', '-o', 'table', '--html', html]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/\nDeletions: 2\n(.*\n)* {2}delete +bank +user c +1 +no time\n/),
    ]);
    expect(stderr).toContain('warning: entries without a readable time (created_at): 1, kept as the service sent them');
    expect(fs.readFileSync(html, 'utf8')).toMatch(/no time.*b-1/s);
  });

  it('svc logs stats does not say that nothing was deleted when a filter leaves deletions out', async () => {
    const { stdout } = await stats(['--exclude-operation', 'delete', '-o', 'table']);
    expect(stdout).toContain('Deletions: none among the entries that match\n');
  });

  it('svc logs stats reads the newest entries up to --max, and says which part and how to read the rest', async () => {
    busy(5_000);
    const { code, stdout, stderr } = await stats(['--since', '2h', '--until', '12:30', '--max', '1000', '-o', 'table']);
    const all = Number(/^([\d,]+) log entries/m.exec(stdout)?.[1]?.replace(',', ''));
    expect(code).toBe(0);
    expect(all).toBeGreaterThan(900);
    expect(all).toBeLessThanOrEqual(1_000);
    const part =
      /read only (\S+ [\d:]+Z) to 2026-03-01 12:30:00Z of 2026-03-01 10:30:00Z to \S+ 12:30:00Z \(1\d\.\d%\)/.exec(
        stderr,
      );
    const from = part?.[1] ?? 'no part';
    expect(stdout).toContain(`${part?.[0]}\n`);
    expect(stdout).toContain('Deletions: none among the entries that were read\n');
    expect(stderr).toContain(
      `for the rest\n  svc logs stats --since 2026-03-01T10:30:00.000Z --until ${from.replace(' ', 'T').slice(0, -1)}`,
    );
  });

  it('svc logs stats --quiet warns of entries that it did not read', async () => {
    busy(1_000);
    const { stderr } = await stats(['--since', '2h', '--max', '200', '--quiet']);
    expect(stderr).toMatch(
      /^warning: read only \S+ 12:2\d:\d\dZ to \S+ 12:30:00Z of \S+ 10:30:00Z to \S+ 12:30:00Z \([\d.]+%\)\n$/,
    );
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
  it('svc logs stats counts all of an archive offline, up to its end', async () => {
    const { top } = await archive();
    const { code, stdout } = await stats([top, '-o', 'jsonl']);
    const rows = rowsIn(stdout);
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
});
