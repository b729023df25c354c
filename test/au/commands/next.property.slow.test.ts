import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import type { GroupCounts } from '../../../src/au/result-codes.ts';
import { HEADER, RESULT_HEADER, place } from './next-request.ts';

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
      const result = succeeded(await next('--out', 'n.csv', '--excluded', 'd.csv', '--force'));
      const made = JSON.parse(result.stdout) as { rows: number; groups: GroupCounts; unchanged: number };
      expect(made.rows + made.groups.exclude).toBe(rows.length);
      expect(Object.values(made.groups).reduce((sum, count) => sum + count, made.unchanged)).toBe(rows.length);
      expect(read('d.csv').trimEnd().split('\n')).toHaveLength(made.groups.exclude + 1);
      // Without rows the request is invalid, and `au check` refuses it.
      ended(await check('n.csv'), made.rows > 0 ? 0 : 13);
      const untouched = lines.filter((_, at) => rows[at]?.answer === null);
      expect(read('n.csv').split(/(?<=\n)/)).toEqual(expect.arrayContaining(untouched));
    }),
    { numRuns: 20 },
  );
});
