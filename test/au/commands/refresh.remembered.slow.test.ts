import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorIn, succeeded } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

function writeExport({ home }: QuickDesk, name: string, header: string, last = ''): void {
  const tokens = readFileSync(home.file('tokens.csv'), 'utf8').split('\n').slice(1, 21);
  const rows = tokens.map((line, at) => [line.split(',')[0], `C-${at}`, '05/31', 'S-1'].join(';'));
  const again = rows.map((row) => row.replace('S-1', 'S-2'));
  writeFileSync(home.file(name), `${[header, ...rows, ...again].join('\n')}\n${last}`);
}

function optionsIn({ home }: QuickDesk, cycle: string): string[][] {
  const record = JSON.parse(readFileSync(home.file(`refresh/${cycle}/refresh.json`), 'utf8')) as {
    exports: { options: string[] }[];
  };
  return record.exports.map(({ options }) => options);
}

const HEADER = 'card_ref;customer;card_end;shop';
const WORDS = '--map token=card_ref --map expiration=card_end --no-merchant --accept repeats --keep customer';

it('svc au refresh remembers how an export is read, in the next command and the next month, and says so in one line', async () => {
  const desk = await openQuickDesk();
  writeExport(desk, 'october.csv', HEADER);
  succeeded(await desk.svc(`au refresh october.csv --cycle 2026-10 ${WORDS}`));
  const again = succeeded(await desk.svc('au refresh october.csv --cycle 2026-10'));
  expect(again.stderr).toContain(`read as in cycle 2026-10: ${WORDS.replace(' --keep', ' --keep')}\n`);
  expect(desk.uploads()).toBe(1);
  writeExport(desk, 'november.csv', HEADER, '\n');
  const next = succeeded(await desk.svc('au refresh november.csv --cycle 2026-11 --pay-again'));
  expect(next.stderr).toContain('read as in cycle 2026-10: ');
  expect(optionsIn(desk, '2026-11')).toEqual(optionsIn(desk, '2026-10'));
});

it('svc au refresh changes what it remembers by the options typed, and asks again for another header', async () => {
  const desk = await openQuickDesk();
  writeExport(desk, 'october.csv', HEADER);
  expect((await desk.svc(`au refresh october.csv --cycle 2026-10 ${WORDS}`)).code).toBe(0);
  const changed = succeeded(
    await desk.svc('au refresh october.csv --cycle 2026-11 --pay-again --map merchant_id=shop --dry-run'),
  );
  expect(changed.stderr).toContain(
    'read as in cycle 2026-10: --map token=card_ref --map expiration=card_end --map merchant_id=shop --keep customer\n',
  );
  writeExport(desk, 'other.csv', HEADER.replace('customer', 'client'));
  const other = await desk.svc('au refresh other.csv --cycle 2026-11 --pay-again');
  expect(other.code).toBe(13);
  expect(errorIn(other)['message']).toContain('no column is known to contain the tokens');
  expect(other.stderr).not.toContain('read as in');
});
