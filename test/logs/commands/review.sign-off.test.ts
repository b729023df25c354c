import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { parseRecord, recordPath } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, openStore, TENANT } from '../archive/build.ts';
import { bundleOf, check, POSIX } from '../evidence/bundles.ts';
import { reviewedArchive } from '../review/reviewed.ts';

const NOW = Date.UTC(2026, 2, 4, 6);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 1);

function entry(at: number, more: Partial<Log> = {}): Log {
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: 'known' };
  return { tenant_id: TENANT, ...known, created_at: new Date(at).toISOString(), ...more };
}

/** An archive of the first three days of March: a deletion on the second, and a gap on the third. */
async function archive(to = NOW) {
  const { top } = await buildArchive(START, [
    { to: START + 2 * DAY, entries: [entry(START + HOUR), entry(START + DAY + HOUR, { operation: 'delete' })] },
    { to: START + 2 * DAY + HOUR, gap: true },
    { to, entries: [entry(START + 2 * DAY + 2 * HOUR)] },
  ]);
  return top;
}

function review(top: string, ...argv: string[]) {
  return reviewAt(NOW, top, ...argv);
}

function reviewAt(start: number, top: string, ...argv: string[]) {
  return svcHere(['logs', 'review', top, ...argv], { clock: new FakeClock({ start }), cwd: path.dirname(top) });
}

function recordOf(top: string, number: number) {
  const name = recordPath(number);
  return parseRecord(fs.readFileSync(path.join(top, name), 'utf8'), name).record;
}

const SIGN = ['--day', '2026-03-02', '--sign-off', '--by', 'Ana'];

