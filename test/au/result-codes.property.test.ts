import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readResults, type ResultRow } from '../../src/au/result-codes.ts';
import { isSvcError } from '../../src/base/errors.ts';
import { inChunks, stream } from './rows.ts';
import { anyCharacter } from '../support/any-character.ts';
import { cases } from '../support/cases.ts';

const HEADER = 'token,result_code,note';

/** Returns the rows or `refused`. */
async function outcome(chunks: Iterable<Uint8Array>): Promise<ResultRow[] | 'refused'> {
  const rows: ResultRow[] = [];
  try {
    for await (const batch of readResults(stream(chunks))) rows.push(...batch);
    return rows;
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return 'refused';
  }
}

const cell = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('', 'a', 'b', 'UPD_PAN', '3c1f3c0e-8d4f-4a52-9d54-08f54a2f3c01', 'é', '卡', '💳'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"a"', '""', '"a,b"', '"a""b"', '"x\ny"', '"x\r\ny"', '"', 'a"b', ' "a"', '"a" '),
  },
  { weight: 1, arbitrary: fc.constantFrom('\r', 'a\rb', '\0', '\u2028', '\ufeff', 'ı', '\u0085') },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 5 }) },
);
const row = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(cell, cell, cell).map((cells) => cells.join(',')) },
  { weight: 1, arbitrary: fc.array(cell, { maxLength: 5 }).map((cells) => cells.join(',')) },
);
const header = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(HEADER, `\ufeff${HEADER}`, 'note,"token",result_code') },
  { weight: 1, arbitrary: fc.constantFrom('', '\r', 'token', `${HEADER},token`, '"token\n",result_code,note') },
);
/** Generates files whose line ends are mostly of one kind. */
const text = fc.constantFrom('\n', '\r\n', '\r').chain((usual) => {
  const end = fc.oneof(
    { weight: 20, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom('\n', '\r\n', '\r', '\n\n', '') },
  );
  return fc
    .tuple(header, end, fc.array(fc.tuple(row, end), { maxLength: 10 }), fc.constantFrom('', 'a,b,c', 'a,b'))
    .map(([header, end, rows, last]) => Buffer.from([header, end, ...rows.flat(), last].join('')));
});
const file = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 2, arbitrary: fc.tuple(text, fc.uint8Array({ maxLength: 4 }), text).map((parts) => Buffer.concat(parts)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
);

it('R47: any result file is read alike however its bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(file, fc.integer({ min: 1, max: 70 }), async (file, size) => {
      expect(await outcome(inChunks(file, size))).toEqual(await outcome([file]));
    }),
    { numRuns: cases(15_000) },
  );
});

it('R47: any result file is read alike where a line is longer than any row of ours', async () => {
  for (const note of ['x'.repeat(40_000), `"${'x,'.repeat(30_000)}"`, 'é'.repeat(70_000)]) {
    const file = Buffer.from(`${HEADER}\na,UPD_PAN,\nb,UPD_PAN,${note}\nc,UPD_PAN,\n`);
    const wanted = await outcome([file]);
    expect(wanted).toHaveLength(3);
    expect(await outcome(inChunks(file, 1_000))).toEqual(wanted);
  }
});
