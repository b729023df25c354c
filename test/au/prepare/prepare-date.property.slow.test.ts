import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DATE_ORDERS } from '../../../src/au/prepare/date-orders.ts';
import { readExpiration } from '../../../src/au/prepare/prepare-date.ts';

const SOAK = process.env['SOAK'] === '1';

function serialOf(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(1899, 11, 30)) / 86_400_000);
}

it('an expiration in one cell reads every day of the century from all whole forms as its month', () => {
  const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(day, fc.constantFrom('-', '/', '.', ' '), (date, sign) => {
      const [y = '', m = '', d = ''] = date.toISOString().slice(0, 10).split('-');
      const name = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(date);
      const expected = { year: y.slice(2), month: m, day: Number(d) };
      expect(readExpiration([d, m, y].join(sign), ['dmy'])).toEqual(expected);
      expect(readExpiration([m, d, y.slice(2)].join(sign), ['mdy'])).toEqual(expected);
      expect(readExpiration([y.slice(2), m, d].join(sign), ['ymd'])).toEqual(expected);
      expect(readExpiration(String(serialOf(date)), ['serial'])).toEqual(expected);
      for (const orders of [[], ...DATE_ORDERS.map((order) => [order])])
        for (const cell of [
          [y, m, d],
          [d, name, y],
        ].map((parts) => parts.join(sign)))
          expect(readExpiration(cell, orders)).toEqual(expected);
      expect(readExpiration([name.slice(0, 3), y].join(sign))).toEqual({ ...expected, day: undefined });
    }),
    { numRuns: SOAK ? 100_000 : 500 },
  );
});

it('an expiration in one cell reads a date in one way or not at all', () => {
  const cell = fc.stringMatching(/^(?:[0-9]{1,4}|Mar)[-/. ]?(?:[0-9]{0,4}|Mar)(?:[-/. ][0-9]{1,4})?$/);
  fc.assert(
    fc.property(cell, (text) => {
      const found = readExpiration(text);
      const dateIn = (order: (typeof DATE_ORDERS)[number]): string[] => {
        const each = readExpiration(text, [order]);
        return each && 'year' in each ? [each.year + each.month] : [];
      };
      const dates = DATE_ORDERS.filter((order) => order !== 'serial').flatMap(dateIn);
      const expected = found && 'year' in found ? [found.year + found.month] : [];
      const isOpen = found !== undefined && 'orders' in found;
      expect(new Set(isOpen ? [] : dates)).toEqual(new Set(expected));
      expect(isOpen ? found.orders.every((order) => dateIn(order).length === 1) : true).toBe(true);
    }),
    { numRuns: SOAK ? 100_000 : 1_200 },
  );
});
