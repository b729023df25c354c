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

  it('R39: the error for a refused file ends in one failure with exit code 13 and the problems as facts', async () => {
    const error = refusedFile(await checked(`${HEADER}\nx,26,13,\n`), 'tokens.csv');
    expect(error.exitCode).toBe(13);
    expect(error.message).toBe('tokens.csv is refused: 1 problem');
    expect(error.hint).toContain('Fix these lines');
    expect(error.facts).toEqual({
      file: 'tokens.csv',
      problem_count: 1,
      problems: [{ line: 2, column: 'expiration_month', rule: 'month', problem: '"13" is not a month from 01 to 12' }],
    });
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

  it.each([
    ['token\nx\n', `the first line is not the header ${HEADER}`],
    [`${HEADER.replaceAll(',', ';')}\n`, `the first line is not the header ${HEADER}`],
    [Buffer.from('\ufefftoken', 'utf16le'), 'the file is UTF-16 (little-endian) text: save it as CSV in UTF-8'],
    [Buffer.from('tok\u00e9n\n', 'latin1'), 'the header is not UTF-8 (byte 0xE9): save the file as UTF-8'],
  ])('the error for a refused file says what was found in the header %j', async (file, said) => {
    expect(explained(await checked(file))).toEqual([`line 1: ${said}`]);
  });

  it('the error for a refused file says which byte of which line is not UTF-8', async () => {
    const file = Buffer.concat([Buffer.from(`${HEADER}\nx€,26,12,M`), Buffer.from([0x93]), Buffer.from('\n')]);
    expect(explained(await checked(file))).toEqual(['line 2: is not UTF-8 (byte 0x93): save the file as UTF-8']);
  });
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
