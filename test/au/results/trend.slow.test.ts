import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const WEEK = 7 * 86_400_000;

/** Submits the example file in two cycles, a month apart. */
async function twoCycles(edit: (desk: QuickDesk) => void): Promise<QuickDesk> {
  const desk = await openQuickDesk();
  const first = await desk.svc('au submit tokens.csv --cycle 2026-01 --wait --out one.csv');
  expect(first.stderr).not.toContain('in brackets');
  await desk.clock.advance(4 * WEEK);
  edit(desk);
  return desk;
}

it('the results of a cycle are shown beside the shares of the last one: submit, wait, sync, report, page and summary', async () => {
  const desk = await twoCycles(() => undefined);
  const shares = /in brackets, cycle 2026-01: updated \d+\.\d% \(\d+\.\d%\), warned .*, errors /;
  const submitted = await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv --summary sum.md');
  expect([submitted.code, submitted.stderr]).toEqual([0, expect.stringMatching(shares)]);
  expect(readFileSync(desk.home.file('sum.md'), 'utf8')).toMatch(shares);
  const run = desk.runIds().find((id) => desk.record(id).cycle === '2026-02');
  expect((await desk.svc(`au wait ${run}`)).stderr).toMatch(shares);
  const report = await desk.svc('au report two.csv --html report.html');
  expect([report.code, report.stderr]).toEqual([0, expect.stringMatching(shares)]);
  expect(readFileSync(desk.home.file('report.html'), 'utf8')).toMatch(shares);
  await desk.clock.advance(4 * WEEK);
  await desk.svc('au submit tokens.csv --cycle 2026-03');
  const synced = await desk.svc('au sync');
  expect([synced.code, synced.stderr]).toEqual([0, expect.stringContaining('in brackets, cycle 2026-02')]);
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
    /errors: 60 rows \(\d\d\.\d%\), far from the 0\.0% of cycle 2026-02: is the profile wrong, or the export\?/,
  );
});

it('a run of another tenant, of no cycle, or of an earlier version without counts is not compared with', async () => {
  const desk = await twoCycles(({ change, runIds }) => {
    for (const run of runIds())
      change(run, (record) => Object.assign(record, { tenant_id: 'another', counts: undefined }));
  });
  const { code, stderr } = await desk.svc('au submit tokens.csv --cycle 2026-02 --wait --out two.csv');
  expect([code, stderr.includes('in brackets')]).toEqual([0, false]);
});
