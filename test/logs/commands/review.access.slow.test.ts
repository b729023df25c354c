import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { parseRecord, recordPath } from '../../../src/logs/archive/records/record.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, rowOf, rowsIn, succeeded, svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 2, 31, 6);
const START = Date.UTC(2026, 1, 1);
const HOSTILE = `<img src=x onerror="alert(1)">\u202e`;

function entry(day: string, more: Partial<Log> = {}): Log {
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: 'ana' };
  return { tenant_id: TENANT, ...known, created_at: `${day}T10:00:00.000Z`, ...more };
}

const ENTRIES = [
  entry('2026-02-02'),
  entry('2026-02-03', { actor_id: 'gone' }),
  entry('2026-03-01', { operation: 'update' }),
  entry('2026-03-02', { operation: 'delete', entity_type: 'token' }),
  entry('2026-03-03', { operation: 'create', actor_id: HOSTILE, actor_type: 'application' }),
  entry('2026-03-30'),
  entry('2026-03-30', { actor_id: null, actor_type: null, entity_type: null, operation: 'odd' }),
];

async function archive(gap = false) {
  const { top } = await buildArchive(START, [
    { to: NOW - DAY, entries: ENTRIES.slice(0, 5) },
    ...(gap ? [{ to: NOW - DAY + HOUR, gap: true }] : []),
    { to: NOW, entries: ENTRIES.slice(5) },
  ]);
  return top;
}

function access(top: string, ...argv: string[]) {
  const clock = new FakeClock({ start: NOW });
  return svcHere(['logs', 'review', top, '--access', ...argv], { clock, cwd: path.dirname(top) });
}

/** Signs off an archive in which one entry, if any, was a minute later. Returns the hash that was signed. */
async function signedHash(later?: number): Promise<string> {
  const entries = structuredClone(ENTRIES);
  const changed = later === undefined ? undefined : entries[later];
  if (changed) changed.created_at = changed.created_at.replace('10:00', '10:01');
  const { top } = await buildArchive(START, [{ to: NOW, entries }]);
  expect((await access(top, '--since', '2026-03-01', '--sign-off')).code).toBe(0);
  const record = fs.readFileSync(path.join(top, recordPath(2)), 'utf8');
  return (JSON.parse(record) as { review: { sha256: string } }).review.sha256;
}

it('svc logs review --access has one row an actor, who changed and deleted most first', async () => {
  const { code, stdout, stderr } = await access(await archive(), '--since', '2026-03-01', '--dormant', '7d');
  expect([code, rowsIn(stdout)]).toEqual([
    0,
    [
      {
        actor_id: 'ana',
        actor_type: 'user',
        name: null,
        first_at: '2026-02-02T10:00:00.000Z',
        last_at: '2026-03-30T10:00:00.000Z',
        entries: 3,
        reads: 1,
        changes: 1,
        deletes: 1,
        entity_types: ['card', 'token'],
        is_new: false,
        is_dormant: false,
      },
      expect.objectContaining({ actor_id: null, entries: 1, changes: 1, entity_types: [], is_new: true }),
      expect.objectContaining({ actor_type: 'application', changes: 1, is_new: true, is_dormant: true }),
    ],
  ]);
  expect(stderr).toContain('3 actors, 2 new, 1 dormant (nothing in the last 7d)');
  expect(stderr).toContain('The logs show who used the service, not who is permitted to');
});

it('svc logs review --access calls nothing new where the archive has too little of the time before', async () => {
  const { stdout } = await access(await archive(), '--since', '2026-02-03', '--jq', '.is_new');
  expect(new Set(stdout.trimEnd().split('\n'))).toEqual(new Set(['null']));
});

it('R61: svc logs review --access counts entries without a readable time, and warns of them', async () => {
  const timeless = entry('2026-03-01', {
    created_at: 'lately',
    actor_id: 'eve',
    operation: 'delete',
    entity_id: 'c-1',
  });
  const { top } = await buildArchive(START, [{ to: NOW, entries: [...ENTRIES, timeless] }]);
  const { stdout, stderr } = succeeded(await access(top, '--since', '2026-03-01', '--html', 'access.html'));
  expect(rowsIn(stdout)).toContainEqual(
    expect.objectContaining({ actor_id: 'eve', deletes: 1, first_at: null, is_new: null, is_dormant: false }),
  );
  expect(stderr).toContain('4 actors, 2 new, 0 dormant');
  const words =
    "counted, of an unknown day: 1 entry without a readable time (created_at), which 'svc logs search' shows last; deleted among them: card c-1";
  expect(stderr).toContain(`warning: ${words}\n`);
  expect(fs.readFileSync(path.join(path.dirname(top), 'access.html'), 'utf8')).toContain(
    'deleted among them: card c-1',
  );
});

