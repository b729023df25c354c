import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
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
  ended(
    await desk.svc('au refresh october.csv --cycle 2026-10'),
    0,
    `read as in cycle 2026-10: ${WORDS.replace(' --keep', ' --keep')}\n`,
    { uploads: 1 },
  );
  writeExport(desk, 'november.csv', HEADER, '\n');
  ended(await desk.svc('au refresh november.csv --cycle 2026-11 --pay-again'), 0, 'read as in cycle 2026-10: ');
  expect(optionsIn(desk, '2026-11')).toEqual(optionsIn(desk, '2026-10'));
});

it('svc au refresh changes what it remembers by the options typed, and asks again for another header', async () => {
  const desk = await openQuickDesk();
  writeExport(desk, 'october.csv', HEADER);
  succeeded(await desk.svc(`au refresh october.csv --cycle 2026-10 ${WORDS}`));
  ended(
    await desk.svc('au refresh october.csv --cycle 2026-11 --pay-again --map merchant_id=shop --dry-run'),
    0,
    'read as in cycle 2026-10: --map token=card_ref --map expiration=card_end --map merchant_id=shop --keep customer\n',
  );
  writeExport(desk, 'other.csv', HEADER.replace('customer', 'client'));
  ended(await desk.svc('au refresh other.csv --cycle 2026-11 --pay-again'), 13, {
    error: { message: expect.stringContaining('no column is known to contain the tokens') },
    unsaid: 'read as in',
  });
});

it.each([
  [
    '--map expiration_year=y --map expiration_month=m --empty NA',
    '--map expiration=end',
    '--map expiration=end --empty NA',
  ],
  [
    '--map expiration=end --no-empty',
    '--map expiration_year=y --map expiration_month=m',
    '--map expiration_year=y --map expiration_month=m --no-empty',
  ],
  ['--no-expiration --no-empty', '--empty NA', '--no-expiration --empty NA'],
  ['--no-expiration --empty NA', '--no-empty', '--no-expiration --no-empty'],
])('svc au refresh reads an export that it read with %s with what is typed: %s', async (first, typed, read) => {
  const desk = await openQuickDesk();
  const [token] = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n')[1]?.split(',') ?? [];
  writeFileSync(desk.home.file('export.csv'), `card_ref;y;m;end;mid\n${token};31;05;06/31;NA\n`);
  succeeded(await desk.svc(`au refresh export.csv --cycle 2026-10 --map token=card_ref ${first}`));
  ended(
    await desk.svc(`au refresh export.csv --cycle 2026-11 --pay-again ${typed} --dry-run`),
    0,
    `read as in cycle 2026-10: --map token=card_ref ${read}\n`,
  );
});
