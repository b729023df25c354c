import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LateRows } from '../../../src/au/prepare/late-rows.ts';
import { type PrepareOptions, prepareRequest } from '../../../src/au/prepare/prepare.ts';
import { TokenTable } from '../../../src/au/request/token-table.ts';
import { stream } from '../rows.ts';
import { cases } from '../../support/cases.ts';

/** Reads an export as svc au prepare does: once, and once more if a row that was written has to change. */
async function prepared(lines: readonly string[], mostSlots?: number) {
  const bytes = Buffer.from(['token,expiration_year,expiration_month,merchant_id,customer', ...lines, ''].join('\n'));
  const read = async (more: PrepareOptions) => {
    let text = '';
    const request = (piece: string): Promise<void> => Promise.resolve(void (text += piece));
    return {
      ...(await prepareRequest(stream([bytes]), { request }, { mostSlots, keep: ['customer'], ...more })),
      text,
    };
  };
  const first = await read({});
  const { laterDates, lateRepeats } = first;
  const isWritten = laterDates.size === 0 && lateRepeats === undefined;
  const { text, rows, changes, keptRepeats } = isWritten ? first : await read({ laterDates, lateRepeats });
  return { text, rows, changes, keptRepeats };
}

it('svc au prepare writes the same request whether its rows fit in one table or not', async () => {
  const row = fc
    .tuple(fc.nat(9), fc.constantFrom('31,05', '29,12', '30,01', ',', '30,12'), fc.constantFrom('', 'M-1'), fc.nat(1))
    .map(([token, date, merchant, customer]) => `tok-${token},${date},${merchant},${customer}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 3, max: 12 }),
      async (lines, slots) => {
        expect(await prepared(lines, slots)).toEqual(await prepared(lines));
      },
    ),
    { numRuns: cases(1_000) },
  );
});

it('svc au prepare finds repeats among more rows than memory takes, with the later expiration, in a private place', async () => {
  let words = new Int32Array();
  const place = { moves: 0, isReleased: false };
  const late = new LateRows(new TokenTable({ words: 3 }), () =>
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