it('R90: svc logs review --access shows and signs that the actors are unknown where there are too many to count each', async () => {
  const entries = Array.from({ length: 10_001 }, (_, at) => entry('2026-03-01', { actor_id: `a${at}` }));
  const { top } = await buildArchive(START, [{ to: NOW, entries: [...ENTRIES, ...entries] }]);
  const page = path.join(path.dirname(top), 'access.html');
  const { stdout, stderr } = succeeded(await access(top, '--since', '2026-03-01', '--html', page));
  expect(rowsIn(stdout)).toContainEqual(expect.objectContaining({ actor_id: '(others)', is_new: null }));
  expect(stderr).toContain('too many actors to count each; new and dormant ones unknown');
  expect(fs.readFileSync(page, 'utf8')).toContain('all after the first 10,000 are counted as (others)');
  fs.rmSync(page);
  const signed = await access(top, '--since', '2026-03-01', '--sign-off', '--by', 'Ana');
  expect(signed.stderr).toContain('actors unknown, new actors unknown, dormant unknown');
  const argv = ['logs', 'evidence', top, '--since', '2026-03-01'];
  const bundle = await svcHere(argv, { clock: new FakeClock({ start: NOW }), cwd: path.dirname(top) });
  expect(rowOf(bundle)).toMatchObject({ actors: null });
});

it('svc logs review --access counts each actor of its days, however many others acted before', async () => {
  const others = Array.from({ length: 10_001 }, (_, at) => entry('2026-02-03', { actor_id: `a${at}` }));
  const { top } = await buildArchive(START, [
    { to: NOW, entries: [entry('2026-02-02'), ...others, entry('2026-03-30')] },
  ]);
  const { stdout, stderr } = succeeded(await access(top, '--since', '2026-03-01'));
  expect(rowsIn(stdout)).toMatchObject([{ actor_id: 'ana', first_at: '2026-02-02T10:00:00.000Z', is_new: false }]);
  expect(stderr).toContain('1 actor, 0 new, 0 dormant');
});

it('svc logs review --access --html writes a page that says what logs do not show, and runs nothing', async () => {
  const top = await archive(true);
  const page = path.join(path.dirname(top), `${path.basename(top)}.html`);
  const { code, stderr } = await access(top, '--since', '2026-03-01', '--html', page);
  const html = fs.readFileSync(page, 'utf8');
  fs.rmSync(page);
  expect([code, stderr]).toEqual([0, expect.stringContaining('entries may be missing')]);
  expect(html).toContain('<h1>Access review of 2026-03-01 to 2026-03-31 (UTC)</h1>');
  expect(html).toContain('The logs show who used the service, not who is permitted to');
  expect(html).toContain('2026-03-30 06:00:00Z to 2026-03-30 07:00:00Z: gap');
  expect(html).not.toMatch(/<img|<script|\u202e/);
});

it('R82: svc logs review --access --sign-off records what was reviewed, and verify finds a forged number of entries', async () => {
  const top = await archive();
  const page = `${path.basename(top)}.html`;
  const argv = ['--since', '2026-03-01', '--sign-off', '--by', 'Ana', '--html', page];
  const signed = await access(top, ...argv);
  const html = fs.readFileSync(path.join(path.dirname(top), page), 'utf8');
  fs.rmSync(path.join(path.dirname(top), page));
  expect([signed.code, signed.stderr]).toEqual([
    0,
    expect.stringContaining('signed off 2026-03-01 to 2026-03-30 by Ana (record 3): actors 3, new actors 2, dormant 0'),
  ]);
  // The same review is not recorded twice, so that the file keeps what the record names.
  fs.writeFileSync(path.join(path.dirname(top), page), html);
  const again = await access(top, ...argv, '--force');
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining(`${page} was not replaced`)]);
  fs.rmSync(path.join(path.dirname(top), page));
  const file = path.join(top, recordPath(3));
  const text = fs.readFileSync(file, 'utf8');
  expect(parseRecord(text, file).record).toMatchObject({
    review: {
      of: 'access',
      from: '2026-03-01',
      to: '2026-03-30',
      entries: 5,
      missing: [],
      page_sha256: sha256Of(html),
      record: 2,
      by: 'Ana',
    },
  });
  expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  const forged = text.replace('"entries":5', '"entries":4');
  fs.writeFileSync(file, forged);
  const head = { version: 1, sequence: 3, sha256: sha256Of(forged) };
  fs.writeFileSync(path.join(top, '_manifest/head.json'), `${JSON.stringify(head)}\n`);
  const found = await svcHere(['logs', 'verify', top]);
  expect([found.code, found.stdout]).toEqual([
    12,
    expect.stringContaining('it reviews 4 entries; the records before it list 5 entries'),
  ]);
});

