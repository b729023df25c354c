import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import { ARCHIVE } from '../../../src/logs/archive/records/record.ts';
import type { ArchiveSummary } from '../../../src/logs/commands/archive.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, type HereResult, rowsIn, svcHere } from '../../support/run-here.ts';
import { finished, Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { type Archived, readArchive } from '../archive/archived.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';

const HOUR = 3_600_000;
const home = new Home();
let server: LogServer;
let number = 0;
/** Returns a new location for an archive. */
let place: string;

beforeEach(async () => {
  server = await startLogServer();
  place = home.file(`archive-${(number += 1)}`);
});

function env(): Record<string, string> {
  return { SVC_MANAGEMENT_API_KEY: 'a-management-key', SVC_BASE_URL: server.url, SVC_PACING: 'off' };
}

function archive(...argv: string[]): Promise<HereResult> {
  // This machine's clock is compared with the service's, which is the real one.
  const clock = argv.includes('--keep') ? systemClock : new FakeClock({ start: Date.now() });
  return svcHere(['logs', 'archive', place, ...argv], { baseUrl: new URL(server.url), clock });
}

async function summary(...argv: string[]): Promise<ArchiveSummary> {
  const { code, stdout, stderr } = await archive(...argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as ArchiveSummary;
}

function archived(at = place): Promise<Archived> {
  const host = { pid: 1, isAlive: () => true, clock: systemClock, signal: new AbortController().signal };
  return readArchive(new DirectoryStore(at, host, ARCHIVE));
}

async function messages(): Promise<string[]> {
  return (await archived()).logs.map(({ message }) => message ?? '');
}

function entry(agoMs: number, message: string, more: Partial<Log> = {}): Log {
  return logAgo(agoMs, message, { tenant_id: 't-1', ...more });
}

/** Returns every file of the archive with its bytes. */
function bytes(): Record<string, string> {
  const names = fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).toSorted();
  const files = names.filter((name) => fs.statSync(path.join(place, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(place, name), 'hex')]));
}

/** Returns the files of the archive whose path matches. */
function files(name: RegExp): string[] {
  const found = fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).toSorted();
  return found.filter((file) => name.test(file)).map((file) => path.join(place, file));
}

describe('svc logs archive --keep', () => {
  const DAY = 24 * HOUR;

  beforeEach(() => {
    for (const days of [1, 40, 80, 120]) server.logs.push(entry(days * DAY, `${days} days`));
  });

  it('svc logs archive drops nothing by default, previews drops with --dry-run, and records what it drops', async () => {
    expect((await summary('--since', '130d', '--retention', '200d')).dropped).toBeNull();
    expect(await messages()).toHaveLength(4);
    const before = bytes();
    const dry = await archive('--keep', '2M', '--dry-run');
    const months = rowsIn(dry.stdout);
    expect(months.map(({ entries }) => entries)).toEqual([1]);
    expect(dry.stderr).toContain('nothing was dropped');
    expect(bytes()).toEqual(before);
    const { dropped, sha256 } = await summary('--keep', '2M', '--retention', '200d');
    expect(dropped).toMatchObject({ entries: 1, segments: 1, before: expect.stringMatching(/-01T00:00:00.000Z$/) });
    const rows = await svcHere(['logs', 'verify', place, '--expect', sha256]);
    expect(rows.code).toBe(0);
    expect(JSON.parse(rows.stdout.split('\n')[0] ?? '')).toMatchObject({
      kind: 'dropped',
      entries: 1,
      to: dropped?.before,
      message: expect.stringMatching(/^dropped by retention, by .+@.+ at 2/),
    });
    const people = await svcHere(['logs', 'verify', place, '-o', 'table']);
    expect(people.stdout).toMatch(/^dropped .*: dropped by retention, by .+, 1 entry\n/m);
    const found = await svcHere(['logs', 'search', place, '--since', '130d', '--jq', '.message']);
    expect(found.stdout).toBe('80 days\n40 days\n1 days\n');
    expect(found.stderr).toContain('(older months were dropped by retention)');
    expect((await archive('--keep', '2M', '--dry-run', '-o', 'json')).stdout).toBe('[]\n');
    expect((await summary('--keep', '2M', '--retention', '200d')).dropped).toBeNull();
  });

  it.each(['13m', '0M', '90d', 'M', '1.5y'])(
    'svc logs archive refuses --keep %s before it sends a request',
    async (words) => {
      const { code, stderr } = await archive('--keep', words, '-o', 'json');
      expect([code, server.requests]).toEqual([2, 0]);
      expect(errorIn({ stderr })['message']).toContain('such as 13M or 2y (an upper-case M: m is for minutes)');
    },
  );

  it('svc logs archive refuses --dry-run without --keep, and has nothing to drop where there is no archive', async () => {
    expect((await archive('--dry-run')).code).toBe(2);
    expect(await archive('--dry-run', '--keep', '1y')).toMatchObject({ code: 0, stdout: '' });
    expect(fs.existsSync(place)).toBe(false);
  });
});

