import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkRequestFile } from '../../../src/au/request/check-request-file.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { ended, svcHere } from '../../support/run-here.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const DATED = '41111111111111111229';
const LIKE_A_CARD = '411111111111111199999';

function place(text: string) {
  const cwd = temporaryDirectory();
  const file = join(cwd, 'tokens.csv');
  writeFileSync(file, text);
  const out = join(cwd, 'p.csv');
  const svc = (...words: string[]) => svcHere(words, { cwd, home: cwd });
  return {
    file,
    out,
    all: () => [
      () => svc('au', 'check', file),
      () => svc('au', 'submit', file, '--dry-run', '--sandbox'),
      () => svc('au', 'prepare', file, '--out', out),
    ],
  };
}

it.each([
  ['as a token', `${DATED},29,12,`],
  ['as a merchant', `a,29,12,${DATED}`],
  ['quoted', `"${DATED}",29,12,`],
])('R40 a card number with a date attached, %s, is refused by check, submit and prepare', async (_, row) => {
  const { all, out } = place(`${HEADER}\nb,,,\n${row}\n`);
  for (const run of all())
    ended(await run(), 13, '"line":3,"rule":"card_number"', { stdout: '', unsaid: SHOWN_DIGITS });
  expect(existsSync(out)).toBe(false);
});

it('other digits attached to a card number are a warning that names the line, in check, submit and prepare', async () => {
  const rows = [`${LIKE_A_CARD},,,`, 'b,,,', `c,,,"${LIKE_A_CARD}"`, `é,,,${LIKE_A_CARD}`, `00${LIKE_A_CARD},,,`];
  const { all, out, file } = place(`${HEADER}\n${rows.join('\n')}\n`);
  for (const run of all()) {
    ended(await run(), 0, '4 rows have digits that begin or end like a card number (lines 2, 4, 5, …): check that', {
      unsaid: SHOWN_DIGITS,
    });
  }
  expect(readFileSync(out, 'utf8')).toContain(LIKE_A_CARD);
  for (const disableFastPath of [false, true]) {
    const check = await checkRequestFile((await fileSource(file)).open(), { disableFastPath });
    expect(check.attachedDigits).toEqual({ count: 4, first: [2, 4, 5, 6] });
  }
});
