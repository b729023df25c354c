import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { refuseNewer } from '../../../src/base/errors.ts';
import type { HereResult } from '../../support/run-here.ts';
import { type EarlierLedger, openEarlierLedger } from './earlier-ledger.ts';

/** A row that no earlier job has. */
const NEW_ROW = '6c4c85a6-17d3-4347-a302-a0ea9c770ee1,23,12,';

/** Returns the exit code of a command, and its last words where it is another one than expected. */
function codeOf({ code, stderr }: HereResult, expected: number): number | string {
  return code === expected ? code : `${code}: ${stderr}`;
}

/** Returns the rows that the service received since the files were made. */
function sentSince(earlier: EarlierLedger, before: readonly string[]): string[] {
  return earlier.rowsReceived().slice(before.length);
}

/** The commands that submit what the earlier build submitted, as they were typed. */
const LAPTOP = ['au submit ours.csv --cycle 2026-12', 'au submit alone.csv', 'au submit uploaded.csv'];
const RUNNER = ['au submit theirs.csv --cycle 2026-12', 'au submit other.csv', 'au submit sent.csv --cycle 2026-12'];

it('R58: no row that an earlier build sent is sent again by the machines that have its ledgers, nor by a new one', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  for (const line of LAPTOP) expect([line, codeOf(await earlier.laptop(line), 0)]).toEqual([line, 0]);
  for (const line of RUNNER) expect([line, codeOf(await earlier.runner(line), 0)]).toEqual([line, 0]);
  for (const line of RUNNER) expect([line, codeOf(await earlier.newcomer(line), 0)]).toEqual([line, 0]);
  expect(sentSince(earlier, before)).toEqual([]);
});

it('R58: the rows of a file that an earlier build sent are the same in another order, with other dates and as capitals', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  for (const name of ['ours.csv', 'alone.csv', 'theirs.csv', 'other.csv']) {
    const rows = earlier.rowsOf(name).toReversed();
    earlier.writeRows(
      name,
      rows.map((row) => row.replace(/^([^,]+),\d+/, (_, token: string) => `${token.toUpperCase()},31`)),
    );
  }
  for (const line of LAPTOP.slice(0, 2)) expect(codeOf(await earlier.laptop(line), 0)).toBe(0);
  for (const line of RUNNER.slice(0, 2)) expect(codeOf(await earlier.newcomer(line), 0)).toBe(0);
  expect(sentSince(earlier, before)).toEqual([]);
});

it.each(['laptop', 'newcomer'] as const)(
  'R58: beside rows that an earlier build sent, the %s sends only the new one, once, in a claim at which that build stops',
  async (who) => {
    const earlier = await openEarlierLedger();
    const before = earlier.rowsReceived();
    const [name, ledger] = who === 'laptop' ? ['ours.csv', 'state/ledger'] : ['theirs.csv', 'shared'];
    earlier.writeRows(name, [...earlier.rowsOf(name), NEW_ROW]);
    const line = `au submit ${name} --cycle 2026-12`;
    for (let time = 0; time < 2; time += 1) expect(codeOf(await earlier[who](line), 0)).toBe(0);
    expect(sentSince(earlier, before)).toEqual([NEW_ROW]);
    const folder = earlier.path(`${ledger}/${earlier.tenant}/cycles/2026-12`);
    const entries = readdirSync(folder).filter((file) => file.endsWith('.json'));
    const claims = entries.toSorted().flatMap((file) => {
      const entry = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { readonly kind: string };
      return entry.kind === 'claim' ? [entry] : [];
    });
    const newest = claims.at(-1);
    expect(newest).toMatchObject({ kind: 'claim', version: 2, keys: 2, rows: 1 });
    // The earlier build reads each entry with this check, and with version 1.
    expect(() => refuseNewer(newest, 1, 'entry')).toThrow('entry was written by a newer svc (its version is 2)');
  },
);

it('R79: a cycle that begins with rows which an earlier build sent is refused, whatever it is called', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  for (const name of ['ours.csv', 'alone.csv', 'uploaded.csv']) {
    const refused = await earlier.laptop(`au submit ${name} --cycle 2027-01`);
    expect([name, [6, 11].includes(refused.code), refused.code]).toEqual([name, true, refused.code]);
  }
  for (const name of ['theirs.csv', 'other.csv']) {
    const refused = await earlier.newcomer(`au submit ${name} --cycle 2027-01`);
    expect([name, [6, 11].includes(refused.code), refused.code]).toEqual([name, true, refused.code]);
  }
  expect(sentSince(earlier, before)).toEqual([]);
});

it('R85: a token that results made which an earlier build read is not sent in their cycle', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  const made = earlier.rowsOf('theirs.results.csv').map((row) => `${row.split(',')[3] ?? ''},28,12,`);
  earlier.writeRows('made.csv', made);
  const refused = await earlier.newcomer('au submit made.csv --cycle 2026-12');
  expect(refused.stderr).toContain('made: up to date, and not sent');
  expect(sentSince(earlier, before)).toEqual([]);
});

it('R83: without the salt of claims that an earlier build made, nothing is sent: a named cycle and a file without one end with 3', async () => {
  const earlier = await openEarlierLedger();
  const before = earlier.rowsReceived();
  rmSync(earlier.path(`shared/${earlier.tenant}/ledger.json`));
  for (const line of [...RUNNER, 'au submit ours.csv']) {
    const refused = await earlier.newcomer(`${line} --pay-again`);
    expect([line, codeOf(refused, 3)]).toEqual([line, 3]);
    expect(refused.stderr).toContain('ledger.json');
  }
  expect(sentSince(earlier, before)).toEqual([]);
});

it('the results of a cycle that an earlier build began are delivered with those of new jobs', async () => {
  const earlier = await openEarlierLedger();
  earlier.writeRows('theirs.csv', [...earlier.rowsOf('theirs.csv'), NEW_ROW]);
  const waited = await earlier.newcomer('au submit theirs.csv --cycle 2026-12 --wait --force');
  expect(codeOf(waited, 0)).toBe(0);
  expect(earlier.rowsOf('theirs.results.csv').length).toBe(4);
  expect(codeOf(await earlier.newcomer('au resume 2026-12 --wait --out cycle.csv'), 0)).toBe(0);
});
