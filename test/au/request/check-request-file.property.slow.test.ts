import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRequestFile } from '../../../src/au/request/check-request-file.ts';
import { refusedFile } from '../../../src/au/request/open-request-file.ts';
import { problemsOf } from '../../../src/cli/output/error-report.ts';
import { cases, IS_SOAK } from '../../support/cases.ts';
import { cardNumber, dated, disguised, padded } from '../../support/card-numbers.ts';
import { checked, HEADER, inChunks, stream, UUID } from '../rows.ts';

/** How many disguised card numbers are searched for. */
const DISGUISED = cases(20_000);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Generates cells, characters and bytes that the check treats specially, in any order. */
function rowish(): fc.Arbitrary<string> {
  const cell = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom('', UUID, UUID, '26', '01', '12', '13', 'SANDBOX', 'tok_1', 'a', 'é', '𝟒'),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(' a', 'a ', '\t', '\0', '\u200b', '"', '""', '"a"', '"26"', '"a,b"', '"a""b"', '\r'),
    },
    {
      weight: 1,
      arbitrary: fc.oneof(
        cardNumber(),
        disguised(),
        padded(),
        dated(),
        fc.stringMatching(/^[0-9 -]{10,22}$/),
        fc.stringMatching(/^[0-9]{20,24}$/),
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 6 }) },
  );
  const cells = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(cell, cell, cell, cell).map((cells) => cells.join(',')) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(cell, fc.constantFrom('', '26', '"26"'), fc.constantFrom('', '12', '"01"'), cell)
        .map((cells) => cells.join(',')),
    },
    { weight: 1, arbitrary: fc.array(cell, { maxLength: 6 }).map((cells) => cells.join(',')) },
  );
  return fc.tuple(cells, fc.constantFrom('\n', '\n', '\n', '\r\n', '')).map((parts) => parts.join(''));
}

function rightRow(): fc.Arbitrary<string> {
  const token = fc.constantFrom(
    UUID,
    UUID.toUpperCase(),
    `"${UUID}"`,
    'tok_1',
    '"a,b"',
    '"a""b"',
    'é',
    '12345678901234567890',
  );
  const year = fc.constantFrom('', '26', '"00"', '""');
  const month = fc.constantFrom('', '01', '12', '"07"');
  const merchant = fc.constantFrom('', 'M 1', '"Shop, Ltd"', '"SANDBOX"', 'Müller', '000000123456789');
  const end = fc.constantFrom('\n', '\r\n');
  return fc.tuple(token, year, month, merchant, end).map(([a, b, c, d, end]) => `${a},${b},${c},${d}${end}`);
}

function file(): fc.Arbitrary<Buffer> {
  const header = fc.constantFrom(
    `${HEADER}\n`,
    `${HEADER}\n`,
    `${HEADER}\r\n`,
    `${HEADER},x\n`,
    `\ufeff${HEADER}\n`,
    '',
  );
  const text = fc
    .tuple(header, fc.array(rowish(), { maxLength: 12 }))
    .map(([header, rows]) => Buffer.from(header + rows.join('')));
  const right = fc
    .tuple(fc.array(rightRow(), { minLength: 1, maxLength: 12 }), fc.option(rowish(), { freq: 3 }))
    .map(([rows, last]) => Buffer.from(`${HEADER}\n${rows.join('')}${last ?? ''}`));
  const bytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const mixed = fc.tuple(text, fc.uint8Array({ maxLength: 3 }), text).map((parts) => Buffer.concat(parts));
  return fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 1, arbitrary: bytes },
    { weight: 3, arbitrary: mixed },
    { weight: 8, arbitrary: right },
  );
}

