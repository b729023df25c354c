import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { errorIn } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from '../archive/build.ts';
import { archive, DAY, entry, HOUR, KNOWN, NOW, STRANGER, type Shift, startShift } from './shift.ts';

let server: Shift['server'];
let cwd: string;
let stats: Shift['stats'];
let busy: Shift['busy'];

beforeEach(async () => {
  ({ server, cwd, stats, busy } = await startShift());
});

describe('the shift that svc logs stats reads', () => {
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
      /class="odd">read only \S+ 12:2\S+ to \S+ 12:30:00Z of 2026-03-01 10:30:00Z to 2026-03-01 12:30:00Z/,
    );
    expect(html).toContain('<p>Only entries that match: --entity-type card</p>');
    expect(html).toContain('<h2 id="deletions-">Deletions: 1</h2>');
    expect(html).toContain('data-label="Id">card-1</td>');
    expect(html).not.toMatch(/<script|\u202e|review/i);
    expect((await stats([...argv, '-o', 'json'])).code).toBe(2);
    await stats(['--since', '10m', '--html', 'whole.html']);
    expect(fs.readFileSync(path.join(cwd, 'whole.html'), 'utf8')).toContain(
      'class="fine">all entries from 2026-03-01 12:20:00Z to 2026-03-01 12:30:00Z were read',
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
    expect(stdout, stderr).toMatch(/Actors not seen in the 30 days before: 1 with 1 entry\n.*\n {2}user b1a0f1a3/);
    const young = await buildArchive(NOW - DAY, [{ to: NOW - HOUR, entries: [] }], server.url);
    expect(
      (await stats(['--since', '2h', '--archive', young.top, '-o', 'table'])).stdout.replaceAll('\n', ' '),
    ).toContain('Actors not seen in the 30 days before: skipped: 7 of the 30 days before are needed, 0.9 are archived');
    const { top: other } = await buildArchive(NOW - DAY, []);
    expect((await stats(['--archive', other])).stderr).toContain('is an archive of https://vault.example, not of');
  });
});

describe('svc logs stats of an archive', () => {
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
