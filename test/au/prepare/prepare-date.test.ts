import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DATE_ORDERS, dateOrders, readExpiration } from '../../../src/au/prepare/prepare-date.ts';

const SOAK = process.env['SOAK'] === '1';

function serialOf(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(1899, 11, 30)) / 86_400_000);
}

it.each([
  ['05/27', '2705'],
  ['5-2027', '2705'],
  ['0527', '2705'],
  ['527', '2705'],
  ['202705', '2705'],
  ['2027-05-31', '2705'],
  ['2027-05-31T23:59:59Z', '2705'],
  ['31.05.2027', '2705'],
  ['5/31/2027 12:00:00 AM', '2705'],
  ['20270531', '2705'],
  ['31052027', '2705'],
  ['31122029', '2912'],
  ['12312029', '2912'],
  ['Mar-29', '2903'],
  ['mar29', '2903'],
  ['March 2029', '2903'],
  ['2029 Mar', '2903'],
  ['31-Mar-2029', '2903'],
  ['31MAR2029', '2903'],
  ['March 31, 2029', '2903'],
  ['Sept. 2029', '2909'],
  ['05/05/2027', '2705'],
])('the date %s is read without an order', (cell, date) => {
  const { year, month } = Object(readExpiration(cell)) as Record<string, string>;
  expect(`${year}${month}`).toBe(date);
});

it.each([
  ['05/06', ['my', 'ym']],
  ['05/06/2027', ['dmy', 'mdy']],
  ['05062027', ['dmy', 'mdy']],
  ['05/06/07', ['dmy', 'mdy', 'ymd']],
  ['31-Mar-29', ['dmy', 'ymd']],
  ['29-Mar', ['ym']],
  ['46538', ['serial']],
  ['46538.5', ['serial']],
])('the date %s is ambiguous, and each order that it names decides', (cell, orders) => {
  expect(readExpiration(cell)).toEqual({ orders });
  for (const order of orders) expect(readExpiration(cell, [order as 'my'])).toHaveProperty('year');
});

it.each(['', '13/27x', '2027', '5-Mar', 'Mrz-29', '30/02/2027', '2027-02-30', '00/27', '05/1927', '4111111111111111'])(
  'the date %s is no expiration',
  (cell) => {
    expect(readExpiration(cell)).toBeUndefined();
  },
);

it('an expiration in one cell of two digits a part is read as the order says, though only another order makes a date of it', () => {
  expect(readExpiration('05/27', ['ym'])).toBeUndefined();
  expect(readExpiration('05/31/2027', ['dmy'])).toBeUndefined();
  expect(readExpiration('29-Mar', ['my'])).toBeUndefined();
});

it('an expiration in one cell is read in any of several orders, and as a day number only where that is one of them', () => {
  const both = dateOrders(['dmy', 'serial']);
  expect(both).toEqual(dateOrders(['dmy,serial']));
  expect(readExpiration('05/06/2027', both)).toMatchObject({ year: '27', month: '06' });
  expect(readExpiration('46538', both)).toMatchObject({ year: '27', month: '05' });
  expect(readExpiration('46538', ['dmy'])).toEqual({ orders: ['serial'] });
  expect(readExpiration('05/06/2027', ['dmy', 'mdy'])).toEqual({ orders: ['dmy', 'mdy'] });
});

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
    { numRuns: SOAK ? 100_000 : 2_000 },
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
    { numRuns: SOAK ? 100_000 : 5_000 },
  );
});