it('R39: any file is judged the same with and without the fast path, however it is cut, and never crashes', async () => {
  const limits = fc.record({ bytes: fc.integer({ min: 60, max: 400 }), rows: fc.integer({ min: 1, max: 8 }) });
  await fc.assert(
    fc.asyncProperty(file(), fc.integer({ min: 1, max: 90 }), limits, async (file, size, limits) => {
      const quickly = await checked(file, { limits });
      expect(await checked(file, { limits, disableFastPath: true })).toEqual(quickly);
      expect(await checked(inChunks(file, size), { limits })).toEqual(quickly);
      expect(quickly.bytes).toBe(file.length);
      expect(quickly.sha256).toBe(sha256(file));
      expect(quickly.ok).toBe(quickly.problemCount === 0);
      expect(quickly.problemCount > 0 || quickly.rows > 0).toBe(true);
      for (const row of quickly.ok ? file.toString().split(/\r?\n/).slice(1) : [])
        expect(row === '' || /^(?:[^,"]+|".+"),"?(?:\d\d)?"?,"?(?:0[1-9]|1[0-2])?"?,/u.test(row)).toBe(true);
    }),
    { numRuns: IS_SOAK ? 100_000 : 400 },
  );
});

it('any file takes both right and wrong files in the test above', async () => {
  const checks = await Promise.all(fc.sample(file(), 300).map((file) => checked(file)));
  const right = checks.filter((check) => check.ok).length;
  expect(right).toBeGreaterThan(10);
  expect(right).toBeLessThan(250);
});

it('R39: a text that is nearly a UUID is judged alike both ways, whatever stands at any one place of it', async () => {
  const signs = [' ', '"', ',', '\t', '\0', 'é', '-', 'g', 'G', '/', ':', '@', '`', '\u007f'];
  const nearly = signs.flatMap((sign) => Array.from(UUID, (_, at) => UUID.slice(0, at) + sign + UUID.slice(at + 1)));
  for (const token of nearly) {
    const file = `${HEADER}\n${token},26,12,\n"${token}",26,12,\n`;
    expect([token, await checked(file)]).toEqual([token, await checked(file, { disableFastPath: true })]);
  }
});

describe('card numbers in files', () => {
  const place = fc.constantFrom(
    (cell: string) => `${cell},26,12,M`,
    (cell: string) => `${UUID},26,12,${cell}`,
    (cell: string) => `${UUID},${cell},12,M`,
    (cell: string) => `"${cell}","26","12",""`,
    (cell: string) => `${UUID},26,12,"${cell}`,
    (cell: string) => `${UUID};26;12;${cell}`,
    (cell: string) => `${UUID},26,12,M,${cell}`,
    (cell: string) => `card ${cell} of M,26,12,M`,
  );

  it(`R40: the search for card numbers in files lets none of ${DISGUISED} disguised numbers pass, and shows none`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(disguised(), padded(), dated(), disguised(dated())), place, async (cell, place) => {
        const check = await checked(`${HEADER}\nfirst,26,12,\n${place(cell)}\n`);
        const error = refusedFile(check, 'requests.csv');
        expect(check.problems).toEqual([{ line: 3, rule: 'card_number', problem: expect.any(String) }]);
        const shown = JSON.stringify([problemsOf(error), error.message, error.hint, error.facts, check.problems]);
        expect(shown.normalize('NFKC')).not.toMatch(/\d{3}/);
        expect(error.exitCode).toBe(13);
      }),
      { numRuns: DISGUISED },
    );
  });

  it('R40: the search for card numbers in files shows no number that stands in place of the header, or under a wrong one', async () => {
    await fc.assert(
      fc.asyncProperty(
        disguised(),
        fc.constantFrom('', 'number;year', 'token', `${HEADER},x`),
        async (cell, header) => {
          const check = await checked(`${header}\n${cell},26,12,M\n`.trimStart());
          expect(check.problems.filter(({ rule }) => rule === 'card_number')).toHaveLength(1);
          expect(JSON.stringify(check.problems).normalize('NFKC')).not.toMatch(/\d{3}/);
        },
      ),
      { numRuns: cases(2_000) },
    );
  });

  it('R40: the search for card numbers in files takes none of 10,000 UUIDs for a card number', async () => {
    const uuids = fc.sample(fc.uuid(), 10_000);
    const forms = uuids.flatMap((uuid) => [uuid, uuid.replaceAll('-', ''), `"${uuid.toUpperCase()}"`]);
    const file = `${HEADER}\n${forms.map((uuid) => `${uuid},26,12,`).join('\n')}\n`;
    for (const slowly of [false, true]) {
      const check = await checked(file, { disableFastPath: slowly });
      expect(check.problems).toEqual([]);
      expect(check.rows).toBe(30_000);
    }
  });
});

it('parts are the rows of the file in order, each within the limits, with the header in front', async () => {
  const rows = fc.array(fc.tuple(fc.nat(1e6), fc.constantFrom('', '26'), fc.constantFrom('\n', '\r\n'), fc.boolean()), {
    minLength: 1,
    maxLength: 60,
  });
  const limits = fc.record({ bytes: fc.integer({ min: 80, max: 600 }), rows: fc.integer({ min: 1, max: 30 }) });
  await fc.assert(
    fc.asyncProperty(
      rows,
      limits,
      fc.integer({ min: 1, max: 300 }),
      fc.boolean(),
      async (rows, limits, size, ended) => {
        const lines = rows.map(([id, year, end, quoted]) => `${quoted ? `"tok_${id}"` : `tok_${id}`},${year},,M${end}`);
        const text = `${HEADER}\r\n${lines.join('')}`;
        const file = Buffer.from(ended ? text : text.trimEnd());
        const {
          parts,
          headerBytes,
          ok,
          sha256: whole,
          exceeds,
        } = await checkRequestFile(stream(inChunks(file, size)), { limits });
        expect(ok).toBe(true);
        expect(headerBytes).toBe(HEADER.length + 2);
        let [end, row] = [headerBytes, 1];
        for (const part of parts) {
          const upload = Buffer.concat([file.subarray(0, headerBytes), file.subarray(part.start, part.end)]);
          expect([part.start, part.firstRow]).toEqual([end, row]);
          expect([part.bytes, part.sha256]).toEqual([upload.length, sha256(upload)]);
          expect(upload.toString().trimEnd().split('\n')).toHaveLength(part.rows + 1);
          expect(part.rows).toBeLessThanOrEqual(limits.rows);
          expect(part.rows === 1 || part.bytes <= limits.bytes).toBe(true);
          [end, row] = [part.end, row + part.rows];
        }
        expect([end, row]).toEqual([file.length, rows.length + 1]);
        expect(parts.length > 1).toBe(exceeds.rows || (exceeds.bytes && rows.length > 1));
        expect(parts.length > 1 || parts[0]?.sha256 === whole).toBe(true);
      },
    ),
    { numRuns: IS_SOAK ? 20_000 : 150 },
  );
});

it('parts are as full as they can be', async () => {
  const file = `${HEADER}\n${'t,,,\n'.repeat(10)}`;
  const sizes = async (bytes: number, rows: number): Promise<number[]> =>
    (await checked(file, { limits: { bytes, rows } })).parts.map((part) => part.rows);
  expect(await sizes(1_000, 4)).toEqual([4, 4, 2]);
  expect(await sizes(HEADER.length + 1 + 15, 100)).toEqual([3, 3, 3, 1]);
  expect(await sizes(HEADER.length + 1 + 14, 100)).toEqual([2, 2, 2, 2, 2]);
  expect(await sizes(10, 100)).toEqual(Array.from({ length: 10 }, () => 1));
  expect(await sizes(1_000, 10)).toEqual([10]);
});
