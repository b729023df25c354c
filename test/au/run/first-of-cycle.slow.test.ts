import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const MONTH = 30 * 86_400_000;
const WARNING =
  /warning: only (\S+) of the rows of \S+ were in cycle (\S+), the last of this profile: is the profile wrong/;

async function submit(desk: QuickDesk, cycle: string, rows: readonly string[], more = ''): Promise<string> {
  writeFileSync(desk.home.file(`${cycle}.csv`), [HEADER, ...rows, ''].join('\n'));
  const { code, stderr } = await desk.svc(`au submit ${cycle}.csv --cycle ${cycle} ${more}`.trim());
  expect(code, stderr).toBe(0);
  return stderr;
}

it('the first upload of a cycle says which profile and tenant it is for, and a second file of the cycle does not', async () => {
  const desk = await openQuickDesk();
  expect(await submit(desk, '2026-01', ROWS.slice(0, 3))).toMatch(/^first upload of cycle 2026-01: profile default$/m);
  writeFileSync(desk.home.file('more.csv'), [HEADER, ...ROWS.slice(3, 5), ''].join('\n'));
  const { stderr } = await desk.svc('au submit more.csv --cycle 2026-01');
  expect(stderr).not.toContain('first upload');
  await desk.clock.advance(MONTH);
  expect(await submit(desk, '2026-02', ROWS.slice(0, 5))).toMatch(
    /^first upload of cycle 2026-02: profile default, tenant [0-9a-f-]{36}$/m,
  );
});

it('a file of which hardly a row was in the last cycle is warned of before anything is sent, in a dry run too', async () => {
  const desk = await openQuickDesk();
  expect(await submit(desk, '2026-01', ROWS.slice(0, 20))).not.toMatch(WARNING);
  await desk.clock.advance(MONTH);
  expect(await submit(desk, '2026-02', ROWS.slice(19, 40), '--dry-run')).toMatch(WARNING);
  expect(desk.uploads()).toBe(1);
  const [, share, cycle] = WARNING.exec(await submit(desk, '2026-02', ROWS.slice(19, 40))) ?? [];
  expect([share, cycle]).toEqual(['4.8%', '2026-01']);
  await desk.clock.advance(MONTH);
  // The file is compared with the last cycle only, and a tenth of its rows is enough.
  expect(await submit(desk, '2026-03', [...ROWS.slice(0, 18), ...ROWS.slice(38, 40)])).not.toMatch(WARNING);
});