describe('svc logs archive', () => {
  it('svc logs archive begins with what the service has, and adds each new entry once', async () => {
    for (let index = 0; index < 250; index += 1) server.logs.push(entry(23 * HOUR - index * 60_000, `${index}`));
    const twin = entry(10_000, 'twin');
    server.logs.push(twin, { ...twin });
    const first = await summary('--strict');
    expect(first).toMatchObject({ entries: 252, late: 0, gaps: [], hours_left_before: null, record: 1 });
    expect(first).toMatchObject({ archive: place, service: server.url, tenant_id: 't-1' });
    expect(first.hours_left).toBeGreaterThan(23.9);
    server.logs.push({ ...twin }, entry(3_000, 'new'), entry(90_000, 'came late'));
    const second = await summary('--strict');
    expect(second).toMatchObject({ entries: 3, record: 2 });
    expect(second.late).toBeGreaterThanOrEqual(2);
    expect(second.hours_left_before).toBeGreaterThan(23.9);
    const { logs, links } = await archived();
    expect(logs).toHaveLength(255);
    expect(logs.filter(({ message }) => message === 'twin')).toHaveLength(3);
    expect(links.at(-1)).toMatchObject({ sha256: second.sha256 });
  });

  it('svc logs archive takes the tenant from the entries when the key may not read it', async () => {
    server.tenant = undefined;
    const unknown = await archive();
    expect([unknown.code, errorIn(unknown)['message']]).toEqual([4, 'cannot tell which tenant the key belongs to']);
    expect(fs.existsSync(place)).toBe(false);
    server.logs.push(entry(5_000, 'one'));
    server.emptyPages = 2;
    expect(await summary()).toMatchObject({ tenant_id: 't-1', entries: 1 });
  });

  it('svc logs archive refuses the key of another tenant, and names the tenant of the archive', async () => {
    server.logs.push(entry(5_000, 'one'));
    await summary();
    const before = bytes();
    server.tenant = 't-2';
    const refused = await archive();
    expect(refused.code).toBe(3);
    expect(errorIn(refused)['message']).toBe(`${place} is an archive of tenant t-1, and the key is of tenant t-2`);
    server.tenant = undefined;
    server.logs.splice(0, 1, entry(1_000, 'two', { tenant_id: 't-2' }));
    expect((await archive()).code).toBe(3);
    expect(bytes()).toEqual(before);
  });

  it.each([
    ['log is empty', []],
    ['log has entries of two tenants', [entry(2_000, 'two', { tenant_id: 't-2' }), entry(1_000, 'shared')]],
  ])('nothing is archived or searched with a key that may not read its tenant and whose %s', async (_, logs) => {
    server.logs.push(entry(5_000, 'one'));
    await summary();
    const before = bytes();
    server.tenant = undefined;
    server.logs.splice(0, 1, ...logs);
    const refused = await archive('--strict');
    expect([refused.code, errorIn(refused)['message']]).toEqual([4, 'cannot tell which tenant the key belongs to']);
    expect(errorIn(refused)['hint']).toContain('Give the key the permission tenant:read');
    expect(bytes()).toEqual(before);
    const found = await svcHere(['logs', 'search', place, '--live'], { baseUrl: new URL(server.url) });
    expect([found.code, found.stdout]).toEqual([4, '']);
    server.tenant = 't-1';
    expect((await archive('--strict')).code).toBe(0);
  });

  it('svc logs archive keeps shared entries of another tenant in a separate folder, and reports them', async () => {
    const shared = { tenant_id: '../t 2' };
    server.logs.push(entry(60_000, 'own'), entry(50_000, 'shared', shared), entry(40_000, 'own too'));
    const first = await archive();
    expect(first).toMatchObject({
      code: 0,
      stderr: 'warning: 1 of the entries belong to other tenants, which share them: kept in folders of their own\n',
    });
    server.logs.push(entry(30_000, 'shared late', shared), entry(1_000, 'shared new', shared));
    expect((await archive()).code).toBe(0);
    expect((await messages()).toSorted()).toEqual(['own', 'own too', 'shared', 'shared late', 'shared new']);
    expect(fs.readdirSync(place).toSorted()).toEqual(['_index', '_manifest', 'tenant=..%2Ft%202', 'tenant=t-1']);
    const verified = await svcHere(['logs', 'verify', place, '-o', 'table']);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('3 entries of other tenants') });
  });

  it('svc logs archive refuses the archive of another service before it sends a request', async () => {
    await summary();
    await server.close();
    server = await startLogServer();
    const refused = await archive();
    expect([refused.code, server.requests]).toEqual([3, 0]);
    expect(errorIn(refused)['message']).toMatch(/is an archive of http.*, not of http/);
  });

  it.each([
    ['a damaged record', 12, (text: string) => text.replace('t-1', 't-3'), '00000000.json is damaged'],
    ['a cut record', 12, (text: string) => text.slice(0, 40), '00000000.json is damaged'],
    ['a newer version', 3, (text: string) => text.replace('"version":2', '"version":3'), 'by a newer svc'],
  ])('svc logs archive leaves an archive with %s unchanged, and names the file', async (_, code, harm, words) => {
    await summary();
    const record = path.join(place, '_manifest/00000000.json');
    fs.writeFileSync(record, harm(fs.readFileSync(record, 'utf8')));
    fs.rmSync(path.join(place, '_manifest/00000001.json'));
    fs.rmSync(path.join(place, '_manifest/head.json'));
    if (code === 12 && words.startsWith('0')) fs.writeFileSync(path.join(place, '_manifest/head.json'), HEAD);
    const before = bytes();
    const refused = await archive();
    expect([refused.code, errorIn(refused)['message']]).toEqual([code, expect.stringContaining(words)]);
    expect(bytes()).toEqual(before);
  });

  it('svc logs archive refuses a directory with other files, and a file instead of a directory', async () => {
    fs.mkdirSync(place);
    fs.writeFileSync(path.join(place, 'letter.txt'), 'dear');
    const other = await archive();
    expect([other.code, errorIn(other)['message']]).toEqual([3, expect.stringContaining('letter.txt')]);
    expect(fs.readdirSync(place)).toEqual(['letter.txt']);
    place = path.join(place, 'letter.txt');
    const file = await archive();
    expect([file.code, errorIn(file)['message']]).toEqual([1, expect.stringContaining('is not a directory')]);
  });

  it.skipIf(process.getuid?.() === 0)('svc logs archive names a directory that it may not write to', async () => {
    fs.mkdirSync(place, { mode: 0o500 });
    const refused = await archive();
    expect([refused.code, errorIn(refused)['message']]).toEqual([1, expect.stringContaining('not allowed')]);
  });

  it('R31: svc logs archive records and reports a gap of retention once, and exits with 14 with --strict', async () => {
    server.logs.push(entry(HOUR, 'kept'));
    const strict = await archive('--since', '30h', '--strict');
    expect(strict.code).toBe(14);
    expect(strict.stderr).toMatch(/warning: entries may be missing from \d.*Z to \d.*Z/);
    expect((JSON.parse(strict.stdout) as ArchiveSummary).gaps).toHaveLength(1);
    expect((await summary('--strict')).gaps).toEqual([]);
    const { gaps, logs } = await archived();
    expect([gaps.length, logs.length]).toEqual([1, 1]);
    expect(Math.round(((gaps[0]?.to ?? 0) - (gaps[0]?.from ?? 0)) / HOUR)).toBe(6);
    const warned = await archive('--since', '40h');
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('applies to new archives only') });
    place += '-new';
    expect((await archive('--since', '2100-01-01')).code).toBe(2);
    expect(fs.existsSync(path.join(place, '_manifest'))).toBe(false);
  });

  it('R31: svc logs archive records what the service deleted after a first run that archived nothing', async () => {
    const begins = Date.now() - 30 * HOUR;
    const url = new URL(server.url);
    Object.assign(server, { aheadMs: -30 * HOUR, refusal: 403, refuseAfter: 1 });
    const failed = await svcHere(['logs', 'archive', place], { baseUrl: url, clock: new FakeClock({ start: begins }) });
    expect(failed.code).toBe(4);
    expect((await archived()).links).toHaveLength(1);
    Object.assign(server, { aheadMs: 0, refusal: undefined });
    server.logs.push(entry(HOUR, 'kept'));
    const strict = await archive('--strict');
    expect(strict.code).toBe(14);
    const { gaps, logs } = await archived();
    expect([gaps.length, logs.length]).toEqual([1, 1]);
    expect(Math.round(((gaps[0]?.to ?? 0) - (gaps[0]?.from ?? 0)) / HOUR)).toBe(30);
  });

  it('svc logs archive exits with 10 below the required margin, and states the time left when it fails', async () => {
    await summary('--retention-margin', '20h');
    await summary('--retention-margin', '20h');
    const tight = await archive('--retention-margin', '25h');
    expect(tight.code).toBe(10);
    expect(errorIn(tight)).toMatchObject({ code: 'threshold', retention_margin_hours: 25 });
    expect(JSON.parse(tight.stdout)).toMatchObject({ archive: place, gaps: [] });
    server.refusal = 500;
    const down = await archive();
    expect(down.code).toBe(8);
    expect(errorIn(down)['hint']).toMatch(/(23h 59m|1d) are left before entries that are not archived/);
  });

  it('svc logs archive creates nothing when the key is refused', async () => {
    server.refusal = 401;
    expect((await archive()).code).toBe(4);
    expect(fs.existsSync(place)).toBe(false);
  });

  it("svc logs archive fails while the service's clock is before the end of the archive, and continues later", async () => {
    server.logs.push(entry(5_000, 'one'));
    await summary();
    server.aheadMs = -3 * HOUR;
    const back = await archive();
    expect(back).toMatchObject({ code: 8, stderr: expect.stringMatching(/the clock is (2h 59m|3h) behind/) });
    expect(errorIn(back)).toMatchObject({
      message: expect.stringMatching(/^the service's clock shows .*, before the position in the log, /),
    });
    server.aheadMs = 0;
    server.logs.push(entry(2_000, 'two'));
    expect(await summary()).toMatchObject({ entries: 1, record: 2 });
    expect(await messages()).toEqual(['one', 'two']);
  });

  it('svc logs archive leaves the archive unchanged when the disk is full, and resumes when it is not', async () => {
    for (let index = 0; index < 200; index += 1) server.logs.push(entry(HOUR, noise()));
    const child = spawn(
      'sh',
      ['-c', `ulimit -f 20; exec "$0" "$@"`, process.execPath, LAUNCHER, 'logs', 'archive', place],
      { cwd: home.path, env: home.environment(env()), stdio: ['pipe', 'pipe', 'pipe'] },
    );
    const full = await finished(child);
    expect([full.code, errorIn(full)['message']]).toEqual([1, expect.stringContaining('size limit is reached')]);
    expect((await archived()).links).toHaveLength(1);
    expect(fs.readdirSync(place).toSorted()).toEqual(['_manifest']);
    expect(await summary()).toMatchObject({ entries: 200 });
    expect((await archived()).logs).toHaveLength(200);
  });

  it('svc logs archive accepts one location, with a known scheme', async () => {
    const baseUrl = new URL(server.url);
    for (const argv of [[], [place, '--to', place], ['--to', 'ftp://host/x'], [place, '--every', '0s']])
      expect((await svcHere(['logs', 'archive', ...argv], { baseUrl })).code, argv.join(' ')).toBe(2);
    expect(server.requests).toBe(0);
  });
});