it('R82: svc logs review --access --sign-off counts and signs only days that are over, also while their entries go on', async () => {
  const today = entry('2026-03-31', { created_at: '2026-03-31T05:00:00.000Z', actor_id: 'today' });
  // An entry without a readable time makes no day of a time that has none which is over.
  const timeless = entry('2026-03-31', { created_at: 'lately', actor_id: 'eve' });
  const { top } = await buildArchive(START, [{ to: NOW, entries: [...ENTRIES, today, timeless] }]);
  const shown = await access(top, '--since', '2026-03-01');
  expect(rowsIn(shown.stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ actor_id: 'today' })]));
  const signed = await access(top, '--since', '2026-03-01', '--sign-off');
  expect([signed.code, signed.stderr, signed.stdout]).toEqual([
    0,
    expect.stringContaining('signed off 2026-03-01 to 2026-03-30 by '),
    expect.not.stringContaining('today'),
  ]);
  const early = await access(top, '--since', '1h', '--sign-off');
  expect([early.code, errorIn(early)['message']]).toEqual([
    14,
    'nothing was signed off: no day since 2026-03-31 is over',
  ]);
  expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
});

it('R82: svc logs review --access --sign-off signs every row: a change of any one changes the hash', async () => {
  const unchanged = await signedHash();
  expect(await signedHash()).toBe(unchanged);
  // An entry of each of the three actors that have a row.
  const hashes = new Set([unchanged, await signedHash(4), await signedHash(5), await signedHash(6)]);
  expect(hashes.size).toBe(4);
});

it('R76: svc logs review --access ends with 14 for a time after the archive, and with --strict for a gap', async () => {
  const top = await archive(true);
  const clock = new FakeClock({ start: NOW + 9 * DAY });
  const late = await svcHere(['logs', 'review', top, '--access', '--since', '2d', '--sign-off'], { clock });
  expect([late.code, errorIn(late)['message']]).toEqual([14, expect.stringContaining('nothing was signed off: ')]);
  expect((await access(top, '--since', '2026-03-01', '--strict')).code).toBe(14);
  expect((await access(path.join(top, 'none'))).code).toBe(5);
});

it('R76: svc logs review --access warns of an archive that ended before yesterday did, and neither judges nor signs the time after it', async () => {
  const top = await archive();
  const run = (days: number, ...argv: string[]) =>
    svcHere(['logs', 'review', top, '--access', '--since', '2026-03-01', ...argv], {
      clock: new FakeClock({ start: NOW + days * DAY }),
    });
  const warning = 'warning: the archive ends at 2026-03-31 06:00:00Z\n';
  expect(await run(80)).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
  const lacks = `${top} lacks 2026-03-31T06:00:00.000Z to 2026-06-19T00:00:00.000Z (not archived yet)`;
  const strict = await run(80, '--strict');
  expect([strict.code, errorIn(strict)['message']]).toEqual([14, lacks]);
  const unsigned = await run(80, '--sign-off');
  expect([unsigned.code, errorIn(unsigned)['message']]).toEqual([14, `nothing was signed off: ${lacks}`]);
  expect(fs.existsSync(path.join(top, recordPath(3)))).toBe(false);
  const current = await run(0.7, '--strict', '--sign-off');
  expect([current.code, current.stderr]).toEqual([0, expect.not.stringContaining('ends at')]);
});
