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

it('R93: columns without a header that changed places since the last month stop svc au refresh, named again or not', async () => {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['S-0', 'S-1', 'S-2'] });
  const tokens = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n').slice(1, 21);
  const write = (cells: (at: number) => string): void => {
    const rows = tokens.map((line, at) => `${line.split(',')[0]},05,31,${cells(at)}\n`);
    writeFileSync(desk.home.file('e.csv'), rows.join(''));
  };
  const columns = '--columns token,month,year,merchant,-';
  write((at) => `S-${at % 3},${7000 + at}`);
  succeeded(await desk.svc(`au refresh e.csv --cycle 2026-10 ${columns}`));
  await desk.clock.advance(31 * 24 * 3_600_000);
  // Neither a cycle of one row nor another portfolio is a month of this export.
  writeFileSync(desk.home.file('one.csv'), '00000000-0000-4000-8000-000000000099,05,31,S-0,1\n');
  const others = tokens.map((_, at) => `00000000-0000-4000-9000-0000000000${10 + at},05,31,S-0,1\n`);
  writeFileSync(desk.home.file('others.csv'), others.join(''));
  const accepted = '--accept columns --fail-on err=100%';
  for (const name of ['one', 'others'])
    succeeded(await desk.svc(`au refresh ${name}.csv --cycle ${name} ${columns} ${accepted}`));
  ended(await desk.svc(`au refresh e.csv --cycle 2026-11 ${columns} --dry-run`), 0, { uploads: 3 });
  write((at) => `${7000 + at},S-${at % 3}`);
  const line = 'au refresh e.csv --cycle 2026-11';
  for (const more of ['', ` ${columns}`, ' --dry-run'])
    ended(await desk.svc(line + more), 13, {
      uploads: 3,
      error: {
        message: expect.stringMatching(/^only 0\.0% of the rows .* were in cycle \S+, .* --columns may name/),
        next: `svc ${line}${more.replace('merchant,-', 'merchant_id,-').replace('month,year', 'expiration_month,expiration_year')} --accept columns`,
      },
    });
  ended(await desk.svc(`${line} --columns token,month,year,-,merchant`), 0, { uploads: 4 });
  await desk.clock.advance(31 * 24 * 3_600_000);
  ended(await desk.svc(`au refresh e.csv --cycle 2026-12 ${columns} ${accepted}`), 0, { uploads: 5 });
  expect(optionsIn(desk, '2026-12').flat()).not.toContain('--accept');
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
