import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compareWithLastCycle } from '../../../src/au/results/trend.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const WEEK = 7 * 86_400_000;

/** Returns the claim of a job with this many rows, made in the month of its number. */
function claimed(job: string, rows: number) {
  return { kind: 'claim', job, rows, at: `2026-0${job.at(-1)}-01T00:00:00Z` };
}

/** Returns that the results of a job were read, with these counts. */
function read(job: string, counts: Readonly<Record<'updated' | 'warned' | 'errors', number>>) {
  const { updated, warned, errors } = counts;
  const codes = { UPD_PAN: updated, WRN_OPT_OUT: warned, ERR_INVALID_TOKEN: errors };
  return { kind: 'done', job, results: { codes: Object.entries(codes).map(([code, rows]) => ({ code, rows })) } };
}

/** Submits the example file in two cycles, a month apart. */
async function twoCycles(edit: (desk: QuickDesk) => void): Promise<QuickDesk> {
  const desk = await openQuickDesk();
  const first = await desk.svc('au submit tokens.csv --cycle 2026-01 --wait --out one.csv');
  expect(first.stderr).not.toContain('(2026-');
  await desk.clock.advance(4 * WEEK);
  edit(desk);
  return desk;
}

it('the results of a cycle are shown beside the shares of the last one by submit and resume', async () => {
  const desk = await twoCycles(() => undefined);
  const shares = /updated \d+\.\d% \(2026-01: \d+\.\d%\), warned .*, errors /;
  ended(await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv'), 0, shares);
  ended(await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv'), 0, shares);
  const table = await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv -o table');
  expect(table.stdout).toMatch(shares);
  expect(table.stderr).not.toMatch(shares);
  await desk.clock.advance(4 * WEEK);
  await desk.svc('au submit tokens.csv --cycle 2026-03');
  ended(await desk.svc('au resume'), 0, '(2026-02: ');
});

it('a share of at least 50 rows that is three times that of the last cycle is said first', async () => {
  const desk = await twoCycles(({ home }) => {
    const failed = new Set(readFileSync(home.file('one.csv'), 'utf8').match(/^[^,]+(?=.*ERR_)/gm));
    const rows = readFileSync(home.file('tokens.csv'), 'utf8').trimEnd().split('\n');
    writeFileSync(home.file('tokens.csv'), `${rows.filter((row) => !failed.has(row.slice(0, 36))).join('\n')}\n`);
  });
  await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv');
  await desk.clock.advance(4 * WEEK);
  const unknown = Array.from(
    { length: 60 },
    (_, at) => `11111111-2222-4333-8444-${String(at).padStart(12, '0')},30,01,\n`,
  );
  appendFileSync(desk.home.file('tokens.csv'), unknown.join(''));
  const { stderr } = await desk.svc('au submit tokens.csv --cycle 2026-03 --wait --out three.csv');
  expect(stderr).toMatch(
    /errors: 60 rows \(\d\d\.\d%\), compared with 0\.0% in cycle 2026-02: check the export and the profile/,
  );
});

it('a later file of a cycle is compared with the last cycle, and not with an earlier file of its own', async () => {
  const desk = await twoCycles(({ home }) => {
    const [header = '', ...rows] = readFileSync(home.file('tokens.csv'), 'utf8').trimEnd().split('\n');
    writeFileSync(home.file('half.csv'), [header, ...rows.slice(20), ''].join('\n'));
  });
  succeeded(await desk.svc('au submit half.csv --cycle 2026-02 --wait'));
  await desk.clock.advance(WEEK);
  const { stderr } = succeeded(await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv'));
  expect([stderr.includes('(2026-01: '), stderr.includes('(2026-02: ')], stderr).toEqual([true, false]);
});

it('results of a file without a cycle are not compared with', async () => {
  const desk = await openQuickDesk();
  succeeded(await desk.svc('au submit tokens.csv --wait --out one.csv'));
  await desk.clock.advance(4 * WEEK);
  ended(await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv --pay-again'), 0, {
    unsaid: /updated \d+\.\d% \(/,
  });
});

it.each([
  ['more errors', { updated: 10, warned: 0, errors: 5 }, 'errors'],
  ['fewer updates', { updated: 400, warned: 0, errors: 60 }, 'updated'],
  ['fewer errors and more updates', { updated: 1, warned: 0, errors: 900 }, undefined],
  ['a share within a factor of three', { updated: 30, warned: 0, errors: 21 }, undefined],
])('a comparison with the last cycle warns only of a turn for the worse (%s)', async (_, counts, name) => {
  const entries = new Map([
    ['2026-01', [claimed('job-1', 1_000), read('job-1', counts)]],
    ['2026-02', [claimed('job-2', 1_000)]],
  ]);
  const cycle = (of: string) => ({ read: async () => entries.get(of), readFirst: async () => entries.get(of)?.[0] });
  const ledger = { open: async () => ({ cycle, cycleNames: async () => [...entries.keys()] }) };
  const of = { ledger, tenant: 'ours', cycle: '2026-02' };
  const trend = await compareWithLastCycle(of as never, { updated: 60, warned: 0, errors: 60, rows: 1_000 });
  expect(trend?.jump?.split(':')[0]).toBe(name);
});
