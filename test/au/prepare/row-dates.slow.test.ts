import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PrepareOptions } from '../../../src/au/prepare/how-to-read.ts';
import { prepareRequest } from '../../../src/au/prepare/prepare.ts';
import { RowDates } from '../../../src/au/prepare/row-dates.ts';
import { stream } from '../rows.ts';
import { cases } from '../../support/cases.ts';

/** Reads an export as svc au prepare does: once, and once more if rows are repeated. */
async function prepared(lines: readonly string[]) {
  const bytes = Buffer.from(['token,expiration_year,expiration_month,merchant_id,customer', ...lines, ''].join('\n'));
  const read = async (more: PrepareOptions) => {
    let text = '';
    const request = (piece: string): Promise<void> => Promise.resolve(void (text += piece));
    return { ...(await prepareRequest(stream([bytes]), { request }, { keep: ['customer'], ...more })), text };
  };
  const first = await read({});
  const { repeated } = first;
  const { text, rows, changes, keptRepeats } = repeated === undefined ? first : await read({ repeated });
  const counts = Object.fromEntries(changes.map(({ kind, count }) => [kind, count]));
  const { repeated_tokens: repeats = 0, later_dates: later = 0 } = counts;
  return { text: text.trimEnd().split('\n').slice(1), rows, repeats, later, others: keptRepeats.count };
}

/** What comes out of rows, as a map from each token and merchant finds it. */
function expectedOf(lines: readonly string[]) {
  const rows = new Map<string, { date: string; readonly first: string; readonly customer: string }>();
  const found = { repeats: 0, later: 0, others: 0 };
  for (const line of lines) {
    const [token = '', year = '', month = '', merchant = '', customer = ''] = line.split(',');
    const date = year === '' ? '' : `${year},${month}`;
    const row = rows.get(`${token},${merchant}`);
    if (row === undefined) rows.set(`${token},${merchant}`, { date, first: date, customer });
    else {
      found.repeats += 1;
      if (customer !== row.customer) found.others += 1;
      if (date > row.date) row.date = date;
    }
  }
  found.later = [...rows.values()].filter(({ date, first }) => date !== first).length;
  const text = [...rows].map(([key, { date }]) => key.replace(',', `,${date === '' ? ',' : date},`));
  return { text, rows: rows.size, ...found };
}

it('svc au prepare writes each row once, with its latest expiration, in whichever lines of an export it is', async () => {
  const row = fc
    .tuple(fc.nat(9), fc.constantFrom('31,05', '29,12', '30,01', ',', '30,12'), fc.constantFrom('', 'M-1'), fc.nat(1))
    .map(([token, date, merchant, customer]) => `tok-${token},${date},${merchant},${customer}`);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (lines) => {
      expect(await prepared(lines)).toEqual(expectedOf(lines));
    }),
    { numRuns: cases(1_000) },
  );
});

it('svc au prepare finds repeats among more rows than memory takes, with the later expiration, in a private place', async () => {
  let words = new Int32Array();
  const place = { moves: 0, isReleased: false };
  const late = new RowDates(() =>
    Promise.resolve({
      append: (pieces) => {
        words = new Int32Array(Buffer.concat(pieces.map((piece) => Buffer.from(Int32Array.from(piece).buffer))).buffer);
        place.moves += 1;
        return Promise.resolve(0);
      },
      read: (at, into) => Promise.resolve(into.set(words.subarray(at / 4, at / 4 + into.length))),
      release: () => Promise.resolve(void (place.isReleased = true)),
    }),
  );
  for (let at = 0; at < 1_300_000; at += 1) {
    late.add(`tok-${at % 1_299_998}`, at < 1_299_999 ? 7 : 9);
    if (at % 1_000 === 0) await late.relieve();
  }
  const repeated = await late.repeated();
  const latest = ['tok-0', 'tok-1', 'tok-2'].map((token) => repeated?.latestOf(token));
  expect({ latest, ...place }).toEqual({ latest: [7, 9, 0], moves: 1, isReleased: true });
});
