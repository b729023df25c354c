import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, openStore, TENANT } from '../archive/build.ts';
import { bundleOf, check, POSIX } from '../prove/bundles.ts';
import { reviewedArchive } from '../report/reviewed.ts';
import { DAY, HOUR, NOW, SIGN, START, archive, entry, recordOf, review } from './signing.ts';

describe('svc logs review --sign-off', () => {
  it('R90: the findings that a signed review records are the numbers that pages, JSON, lists and evidence show', async () => {
    const deletion = { operation: 'delete', entity_type: 'token' };
    const { top } = await buildArchive(START - 10 * DAY, [
      { to: START, entries: Array.from({ length: 10 }, (_, day) => entry(START - (day + 1) * DAY)) },
      {
        to: START + DAY,
        entries: [
          ...Array.from({ length: 40 }, (_, second) => entry(START + second * 1000, deletion)),
          ...['new', 'new', 'known'].map((actor_id) => entry(START + HOUR, { operation: 'delete', actor_id })),
        ],
      },
    ]);
    const argv = ['--day', '2026-03-01', '--html', `${path.basename(top)}.html`, '--force'];
    const words = 'deletions 43 in 3 groups, new actors 1 with 2 entries, new operations 2 with 43 entries';
    const counted = {
      findings: { deletions: 3, changes: 0, new_actors: 1, new_operations: 2 },
      findings_entries: { deletions: 43, changes: 0, new_actors: 2, new_operations: 43 },
    };
    const before = await review(top, ...argv);
    expect(JSON.parse(before.stdout)).toMatchObject(counted);
    expect(errorIn(before)).toMatchObject({ message: `2026-03-01 has findings to look at: ${words}`, ...counted });
    const shown = (await review(top, ...argv, '-o', 'table')).stdout;
    expect(shown).toContain('Deletions: 43\n');
    const signed = await review(top, ...argv, '--sign-off', '--by', 'Ana');
    expect(signed.stderr).toContain(words.replace(',', ', changes 0,'));
    expect(JSON.parse(signed.stdout)).toMatchObject({ ...counted, signed: [counted] });
    const record = recordOf(top, 3);
    expect(record).toMatchObject({ review: counted });
    const page = path.join(path.dirname(top), `${path.basename(top)}.html`);
    const html = fs.readFileSync(page, 'utf8');
    fs.rmSync(page);
    for (const heading of ['Deletions: 43', '30 days before: 1 with 2 entries', '30 days before: 2 with 43 entries'])
      expect(html).toContain(`${heading}</h2>`);
    const status = await review(top, '--status', '--since', '2026-03-01');
    expect(JSON.parse(status.stdout.split('\n')[0] ?? '')).toMatchObject(counted);
    expect((await review(top, '--status', '-o', 'table')).stdout).toContain(words);
    const bundle = await bundleOf({ top });
    expect(fs.readFileSync(path.join(bundle.top, 'report.html'), 'utf8')).toContain(`>${words}<`);
    expect(fs.readFileSync(path.join(bundle.top, 'evidence.json'), 'utf8')).toContain('"findings_entries"');
    expect(check(POSIX, bundle.top, bundle.record)).toMatchObject({ status: 0, stderr: '' });
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });

  it('R90: a signed review without the number of entries is read as groups', async () => {
    const { top } = await reviewedArchive();
    const { stdout } = await review(top, '--status', '--since', '2026-03-02');
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      findings: { deletions: 2, new_actors: null },
      findings_entries: null,
    });
    expect((await review(top, '--status', '-o', 'table')).stdout).toContain('deletions 2 groups');
    const bundle = await bundleOf({ top });
    const html = fs.readFileSync(path.join(bundle.top, 'report.html'), 'utf8');
    expect(html).toContain('>deletions 2 groups<');
    expect(check(POSIX, bundle.top, bundle.sums)).toMatchObject({ status: 0, stderr: '' });
  });

  it('svc logs review --sign-off works while an archive follows, and leaves no file behind', async () => {
    const top = await archive();
    await openStore(top).lock(async () => {
      expect((await review(top, ...SIGN)).code).toBe(0);
    });
    expect(fs.readdirSync(top).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('svc logs review --status', () => {
  it('svc logs review --status --within ends with 10 when a day is open for longer, and with 14 where the archive stopped', async () => {
    const top = await archive();
    const open = await review(top, '--status', '--within', '2d');
    expect([open.code, errorIn(open)['open']]).toEqual([10, ['2026-03-01']]);
    expect((await review(top, '--status', '--within', '3d')).code).toBe(0);
    const stopped = await archive(START + 2 * DAY + 2 * HOUR);
    const later = new FakeClock({ start: NOW + 3 * DAY });
    for (const day of ['2026-03-01', '2026-03-02']) await review(stopped, '--day', day, '--sign-off');
    const run = await svcHere(['logs', 'review', stopped, '--status', '--since', '2026-03-04', '--within', '1d'], {
      clock: later,
    });
    expect([run.code, errorIn(run)['message']]).toEqual([14, expect.stringContaining('has nothing of 2026-03-04 yet')]);
  });

  it('a signed day is open again when entries of it are archived later', async () => {
    const top = await archive();
    await review(top, ...SIGN);
    const store = openStore(top);
    await store.lock(async () => {
      const found = await findArchive(store);
      const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => NOW });
      await writer.add([entry(START + DAY + 2 * HOUR)]);
      await writer.commit({ settled: START, readTo: NOW + 1, newest: undefined, passed: [] });
    });
    // A day is judged as a whole, also where --since is later on that day than the entries.
    for (const since of [[], ['--since', '2026-03-02T12:00:00Z']]) {
      const query = 'select(.day == "2026-03-02") | [.state, .entries, .late]';
      const { stdout } = await review(top, '--status', ...since, '--jq', query);
      expect(JSON.parse(stdout)).toEqual(['open', 2, 1]);
    }
    const shown = await review(top, '--day', '2026-03-02', '-o', 'table');
    expect(shown.stdout).toMatch(/the archive has other\s+entries now/);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });
});
