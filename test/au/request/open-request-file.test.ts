import { describe, expect, it } from 'vitest';
import { explainWarnings, refusedFile } from '../../../src/au/request/open-request-file.ts';
import { problemsOf } from '../../../src/cli/output/error-report.ts';
import type { RequestFileCheck } from '../../../src/au/request/request-file.ts';
import { checked, HEADER } from '../rows.ts';

function explained(check: RequestFileCheck): readonly string[] {
  return problemsOf(refusedFile(check, 'tokens.csv'));
}

describe('what is said of a refused file', () => {
  it('R39: the error for a refused file names line, column and fix of the first 20 problems, and counts the others', async () => {
    const wrong = Array.from({ length: 1_022 }, (_, at) => `t${at},2026,13,`);
    const check = await checked(`${HEADER}\n${wrong.join('\n')}\n`);
    const lines = explained(check);
    expect(lines.slice(0, 2)).toEqual([
      'line 2, expiration_year: "2026" is not a year of 2 digits',
      'line 2, expiration_month: "13" is not a month from 01 to 12',
    ]);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('and 2024 more');
  });

  it.each([
    ['4111', 'a value of 4 characters'],
    ['1', '"1"'],
    ['2031', '"2031"'],
    ['May', 'a value of 3 characters'],
    ['1234567890', 'a value of 10 characters'],
  ])(
    'the error for a refused file repeats of the cell %s only what cannot be a piece of a card number',
    async (cell, shown) => {
      const check = await checked(`${HEADER}\nx,26,${cell},\n`);
      expect(explained(check)).toEqual([`line 2, expiration_month: ${shown} is not a month from 01 to 12`]);
    },
  );
});

it('R39: the warning of repeated rows counts them and names the first', async () => {
  const [two, many] = await Promise.all([2, 25].map((rows) => checked(`${HEADER}\n${'x,,,\n'.repeat(rows)}`)));
  expect(explainWarnings(two!, two!)).toEqual([
    '1 row repeats the token and merchant of an earlier row and is left out: line 3 (that of line 2)',
  ]);
  expect(explainWarnings(many!, many!)).toEqual([
    '24 rows repeat the token and merchant of an earlier row and are left out: line 3 (that of line 2), line 4 (that of line 2), line 5 (that of line 2) …',
  ]);
});