describe('svc logs archive where a file is gone', () => {
  it('R76: svc logs archive adds new entries, exits with 12, and names the missing file and the command that shows all damage', async () => {
    server.logs.push(entry(5_000, 'one'));
    expect(await summary()).toMatchObject({ missing_files: 0, changed_files: 0 });
    const [segment = ''] = files(/part-.*gz$/);
    const before = fs.readFileSync(segment);
    fs.rmSync(segment);
    server.logs.push(entry(1_000, 'two'));
    const gone = await archive();
    expect(gone.code).toBe(12);
    expect(JSON.parse(gone.stdout)).toMatchObject({ entries: 1, missing_files: 1, changed_files: 0 });
    expect(errorIn(gone)).toMatchObject({
      code: 'checksum_mismatch',
      message: expect.stringContaining(': 1 file is missing: tenant=t-1/'),
      missing_files: [path.relative(place, segment)],
      next: expect.stringMatching(/^svc logs verify /),
    });
    const nothingNew = await archive('-o', 'table');
    expect([nothingNew.code, nothingNew.stdout]).toEqual([12, expect.stringContaining('1 file is missing: tenant=')]);
    expect(nothingNew.stdout).toContain(`archive damaged: `);
    expect(nothingNew.stdout).not.toContain('up to date');
    fs.writeFileSync(segment, before.subarray(1));
    expect(errorIn(await archive())['message']).toContain('1 file is changed');
    fs.writeFileSync(segment, before);
    expect(await summary()).toMatchObject({ missing_files: 0 });
    expect(await messages()).toEqual(['one', 'two']);
  });

  it.each(['', '--keep 1M'])(
    'R76: svc logs archive adds new entries although a record is gone or damaged: %s',
    async (more) => {
      server.logs.push(entry(120 * 24 * HOUR, 'old'));
      for (const name of ['one', 'two', 'three']) {
        server.logs.push(entry(1_000, name));
        await summary('--since', '130d', '--retention', '200d');
      }
      const [, , second = ''] = files(/_manifest\/\d+/);
      const before = fs.readFileSync(second);
      fs.writeFileSync(second, 'x');
      for (const harm of ['damaged', 'missing']) {
        server.logs.push(entry(1_000, harm));
        const found = await archive('--retention', '200d', ...more.split(' ').filter(Boolean));
        expect([found.code, errorIn(found)['message']]).toEqual([12, expect.stringContaining('00000002.json')]);
        expect(errorIn(found)['next']).toMatch(/^svc logs verify /);
        fs.rmSync(second, { force: true });
      }
      fs.writeFileSync(second, before);
      expect(await messages()).toEqual(['old', 'one', 'two', 'three', 'damaged', 'missing']);
    },
  );
});

