import { expect, it } from 'vitest';
import { dateOrders } from '../../../src/au/prepare/date-orders.ts';
import { readExpiration } from '../../../src/au/prepare/prepare-date.ts';

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
