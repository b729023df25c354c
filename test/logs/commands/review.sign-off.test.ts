import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { recordPath } from '../../../src/logs/archive/records/record.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, rowsIn, svcHere } from '../../support/run-here.ts';
import { buildArchive } from '../archive/build.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { DAY, HOUR, NOW, SIGN, START, archive, recordOf, review, reviewAt } from './signing.ts';

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
    [['--status', '--verbose'], '--status lists days'],
    [['--status', '--force'], '--status lists days'],
    [['--status', '--since', '2026-04-01'], '--since takes a time in the past'],
    [['--within', '3d'], '--within is about --status'],
  ])('svc logs review refuses %j', async (argv, words) => {
    const { code, stderr } = await review(await archive(), ...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toMatch(SHOWN_DIGITS);
  });
});

it('svc logs review --sign-off needs --by, for a day and for access, where the account has no name, and record its number', async () => {
  const top = await archive();
  const clock = new FakeClock({ start: NOW });
  const nobody = { clock, cwd: path.dirname(top), account: { uid: 65_532 }, env: { USER: 'ana' } };
  const line = ['logs', 'review', top, '--day', '2026-03-02', '--sign-off'];
  const access = [
    'logs',
    'review',
    top,
    '--access',
    '--since',
    '2026-03-01',
    '--dormant',
    '720h',
    '--strict',
    '--sign-off',
  ];
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
    const rows = rowsIn<object>(stdout);
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

  it('svc logs review --status --within ends with 14 where the archive stopped after a gap', async () => {
    const stopped = [{ to: START + 2 * DAY }, { to: START + 2 * DAY + HOUR, gap: true }];
    const { top } = await buildArchive(START, stopped);
    const { code } = await review(top, '--status', '--since', '2026-03-03', '--within', '1h');
    expect(code).toBe(14);
  });
});