describe('svc logs archive where the newest record cannot be used', () => {
  it('R76: svc logs archive adds each new entry once although the file of its position is gone, and exits with 12', async () => {
    const words = Array.from({ length: 30 }, (_, index) => `entry ${index}`);
    server.logs.push(...words.map((message) => entry(1_000, message)), entry(0, 'timeless', { created_at: 'soon' }));
    expect((await archive()).code).toBe(0);
    const [position = ''] = files(/position-/);
    fs.rmSync(position);
    server.logs.push(entry(1_000, 'new'));
    const gone = await archive();
    expect([gone.code, errorIn(gone)]).toEqual([
      12,
      expect.objectContaining({
        message: `${path.relative(place, position)} is damaged: it is missing`,
        hint: expect.stringContaining('What is new was archived'),
        next: expect.stringMatching(/^svc logs verify /),
      }),
    ]);
    // In the same second nothing more could be read.
    server.aheadMs = 2_000;
    expect((await archive()).code).toBe(0);
    expect((await messages()).toSorted()).toEqual([...words, 'new', 'timeless'].toSorted());
    expect(await svcHere(['logs', 'verify', place])).toMatchObject({ code: 0 });
  });

  it.each([
    ['empty', () => ''],
    ['with a byte order mark', (text: string) => `\uFEFF${text}`],
  ])('svc logs archive says how to go on where head.json is %s, and goes on so', async (_, harm) => {
    server.logs.push(entry(5_000, 'one'));
    await summary();
    const head = path.join(place, '_manifest/head.json');
    fs.writeFileSync(head, harm(fs.readFileSync(head, 'utf8')));
    const refused = await archive();
    expect([refused.code, errorIn(refused)]).toEqual([
      12,
      expect.objectContaining({
        message: '_manifest/head.json is damaged: it names no record',
        hint: expect.stringContaining('move _manifest/head.json out of the archive'),
        next: expect.stringMatching(/^svc logs verify /),
      }),
    ]);
    fs.rmSync(head);
    server.logs.push(entry(1_000, 'two'));
    expect((await archive()).code).toBe(0);
    expect(await messages()).toEqual(['one', 'two']);
    expect(await svcHere(['logs', 'verify', place])).toMatchObject({ code: 0 });
  });

  it('svc logs archive refuses a copy whose head is newer than its records, and goes on once the head is moved away', async () => {
    server.logs.push(entry(5_000, 'one'));
    await summary();
    server.logs.push(entry(1_000, 'two'));
    await summary();
    const [record = ''] = files(/_manifest\/00000002.json/);
    fs.rmSync(record);
    const before = bytes();
    const refused = await archive();
    expect([refused.code, bytes()]).toEqual([12, before]);
    expect(errorIn(refused)).toMatchObject({
      message: '_manifest/00000002.json is damaged: it is missing',
      hint: expect.stringContaining('move _manifest/head.json out of the archive'),
    });
    fs.rmSync(path.join(place, '_manifest/head.json'));
    expect(await archive()).toMatchObject({
      code: 0,
      stderr: 'added 1 entry that a run had stored without a record\n',
    });
    expect(await messages()).toEqual(['one', 'two']);
    expect(await svcHere(['logs', 'verify', place])).toMatchObject({ code: 0 });
  });
});

