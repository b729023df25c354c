import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { PackedResults } from '../../../src/au/next/next-request.ts';
import type { ResultRow } from '../../../src/au/result-codes.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { cases } from '../../support/cases.ts';

function rowOf(row: number, token: string, result_code: string, cells: readonly string[]): ResultRow {
  const [new_token = '', new_expiration_year = '', new_expiration_month = ''] = cells;
  const update = { new_token, new_expiration_year, new_expiration_month };
  return { token, expiration_year: '', expiration_month: '', ...update, result_code, extra: {}, row };
}

function answerOf(row: ResultRow | undefined): unknown {
  if (row === undefined) return undefined;
  const { result_code, new_token, new_expiration_year, new_expiration_month } = row;
  return { result_code, new_token, new_expiration_year, new_expiration_month, row: row.row };
}

it('packed answers are taken as from lists by token, the last one again and again', () => {
  const token = fc.oneof(fc.constantFrom('a', 'b', 'c', '', '💳'), fc.uuid());
  const cell = fc.oneof(fc.constantFrom('', '29', 'a,b', '"', 'x\ny', ' ', '卡\r'), fc.string({ unit: anyCharacter }));
  const given = fc.array(fc.tuple(token, cell, fc.array(cell, { minLength: 3, maxLength: 3 })), { maxLength: 60 });
  fc.assert(
    fc.property(given, fc.array(token, { maxLength: 60 }), (given, asked) => {
      const packed = new PackedResults();
      const lists = new Map<string, ResultRow[]>();
      for (const [at, [token, code, cells]] of given.entries()) {
        const row = rowOf(at + 1, token, wellFormed(code), cells.map(wellFormed));
        packed.add(row);
        lists.set(token, [...(lists.get(token) ?? []), row]);
      }
      for (const token of [...asked, ...given.map(([token]) => token)]) {
        const list = lists.get(token) ?? [];
        expect(packed.take(token)).toEqual(answerOf(list.length > 1 ? list.shift() : list[0]));
      }
    }),
    { numRuns: cases(1_500) },
  );
});

it('packed answers keep what they hold while they grow, long cells too', () => {
  const packed = new PackedResults();
  const rows = Array.from({ length: 40_000 }, (_, at) =>
    rowOf(at + 1, `tok_${at % 30_000}`, `CODE_${at % 20}`, [`${'t'.repeat(at % 10_000 === 5 ? 700_000 : 9)}${at}`]),
  );
  for (const row of rows) packed.add(row);
  for (const row of rows) expect(packed.take(row.token)).toEqual(answerOf(row));
  expect(packed.take('tok_30000')).toBeUndefined();
});

/** Returns the text as a file can contain it, without lone surrogates. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
