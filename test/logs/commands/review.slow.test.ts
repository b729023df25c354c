import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, KEY, svcHere } from '../../support/run-here.ts';
import { buildArchive, openStore, TENANT } from '../archive/build.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { archive, DAY, entry, HOUR, NOW, PAST, review, YESTERDAY } from './reviewing.ts';

describe('svc logs review', () => {
  it('R61: svc logs review lists deletions without a readable time, and never says that nothing was deleted', async () => {
    const timeless = entry(0, {
      created_at: 'lately',
      operation: 'delete',
      entity_type: 'application',
      entity_id: 'app-1',
    });
    const top = await archive([entry(YESTERDAY + HOUR), timeless]);
    const { code, stdout, stderr } = await review(top);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({
      entries: 1,
      timeless: 1,
      deletions: [{ entity_type: 'application', count: 1, first_at: null, last_at: null }],
      deleted: [{ entity_id: 'app-1', created_at: null }],
      findings: { deletions: 1 },
    });
    const words =
      "may be of this day: 1 entry without a readable time (created_at), which 'svc logs search' shows last; deleted among them: application app-1";
    expect(stderr).toContain(`warning: ${words}\n`);
    const html = path.join(temporaryDirectory(), 'review.html');
    const drawn = (await review(top, '-o', 'table', '--html', html)).stdout;
    expect(drawn).toContain('Deletions: 1\n');
    expect(drawn).toMatch(/Deleted entities\n.*\n +no time +application +app-1 +user known\n/);
    expect(drawn.replaceAll(/\s+/g, ' ')).toContain(words);
    const page = fs.readFileSync(html, 'utf8');
    expect(page).toContain('application app-1');
    expect(page).not.toContain('nothing was deleted');
    const signed = await review(top, '--sign-off');
    expect([signed.code, signed.stderr]).toEqual([0, expect.stringContaining(': deletions 1, changes 0')]);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
    const later = await review(top, '--day', 'today', '-o', 'table');
    expect(later.stdout).not.toContain('readable');
  });

  it('R61: svc logs review lists what a killed run left without a readable time on each day until it was added', async () => {
    const timeless = entry(0, { created_at: 'lately', operation: 'delete', entity_id: 'c-1' });
    const { top, store } = await buildArchive(YESTERDAY - 20 * DAY, [{ to: YESTERDAY - HOUR, entries: PAST }]);
    const commitTo = (readTo: number, ...logs: readonly Log[]) =>
      store.lock(async () => {
        const { last } = (await findArchive(store))!;
        const writer = await ArchiveWriter.open(store, last, { tenantId: TENANT, now: () => readTo });
        await writer.add(logs);
        await writer.commit({ ...writer.position, readTo });
      });
    // Without its record, a commit is what a run leaves that was killed before it committed.
    const records = path.join(top, '_manifest');
    const before = path.join(temporaryDirectory(), 'records');
    fs.cpSync(records, before, { recursive: true });
    await commitTo(YESTERDAY + HOUR, timeless);
    fs.rmSync(records, { recursive: true });
    fs.cpSync(before, records, { recursive: true });
    await commitTo(NOW);
    for (const day of ['2026-02-28', '2026-03-01', '2026-03-02'])
      expect(JSON.parse((await review(top, '--day', day)).stdout), day).toMatchObject({
        timeless: 1,
        deleted: [{ entity_id: 'c-1', created_at: null }],
      });
    expect((await review(top, '--sign-off')).code).toBe(0);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });

  it('R06: a review shows no key and no card number, on a terminal and as a page', async () => {
    const ids = [KEY, '4111111111111111'];
    const top = await archive(ids.map((id) => entry(YESTERDAY + HOUR, { operation: 'delete', entity_id: id })));
    const html = path.join(temporaryDirectory(), 'review.html');
    const { stdout } = await svcHere(['logs', 'review', top, '--html', html, '-o', 'table'], {
      clock: new FakeClock({ start: NOW }),
      env: { SVC_API_KEY: KEY },
    });
    for (const text of [stdout, fs.readFileSync(html, 'utf8')]) {
      expect(text).toMatch(/411111•+1111/);
      for (const id of ids) expect(text).not.toContain(id);
    }
  });

  it('svc logs review draws the hours with their median, and names hours with more than four times as many', async () => {
    const counts = Array.from({ length: 24 }, (_, hour) => (hour === 5 ? 14 : 1 + (hour % 3)));
    const entries = counts.flatMap((count, hour) =>
      Array.from({ length: count }, () => entry(YESTERDAY + hour * HOUR, { operation: hour === 7 ? 'export' : 'use' })),
    );
    const { top } = await buildArchive(YESTERDAY - 20 * DAY, [{ to: NOW, entries: [...PAST, ...entries] }]);
    const { stdout } = await review(top, '-o', 'table');
    expect(stdout.split('Entries by hour')[1]).toBe(
      [
        ' since 2026-03-01 00:00:00Z',
        '  ▂▂▃▂▂█▂▂▃▂▂▃▂▂▃▂▂▃▂▂▃▂▂▃',
        '  peak: 14 at 2026-03-01 05:00:00Z',
        '  2026-03-01 05:00:00Z: 14 entries, more than four times the median of 2',
        '',
      ].join('\n'),
    );
    const file = path.join(temporaryDirectory(), 'review.html');
    await review(top, '--html', file);
    const html = fs.readFileSync(file, 'utf8');
    expect(html).toContain('<p class="odd">2026-03-01 05:00:00Z: 14 entries, more than four times the median of 2</p>');
    expect(html).toContain('00:00:00 to 23:00:00');
    expect(html).not.toContain('07:00:00 to');
    expect(html.match(/07:00:00/g)).toHaveLength(1);
  });

  it('svc logs review is short, and lists twenty changes and twenty deleted entities with --verbose', async () => {
    const changes = Array.from({ length: 25 }, (_, at) =>
      entry(YESTERDAY + HOUR + at, { entity_type: 'application', operation: `change-${10 + at}` }),
    );
    const deletions = Array.from({ length: 22 }, (_, at) =>
      entry(YESTERDAY + 2 * HOUR + at, { operation: 'delete', entity_id: `c-${10 + at}` }),
    );
    const top = await archive([...changes, ...deletions]);
    const { stdout: short } = await review(top, '-o', 'table');
    expect(short.split('\n').length).toBeLessThan(27);
    const { stdout } = await review(top, '-o', 'table', '--verbose');
    const sections = stdout.split(/\n(?=\S)/);
    const deleted = sections.find((section) => section.startsWith('Deleted entities\n'));
    expect(deleted?.match(/ card +c-\d\d /g)).toHaveLength(20);
    expect(deleted).toMatch(/\n {2}and 2 more \(-o json\)\n?$/);
    const changed = sections.find((section) => section.startsWith('Changes of applications'));
    expect(changed?.match(/change-\d\d/g)).toHaveLength(20);
    expect(changed).toMatch(/\n {2}and 5 more \(-o json\)\n?$/);
  });

  it('R76: svc logs review --status lists the days of an archive that never archived anything, and --within ends with 14', async () => {
    const { top } = await buildArchive(YESTERDAY - 5 * DAY, []);
    const late = await review(top, '--status', '--within', '3d', '--jq', '.day + " " + .state');
    const days = ['24', '25', '26', '27', '28'].map((day) => `2026-02-${day} uncovered\n`);
    expect([late.code, late.stdout]).toEqual([14, `${days.join('')}2026-03-01 uncovered\n`]);
    expect(errorIn(late)['message']).toBe(`${top} has nothing of 2026-02-24 yet, so nobody can review it`);
    expect((await review(top, '--status', '--within', '7d')).code).toBe(0);
  });

  it('svc logs review says who deleted what, names the deleted entities, and uses names read before', async () => {
    const [card, application] = ['3a04dacf-0000-4000-8000-000000000001', '4707c78a-ef35-487e-a67c-cc101d1d4c49'];
    const deletion = { operation: 'delete', entity_id: card, message: 'create instead of delete' };
    const top = await archive([
      entry(YESTERDAY + 2 * HOUR, { ...deletion, actor_type: 'application', actor_id: application }),
      entry(YESTERDAY + HOUR, { ...deletion, actor_id: 'a20690bc-0000-4000-8000-000000000002' }),
      entry(YESTERDAY + HOUR, { ...deletion, actor_id: 'a20690bc-0000-4000-8000-000000000002', entity_type: 'token' }),
      entry(YESTERDAY + 3 * HOUR - 1, { message: 'a read that only mentions "delete"' }),
      entry(YESTERDAY - HOUR, deletion),
    ]);
    const names = { at: 1, names: [[application, 'Nightly refresh']], whole: [] };
    const cache = path.join(top, '.cache');
    fs.mkdirSync(cache);
    const tenants = { [`https://vault.example ${TENANT}`]: names };
    fs.writeFileSync(path.join(cache, 'applications.json'), JSON.stringify({ version: 1, tenants }));
    const run = (...argv: string[]) =>
      svcHere(['logs', 'review', top, ...argv], {
        clock: new FakeClock({ start: NOW }),
        env: { SVC_CACHE_DIR: cache },
        cwd: top,
      });
    const { stdout } = await run('-o', 'table');
    const user = 'user a20690bc-0000-4000-8000-000000000002';
    expect(stdout).toContain(
      [
        'Deletions: 3',
        `  OPERATION  ENTITY  ACTOR${' '.repeat(49)}ENTRIES  TIME (UTC)`,
        `  delete     card    ${user.padEnd(52)}        1  2026-03-01 01:00:00`,
        `  delete     token   ${user.padEnd(52)}        1  2026-03-01 01:00:00`,
        `  delete     card    Nightly refresh ${application}        1  2026-03-01 02:00:00`,
        'Changes',
      ].join('\n'),
    );
    expect(stdout).toContain(
      [
        'Deleted entities',
        `  TIME (UTC)           ENTITY  ID${' '.repeat(36)}ACTOR`,
        `  2026-03-01 01:00:00  card    ${card}  ${user}`,
        `  2026-03-01 01:00:00  token   ${card}  ${user}`,
        `  2026-03-01 02:00:00  card    ${card}  Nightly refresh ${application}`,
        '',
      ].join('\n'),
    );
    const { deleted } = JSON.parse((await run()).stdout) as { deleted: unknown };
    expect(deleted).toMatchObject([
      { created_at: '2026-03-01T01:00:00.000Z', entity_type: 'card', entity_id: card, actor_type: 'user' },
      { entity_type: 'token' },
      { created_at: '2026-03-01T02:00:00.000Z', actor_id: application },
    ]);
    const page = path.join(temporaryDirectory(), 'page.html');
    await run('--html', page);
    expect(fs.readFileSync(page, 'utf8')).toContain(`>Nightly refresh ${application}</td>`);
  });

  it('R76: svc logs review exits with 14 when the archive ends before the day does, or has none of it', async () => {
    const stopped = await buildArchive(YESTERDAY - 20 * DAY, [{ to: YESTERDAY + 20 * HOUR, entries: PAST }]);
    const short = await review(stopped.top);
    expect([short.code, errorIn(short)['message']]).toEqual([
      14,
      expect.stringContaining('nothing from 2026-03-01 20:00:00Z to 2026-03-02 00:00:00Z (not archived yet)'),
    ]);
    const nothing = await review(stopped.top, '--day', 'today');
    expect([nothing.code, JSON.parse(nothing.stdout)]).toEqual([14, expect.objectContaining({ entries: 0 })]);
    expect((await review(stopped.top, '--day', '2026-01-01')).code).toBe(14);
  });

  it('R76: svc logs review does not say that nothing was deleted on a day of which the archive has nothing, or not all', async () => {
    const { top } = await buildArchive(YESTERDAY - 20 * DAY, [{ to: YESTERDAY + 20 * HOUR, entries: PAST }]);
    const part = await review(top, '-o', 'table');
    expect(part.stdout).toContain('Deletions: none in what is archived\n');
    const nothing = await review(top, '--day', 'today', '-o', 'table');
    expect(nothing.stdout).toContain('Deletions: unknown: nothing of this day is archived\n');
  });

  it('R76: svc logs review says of days that retention dropped that it dropped them, and where the archive begins now', async () => {
    const top = await archive();
    expect((await review(top, '--day', '2026-02-20', '--sign-off')).code).toBe(0);
    const store = openStore(top);
    await store.lock(async () => {
      const found = await findArchive(store);
      const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => NOW });
      await new Retention(0, 'root@vault').apply(writer, { service: NOW, machine: NOW });
    });
    const { stdout } = await review(top, '--day', '2026-02-20', '-o', 'table');
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /signed off by \S+ at [^;]*; retention has dropped its entries since /,
    );
    const access = await review(top, '--access', '--since', '2026-02-01');
    expect(access.stderr).toContain('the archive begins at 2026-03-01 00:00:00Z\n');
    expect(access.stderr).not.toContain('the archive begins at 2026-02');
  });

  it('svc logs review --html writes a page for its owner only, which runs and loads nothing', async () => {
    const top = await archive();
    const file = path.join(temporaryDirectory(), 'review.html');
    expect((await review(top, '--html', file)).code).toBe(10);
    const html = fs.readFileSync(file, 'utf8');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(html).toContain('<h1>Log review of 2026-03-01 (UTC)</h1>');
    expect(html).not.toMatch(/<img|<script|secret words|\u202e/);
    expect(html).toContain('&lt;img src=x onerror=');
    const again = await review(top, '--html', file);
    expect(again.code).toBe(2);
    expect((await review(top, '--html', file, '--force')).code).toBe(10);
  });
});