describe('svc logs archive --follow', () => {
  it('R76: svc logs archive --follow warns of a missing file, continues, and exits as its signal says', async () => {
    server.logs.push(entry(5_000, 'before'));
    await summary();
    const [day = ''] = fs.readdirSync(path.join(place, 'tenant=t-1'));
    fs.rmSync(path.join(place, 'tenant=t-1', day), { recursive: true });
    const child = home.start(['logs', 'archive', place, '--follow', '--every', '300ms', '-o', 'json'], { env: env() });
    const ended = finished(child);
    server.logs.push(entry(1_000, 'meanwhile'));
    await until(async () => fs.readdirSync(path.join(place, '_manifest')).includes('00000002.json'));
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect([code, JSON.parse(stdout)]).toEqual([143, expect.objectContaining({ entries: 1, missing_files: 1 })]);
    expect(stderr.match(/warning: 1 file is missing: tenant=t-1/g)).toHaveLength(1);
  });

  it('R76: svc logs archive --follow looks for missing files each hour', async () => {
    server.logs.push(entry(60_000, 'one'));
    expect((await archive()).code).toBe(0);
    const stop = new AbortController();
    const clock = new FakeClock({ start: Date.now() });
    let polls = 0;
    server.onList = () => {
      server.aheadMs = clock.now() - Date.now();
      polls += 1;
      if (polls === 2) for (const file of files(/\.jsonl\.gz$/)) fs.rmSync(file);
      if (polls === 200) stop.abort(new SvcError('terminated', 'terminated'));
    };
    const { code, stderr } = await svcHere(['logs', 'archive', place, '--follow', '--every', '10m'], {
      baseUrl: new URL(server.url),
      clock,
      signal: stop.signal,
    });
    expect([code, stderr]).toEqual([143, expect.stringMatching(/1 file is missing/)]);
  });

  it('svc logs archive --follow commits new entries, keeps other writers out, and exits cleanly with what it has', async () => {
    server.logs.push(entry(5_000, 'before'));
    const argv = ['logs', 'archive', place, '--follow', '--every', '300ms', '-o', 'json'];
    const child = home.start(argv, { env: env() });
    const ended = finished(child);
    await until(async () => (await messages()).length === 1);
    const second = await archive();
    expect(second.code).toBe(11);
    expect(errorIn(second)['message']).toContain(`is locked by process ${child.pid}`);
    server.logs.push(entry(2_000, 'meanwhile'));
    await until(async () => (await messages()).length === 2);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(143);
    expect(JSON.parse(stdout)).toMatchObject({ entries: 2, gaps: [] });
    expect(await messages()).toEqual(['before', 'meanwhile']);
    expect(fs.existsSync(path.join(place, '.lock'))).toBe(false);
  });

  it('svc logs archive --follow shows on a terminal that it is running', async () => {
    const argv = [LAUNCHER, 'logs', 'archive', place, '--follow'];
    const screen = new TerminalSession(process.execPath, argv, {
      cwd: home.path,
      columns: 110,
      env: { HOME: home.path, ...env() },
    });
    try {
      await screen.waitFor(/archive: up to date/);
      screen.type('\u0003');
      expect(await screen.exited).toEqual({ exitCode: 130 });
      expect(screen.cursorShows).toBe(true);
      expect(screen.screen()).toContain('t-1');
    } finally {
      screen.kill();
    }
  });
});

const HEAD = JSON.stringify({ version: 1, sequence: 0, sha256: 'a'.repeat(64) });

function noise(): string {
  return Array.from({ length: 60 }, () => Math.random().toString(36)).join('');
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await systemClock.sleep(50);
}
