import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from '../archive/build.ts';
import { archive, DAILY, DAY, entry, HOUR, NOW, PAST, review, YESTERDAY } from './reviewing.ts';

describe('svc logs review', () => {
  it('svc logs review prints one object about yesterday for programs, and exits with 10 for findings', async () => {
    const { code, stdout, stderr } = await review(await archive());
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({
      tenant_id: TENANT,
      day: '2026-03-01',
      entries: 2,
      missing: [],
      past_days: 20,
      deletions: [{ operation: 'delete', entity_type: 'card', actor_id: 'known', count: 1 }],
      changes: [{ entity_type: 'application', operation: 'update', count: 1 }],
      new_actors: [{ entity_type: null, count: 1 }],
      new_operations: [{ operation: 'delete' }, { operation: 'update' }],
    });
    expect(stdout).not.toContain('secret words');
    expect(errorIn({ stderr })).toMatchObject({
      code: 'threshold',
      message:
        '2026-03-01 has findings to look at: deletions 1, changes 1, new actors 1 with 1 entry, new operations 2 with 2 entries',
      findings: { deletions: 1, changes: 1, new_actors: 1, new_operations: 2 },
    });
    expect(errorIn({ stderr })['next']).toMatch(/svc logs search .* --since 2026-03-01 --until 2026-03-02$/);
  });

  it('svc logs review exits with 0 for an ordinary day, and says so in words', async () => {
    const { code, stdout } = await review(await archive([entry(YESTERDAY + HOUR)]), '-o', 'table');
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'Log review of 2026-03-01 (UTC)',
        `1 log entry of tenant ${TENANT} at https://vault.example`,
        'the archive covers the whole day',
        '',
        'Deletions: nothing was deleted',
        'Changes of applications, keys and tenant: nothing of these was changed',
        'Actors not seen in the 30 days before: no new actors',
        'Operations not seen in the 30 days before: no new operations',
        'Entries by hour since 2026-03-01 00:00:00Z',
        `  ▁█${'▁'.repeat(22)}`,
        '  peak: 1 at 2026-03-01 01:00:00Z',
        '',
      ].join('\n'),
    );
  });

  it('an actor whose only entry has no readable time is new, although the entry may also be of the day before', async () => {
    const timeless = entry(0, { created_at: 'lately', actor_id: 'stranger' });
    const { top } = await buildArchive(YESTERDAY - 20 * DAY, [
      { to: YESTERDAY - HOUR, entries: PAST },
      { to: YESTERDAY + HOUR, entries: [timeless] },
      { to: NOW },
    ]);
    const { stdout } = await review(top, '--day', '2026-03-01');
    expect(JSON.parse(stdout)).toMatchObject({ timeless: 1, new_actors: [{ actor_id: 'stranger' }] });
  });

  it('R61: a signed review of a day whose only entry has no readable time verifies', async () => {
    const deleted = { created_at: 'lately', operation: 'delete' };
    const { top } = await buildArchive(YESTERDAY, [{ to: NOW, entries: [entry(0, deleted), entry(1, deleted)] }]);
    expect((await review(top, '--sign-off')).code).toBe(0);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
  });

  it.each([
    ['--within 3d', '--within is about --status', 'Add --status, or name one day with --day.'],
    ['--since 7d', '--since is about --status and --access', 'Add --status or --access, or name one day with --day.'],
    ['--dormant 30d', '--dormant is about --access', 'Add --access, or name one day with --day.'],
    [
      '--access --day today',
      '--access lists actors, and cannot be combined with --day, --status or --verbose',
      'Run the command twice.',
    ],
    [
      '--status --day today',
      '--status lists days, and cannot be combined with --day, --html, --force, --verbose or --sign-off',
      'Run the command twice.',
    ],
    [
      '--status --strict',
      '--strict is about one day, and does not change the exit code of --status',
      'Give --status a --within, such as --within 3d, or leave --status out.',
    ],
  ])('svc logs review %s is refused with a hint that helps', async (line, message, hint) => {
    const refused = await review(await archive(), ...line.split(' '));
    expect([refused.code, errorIn(refused)]).toEqual([2, expect.objectContaining({ message, hint })]);
  });

  it('R76: svc logs review states a gap first, prints and counts the findings, and exits with 14', async () => {
    const top = await archive(DAILY, true);
    const shown = await review(top, '-o', 'table');
    expect([shown.code, shown.stdout.split('\n')[2]]).toEqual([
      14,
      'entries may be missing from 2026-03-01 03:00:00Z to 2026-03-01 04:00:00Z: gap',
    ]);
    expect(shown.stdout).toContain('Deletions: 1');
    const rows = await review(top);
    expect([rows.code, errorIn(rows)['code']]).toEqual([14, 'entries_missing']);
    expect(errorIn(rows)).toMatchObject({
      next: `svc logs review ${top} --day 2026-03-01 --sign-off`,
      findings: { deletions: 1, changes: 1 },
      message: expect.stringContaining(
        '; findings to look at in the rest: deletions 1, changes 1, new actors 1 with 1',
      ),
    });
    expect(JSON.parse(rows.stdout)).toMatchObject({ missing: [{ reason: 'gap' }], deletions: [{ count: 1 }] });
  });

  it('svc logs review only mentions the rest of today and hours before the archive, and exits with 14 for them with --strict', async () => {
    const { top } = await buildArchive(YESTERDAY + 5 * HOUR, [{ to: NOW, entries: [] }]);
    const first = await review(top);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('before the archive')]);
    expect((await review(top, '--strict')).code).toBe(14);
    const today = await review(top, '--day', 'today');
    expect([today.code, JSON.parse(today.stdout)]).toEqual([
      0,
      expect.objectContaining({
        day: '2026-03-02',
        missing: [expect.objectContaining({ reason: 'not archived yet' })],
      }),
    ]);
    expect((await review(top, '--day', 'today', '--strict')).code).toBe(14);
  });

  it('svc logs review names the sign-off only for a day that is over', async () => {
    const deletion = entry(NOW - HOUR, { operation: 'delete' });
    const { top } = await buildArchive(YESTERDAY, [{ to: NOW, entries: [...DAILY, deletion] }]);
    const over = await review(top);
    expect([over.code, errorIn(over)['alternatives']]).toEqual([10, [expect.stringMatching(/ --sign-off$/)]]);
    const today = await review(top, '--day', 'today');
    expect([today.code, errorIn(today)['hint'], errorIn(today)['alternatives']]).toEqual([
      10,
      'Look at each. The day can be signed off at 2026-03-03 00:00:00Z.',
      undefined,
    ]);
  });

  it.each(['2026-02-30', '2d', 'tomorrow', '2026-03-03'])('svc logs review refuses the day %s', async (typed) => {
    expect((await review(await archive(), '--day', typed)).code).toBe(2);
  });

  it('R33: svc logs review exits with 5 where there is no archive, and with 12 for a changed byte', async () => {
    const top = await archive();
    expect((await review(path.join(top, 'none'))).code).toBe(5);
    const segment = filesIn(top).find((file) => /^tenant=.*date=2026-03-01/.test(file)) ?? '';
    const bytes = fs.readFileSync(path.join(top, segment));
    const middle = bytes.length >> 1;
    fs.writeFileSync(path.join(top, segment), bytes.fill((bytes[middle] ?? 0) ^ 1, middle, middle + 1));
    expect((await review(top)).code).toBe(12);
  });
});
