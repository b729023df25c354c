import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, type Commit, TENANT } from './build.ts';

const BEGIN = Date.UTC(2026, 2, 10);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const END = BEGIN + DAY;
const NOW = END + HOUR;
const WHOLE: readonly Commit[] = [
  { to: END, entries: [{ tenant_id: TENANT, entity_id: 'a', created_at: new Date(BEGIN).toISOString() }] },
];
const WITH_GAP: readonly Commit[] = [
  { to: BEGIN + HOUR },
  { to: BEGIN + 2 * HOUR, gap: true },
  { ...WHOLE[0], to: END },
];

const BEGINS = 'the archive begins at 2026-03-10 00:00:00Z';
const ENDS = 'the archive ends at 2026-03-11 00:00:00Z; ';
const GAP = 'entries may be missing from 2026-03-10 01:00:00Z to 2026-03-10 02:00:00Z';

const CASES: readonly [commits: readonly Commit[], argv: readonly string[], warning: string | undefined][] = [
  [WHOLE, ['--since', '30d', '--until', '20d'], BEGINS],
  [WHOLE, ['--until', '20d'], BEGINS],
  [WHOLE, ['--since', '30d'], BEGINS],
  [WHOLE, ['--since', '30m'], ENDS],
  [WHOLE, ['--until', '30m'], ENDS],
  [WITH_GAP, [], GAP],
  [WITH_GAP, ['--since', '23h', '--until', '22h'], undefined],
  [[], [], 'the archive covers no time yet'],
  [[], ['--since', '1d'], 'the archive covers no time yet'],
  [WHOLE, [], undefined],
  // An archive that is updated every hour ends before the present.
  [WHOLE, ['--since', '3h'], undefined],
  [WHOLE, ['--since', '3h', '--until', '2h'], undefined],
];

it.each(['search', 'stats'])(
  'R76: svc logs %s warns of a requested time that the archive does not cover, which is 14 with --strict',
  async (command) => {
    for (const [commits, argv, warning] of CASES) {
      const { top } = await buildArchive(BEGIN, commits);
      const run = (...more: string[]) =>
        svcHere(['logs', command, top, ...argv, '--quiet', '-o', 'jsonl', ...more], {
          clock: new FakeClock({ start: NOW }),
        });
      const { code, stderr, stdout } = await run();
      const isTold = stderr.includes(`warning: ${warning ?? ''}`);
      expect([argv, code, isTold, stderr === '']).toEqual([argv, 0, warning !== undefined, warning === undefined]);
      const strict = await run('--strict');
      const isNamed = strict.stderr.includes(`not all of the requested time is archived: ${warning ?? ''}`);
      const expected = [argv, warning === undefined ? 0 : 14, warning !== undefined, stdout];
      expect([argv, strict.code, isNamed, strict.stdout]).toEqual(expected);
    }
  },
);

it.each(['search', 'stats', 'review --access'])(
  'svc logs %s --strict names another run of the archive only where it can add what is missing',
  async (command) => {
    const now = END + 3 * DAY;
    const asksFor = async (commits: readonly Commit[], since: string) => {
      const { top } = await buildArchive(BEGIN, commits);
      const clock = new FakeClock({ start: now });
      const { code, stderr } = await svcHere(
        ['logs', ...command.split(' '), top, '--since', since, '--strict', '-o', 'json'],
        { clock },
      );
      const next = String(errorIn({ stderr })['next']);
      const followed = next.includes(' verify ') ? await svcHere(next.split(' ').slice(1), { clock }) : { code: 0 };
      return [code, /^svc logs (\w+)/.exec(next)?.[1], followed.code];
    };
    const fresh: Commit = { to: now };
    expect(await asksFor([...WHOLE, fresh], '30d')).toEqual([14, 'verify', 0]);
    expect(await asksFor([...WITH_GAP, fresh], '2026-03-10')).toEqual([14, 'verify', 0]);
    expect(await asksFor(WHOLE, '2026-03-10')).toEqual([14, 'archive', 0]);
    expect(await asksFor(WITH_GAP, '30d')).toEqual([14, 'archive', 0]);
  },
);

it('svc logs search --strict does not name another run of the archive for a time that is still to come', async () => {
  const { top } = await buildArchive(BEGIN, WHOLE);
  const argv = ['logs', 'search', top, '--until', '2026-03-20', '--strict', '-o', 'json'];
  const { code, stderr } = await svcHere(argv, { clock: new FakeClock({ start: NOW }) });
  expect([code, errorIn({ stderr })['next']]).toEqual([14, `svc logs verify ${top} --manifest-only`]);
});

it('R76: svc logs history --archive --strict ends with 14 where the archive has a gap, and needs an archive', async () => {
  const options = { clock: new FakeClock({ start: NOW }), env: { SVC_API_KEY: '' } };
  for (const [commits, code] of [
    [WHOLE, 0],
    [WITH_GAP, 14],
  ] as const) {
    const { top } = await buildArchive(BEGIN, commits);
    const run = await svcHere(['logs', 'history', 'a', '--archive', top, '--strict'], options);
    expect([run.code, run.stdout.trim().split('\n').length]).toEqual([code, 1]);
  }
  const without = await svcHere(['logs', 'history', 'a', '--strict', '-o', 'json'], options);
  expect([without.code, errorIn(without)['message']]).toEqual([2, '--strict is about an archive']);
});
