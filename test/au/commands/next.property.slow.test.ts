import * as fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GroupCounts } from '../../../src/au/result-codes.ts';
import { svcHere } from '../../support/run-here.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const REQUEST = `${HEADER}\na,27,01,M1\nb,27,02,"M,2"\nc,27,03,\nd,,,M1\ne,27,05,M1\nf,27,06,M1\n`;
const RESULT_HEADER =
  'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code';
const RESULTS = `${RESULT_HEADER}
a,27,01,a2,29,11,UPD_PAN
b,27,02,b2,2030,4,UPD_EXP_DATE
c,27,03,,,,WRN_CLOSED_ACCOUNT
d,,,,,,ERR_INVALID_EXP_DATE
e,27,05,,,,WRN_OPT_OUT
`;

function place(files: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-next-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const put = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  for (const [name, text] of Object.entries({ 'q.csv': REQUEST, 'r.csv': RESULTS, ...files })) put(name, text);
  const next = (...words: string[]) => svcHere(['au', 'next', 'q.csv', 'r.csv', ...words], { cwd });
  const check = (name: string) => svcHere(['au', 'check', join(cwd, name)], { cwd });
  return { cwd, put, next, check, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

describe('svc au next', () => {
  it('R39: the request that svc au next writes passes the check, whatever the results say', async () => {
    const { next, check, put, read } = place();
    const codes = ['UPD_PAN', 'UPD_LATER', 'WRN_CLOSED_ACCOUNT', 'WRN_OPT_OUT', 'ERR_INVALID_PAN', 'X', ''];
    const date = fc.constantFrom('', '27', '2031', '5', '12', '13', 'xx', '027');
    const row = fc.record({
      year: fc.constantFrom('', '27'),
      month: fc.constantFrom('', '03'),
      merchant: fc.constantFrom('', 'M1', '"M,""1"""'),
      answer: fc.option(
        fc.record({
          token: fc.oneof(fc.uuid(), fc.constant(''), fc.constant('"t,1"')),
          year: date,
          month: fc.oneof(date, fc.constant('00')),
          code: fc.constantFrom(...codes),
        }),
      ),
    });
    const rows = fc.array(row, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), async (rows, backwards) => {
        const answers = rows.flatMap(({ answer: of, year, month }, at) =>
          of ? [`t${at},${year},${month},${of.token},${of.year},${of.month},${of.code}\n`] : [],
        );
        const lines = rows.map(({ year, month, merchant }, at) => `t${at},${year},${month},${merchant}\n`);
        put('q.csv', `${HEADER}\n${lines.join('')}`);
        put('r.csv', `${RESULT_HEADER}\n${(backwards ? answers.toReversed() : answers).join('')}`);
        const result = await next('--out', 'n.csv', '--excluded', 'd.csv', '--force');
        expect(result.code).toBe(0);
        const made = JSON.parse(result.stdout) as { rows: number; groups: GroupCounts; unchanged: number };
        expect(made.rows + made.groups.exclude).toBe(rows.length);
        expect(Object.values(made.groups).reduce((sum, count) => sum + count, made.unchanged)).toBe(rows.length);
        expect(read('d.csv').trimEnd().split('\n')).toHaveLength(made.groups.exclude + 1);
        // Without rows the request is invalid, and `au check` refuses it.
        expect((await check('n.csv')).code).toBe(made.rows > 0 ? 0 : 13);
        const untouched = lines.filter((_, at) => rows[at]?.answer === null);
        expect(read('n.csv').split(/(?<=\n)/)).toEqual(expect.arrayContaining(untouched));
      }),
      { numRuns: 60 },
    );
  });
});