describe('svc logs review --sign-off', () => {
  it('svc logs review --sign-off says in two lines what was recorded, and shows people the day no second time', async () => {
    const signed = await review(await archive(), ...SIGN, '-o', 'table');
    expect([signed.code, signed.stdout]).toEqual([0, '']);
    expect(signed.stderr).toMatch(
      /^signed off 2026-03-02 by Ana .*\nnewest hash, to keep elsewhere as a proof: \w{64}\n$/,
    );
  });

  it('R82: svc logs review --sign-off records who reviewed which day, when, and what was found', async () => {
    const top = await archive();
    const page = `${path.basename(top)}.html`;
    const before = await review(top, '--day', '2026-03-02');
    const signed = await review(top, ...SIGN, '--note', 'SEC-41', '--html', page);
    const html = fs.readFileSync(path.join(path.dirname(top), page), 'utf8');
    fs.rmSync(path.join(path.dirname(top), page));
    expect([before.code, signed.code]).toEqual([10, 0]);
    const { sha256, record_sha256: seen } = JSON.parse(before.stdout) as Record<string, string>;
    const record = recordOf(top, 4);
    expect(record).toMatchObject({
      kind: 'segments',
      segments: [],
      written_at: new Date(NOW).toISOString(),
      review: {
        of: 'day',
        from: '2026-03-02',
        to: '2026-03-02',
        entries: 1,
        missing: [],
        findings: { deletions: 1, changes: 0, new_actors: null, new_operations: null },
        findings_entries: { deletions: 1, changes: 0, new_actors: null, new_operations: null },
        sha256,
        page_sha256: sha256Of(html),
        record: 3,
        record_sha256: seen,
        by: 'Ana',
        account: expect.stringContaining('@'),
        note: 'SEC-41',
      },
    });
    expect(html).toContain(sha256);
    expect(JSON.parse(signed.stdout)).toMatchObject({
      record: 4,
      signed: [{ record: 4, by: 'Ana', note: 'SEC-41', is_current: true }],
    });
    expect(signed.stderr).toMatch(
      /signed off 2026-03-02 by Ana \(record 4\): deletions 1, changes 0, new actors unknown/,
    );
    const verified = await svcHere(['logs', 'verify', top]);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain(`"message":"day reviewed, signed off by Ana (`);
    const again = await review(top, '--day', '2026-03-02', '-o', 'table');
    expect([again.code, again.stdout]).toEqual([10, expect.stringMatching(/signed off by Ana .*: SEC-41/)]);
  });

  it.each([
    ['that is recorded already', '2026-03-02', 0],
    ['that is refused', '2026-03-04', 14],
  ])('R82: svc logs review --sign-off --force replaces no filed page by that of a review %s', async (_, day, code) => {
    const top = await archive();
    const page = `${path.basename(top)}.html`;
    const file = path.join(path.dirname(top), page);
    onTestFinished(() => fs.rmSync(file));
    const argv = ['--sign-off', '--by', 'Ana', '--html', page, '--force'];
    fs.writeFileSync(file, 'an earlier page');
    expect(await review(top, '--day', '2026-03-02', ...argv)).toMatchObject({ code: 0 });
    const filed = sha256Of(fs.readFileSync(file));
    expect(recordOf(top, 4)).toMatchObject({ review: { page_sha256: filed } });
    const again = await reviewAt(NOW + 60_000, top, '--day', day, ...argv);
    expect([again.code, sha256Of(fs.readFileSync(file))], again.stderr).toEqual([code, filed]);
    expect(again.stderr).toContain(`${page} was not replaced, because no review was recorded`);
    expect(fs.readdirSync(path.dirname(file)).filter((name) => name.startsWith(`.${page}`))).toEqual([]);
  });

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
    expect(shown).toContain('Deletions: 43 in 3 groups\n');
    const signed = await review(top, ...argv, '--sign-off', '--by', 'Ana');
    expect(signed.stderr).toContain(words.replace(',', ', changes 0,'));
    expect(JSON.parse(signed.stdout)).toMatchObject({ ...counted, signed: [counted] });
    const record = recordOf(top, 3);
    expect(record).toMatchObject({ review: counted });
    const page = path.join(path.dirname(top), `${path.basename(top)}.html`);
    const html = fs.readFileSync(page, 'utf8');
    fs.rmSync(page);
    for (const heading of [
      'Deletions: 43 in 3 groups',
      '30 days before: 1 with 2 entries',
      '30 days before: 2 with 43 entries',
    ])
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

  it('svc logs review --sign-off records nothing twice, and says who signed before', async () => {
    const top = await archive();
    await review(top, ...SIGN);
    const again = await review(top, ...SIGN);
    expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(/already signed off by Ana .*: nothing was/)]);
    const other = await review(top, '--day', '2026-03-02', '--sign-off', '--by', 'Bo');
    expect([other.code, other.stderr]).toEqual([0, expect.stringMatching(/already signed off by Ana .*\n.*by Bo/)]);
    expect(JSON.parse(other.stdout)).toMatchObject({ signed: [{ by: 'Ana' }, { by: 'Bo' }] });
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });

  it('R76: svc logs review --sign-off refuses a day that is not over, not archived yet, or not in the archive', async () => {
    const top = await archive(START + 2 * DAY + 20 * HOUR);
    for (const [day, reason, hint, next] of [
      ['2026-03-03', 'not archived yet', 'Update the archive and review the day again.', `archive ${top}`],
      ['today', 'the day is not over', 'once the day is over, at 2026-03-05 00:00:00Z', `archive ${top}`],
      ['2026-02-01', 'before the archive', 'No later run can add this day', `review ${top} --status`],
    ] as const) {
      const { code, stderr } = await review(top, '--day', day, '--sign-off');
      const error = errorIn({ stderr });
      expect([code, error['message']]).toEqual([14, expect.stringContaining(`(${reason})`)]);
      expect(error).toMatchObject({ hint: expect.stringContaining(hint), next: `svc logs ${next}` });
      expect(stderr).toContain('nothing was signed off');
    }
    expect(fs.existsSync(path.join(top, recordPath(4)))).toBe(false);
  });

  it('svc logs review --sign-off records a gap of the day, and refuses it with --strict', async () => {
    const top = await archive();
    const strict = await review(top, '--day', '2026-03-03', '--sign-off', '--strict');
    const next = `svc logs review ${top} --day 2026-03-03 --sign-off`;
    expect([strict.code, errorIn(strict)['next']]).toEqual([14, next]);
    const signed = await review(top, '--day', '2026-03-03', '--sign-off');
    expect([signed.code, signed.stderr]).toEqual([0, expect.stringContaining('entries may be missing in 1 range')]);
    expect(recordOf(top, 4)).toMatchObject({
      review: { missing: [{ from: '2026-03-03T00:00:00.000Z', to: '2026-03-03T01:00:00.000Z', reason: 'gap' }] },
    });
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });

  it.each([
    [['--note', 'SEC-41'], '--note is recorded with --sign-off only'],
    [['--sign-off', '--note', '4111 1111 1111 1111'], 'must not contain a card number'],
    [['--sign-off', '--by', 'a\nb'], 'one line'],
    [['--sign-off', '--by', ' '], 'must not be empty'],
    [['--sign-off', '--note', 'x'.repeat(501)], 'must not have more than 500 characters'],
    [['--status', '--sign-off'], '--status lists days'],
    [['--within', '3d'], '--within is about --status'],
  ])('svc logs review refuses %j', async (argv, words) => {
    const { code, stderr } = await review(await archive(), ...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toContain('4111');
  });

  it('svc logs review --sign-off works while an archive follows, and leaves no file behind', async () => {
    const top = await archive();
    await openStore(top).lock(async () => {
      expect((await review(top, ...SIGN)).code).toBe(0);
    });
    expect(fs.readdirSync(top).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

it('svc logs review and access --sign-off need --by where the account has no name, and record its number', async () => {
  const top = await archive();
  const clock = new FakeClock({ start: NOW });
  const nobody = { clock, cwd: path.dirname(top), account: { uid: 65_532 }, env: { USER: 'ana' } };
  const line = ['logs', 'review', top, '--day', '2026-03-02', '--sign-off'];
  const access = ['logs', 'access', top, '--since', '2026-03-01', '--dormant', '2592000s', '--strict', '--sign-off'];
  for (const argv of [line, access]) {
    const refused = await svcHere(argv, nobody);
    expect([refused.code, errorIn(refused)['message'], errorIn(refused)['next']]).toEqual([
      2,
      expect.stringMatching(/uid 65532@\S+ \(claimed: ana\)/),
      `svc ${argv.join(' ')} --by <name>`,
    ]);
  }
  expect((await svcHere([...line, '--by', 'Ana'], nobody)).code).toBe(0);
  expect(recordOf(top, 4)).toMatchObject({
    review: { by: 'Ana', account: expect.stringMatching(/^uid 65532@\S+ \(claimed: ana\)$/) },
  });
});

describe('svc logs review --status', () => {
  it('svc logs review --status lists the days with their reviews', async () => {
    const top = await archive();
    await review(top, ...SIGN, '--note', 'SEC-41');
    const { code, stdout, stderr } = await review(top, '--status');
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(rows).toMatchObject([
      { day: '2026-03-01', state: 'open', entries: 1, reviews: 0, by: null },
      {
        day: '2026-03-02',
        state: 'reviewed',
        reviews: 1,
        by: 'Ana',
        note: 'SEC-41',
        findings: { deletions: 1 },
        record: 4,
      },
      { day: '2026-03-03', state: 'open', missing: ['gap'] },
    ]);
    expect(stderr).toContain('1 reviewed, 2 open, 0 not in the archive');
    const before = await review(top, '--status', '--since', '2026-02-27');
    expect(JSON.parse(before.stdout.split('\n')[0] ?? '')).toMatchObject({
      day: '2026-02-27',
      state: 'uncovered',
      missing: ['before the archive'],
    });
  });

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

  it('svc logs review --status --within ends with 14 where the archive stopped after a gap', async () => {
    const stopped = [{ to: START + 2 * DAY }, { to: START + 2 * DAY + HOUR, gap: true }];
    const { top } = await buildArchive(START, stopped);
    const { code } = await review(top, '--status', '--since', '2026-03-03', '--within', '1h');
    expect(code).toBe(14);
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
