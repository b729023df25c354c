import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../src/au/request/request-file.ts';
import { checked, HEADER, inChunks, UUID } from '../rows.ts';

type Fixture = readonly [name: string, file: string | Buffer, ...wrong: readonly string[]];

const rows = (...lines: string[]): string => [HEADER, ...lines, ''].join('\n');
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

// Each rule has files that pass and files that fail. A problem is written as line:rule or line:rule:column.
const FIXTURES: readonly Fixture[] = [
  ['a full row', rows(`${UUID},26,12,SANDBOX`)],
  ['a row with the token only', rows(`${UUID},,,`)],
  ['several rows', rows(`${UUID},26,01,`, 'tok_2,,,M 1', 'x,00,12,')],
  ['CRLF line ends', rows(`${UUID},26,12,M`).replaceAll('\n', '\r\n')],
  ['LF and CRLF mixed', `${HEADER}\r\na,26,12,M\nb,26,12,M\r\n`],
  ['no line end at the end', `${HEADER}\n${UUID},26,12,M`],
  ['no merchant and no line end', `${HEADER}\n${UUID},26,12,`],
  ['no rows', `${HEADER}\n`, '1:no_rows'],
  ['no rows and no line end', HEADER, '1:no_rows'],
  ['an empty file', '', '1:empty_file'],
  ['UTF-8 beyond ASCII', rows('tök€n_😀,26,12,Müller')],
  ['Latin-1', bytes(HEADER, '\ntok,26,12,M', [0xfc], 'ller\n'), '2:encoding'],
  ['Windows-1252 on a later line', bytes(rows('a,,,', 'b,,,'), [0x80], ',,,\n'), '4:encoding'],
  ['a cut UTF-8 sequence', bytes(HEADER, '\ntok', [0xe2, 0x82], ',26,12,M\n'), '2:encoding'],
  ['an overlong UTF-8 sequence', bytes(HEADER, '\ntok', [0xc0, 0xaf], ',26,12,M\n'), '2:encoding'],
  ['a surrogate in UTF-8', bytes(HEADER, '\ntok', [0xed, 0xa0, 0x80], ',26,12,M\n'), '2:encoding'],
  ['Latin-1 in the header', bytes('tok', [0xe9], 'n\nx,,,\n'), '1:encoding'],
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${rows('x,,,')}`, 'utf16le'), '1:encoding'],
  ['UTF-16 without a byte order mark', Buffer.from(rows('x,,,'), 'utf16le'), '1:encoding'],
  ['big-endian UTF-16', Buffer.from(`\ufeff${rows('x,,,')}`, 'utf16le').swap16(), '1:encoding'],
  ['UTF-32', bytes([0xff, 0xfe, 0, 0], [0x74, 0, 0, 0], '\n'), '1:encoding'],
  ['gzip', bytes([0x1f, 0x8b, 8, 0], 'x\nx'), '1:encoding'],
  ['an Excel workbook', bytes('PK', [3, 4], 'x\nx,,,\n'), '1:encoding'],
  ['an old Excel workbook', bytes([0xd0, 0xcf, 0x11, 0xe0], 'x\nx'), '1:encoding'],
  ['a byte order mark', `\ufeff${rows('x,,,')}`, '1:byte_order_mark'],
  ['a byte order mark and a wrong header', `\ufefftoken\nx,,,\n`, '1:byte_order_mark', '1:header'],
  ['no header but rows', `${UUID},26,12,M\nb,26,13,\n`, '1:header', '2:month:expiration_month'],
  ['other names altogether', 'id,name\n1,2\n', '1:header'],
  ['an empty first line', `\n${rows('x,,,')}`, '1:header'],
  [
    'a header in capitals',
    rows('x,26,13,').replace(HEADER, HEADER.toUpperCase()),
    '1:header',
    '2:month:expiration_month',
  ],
  ['a header with spaces', rows('x,,,').replaceAll(`,expiration`, ', expiration'), '1:header'],
  ['a header with a space at the end', rows('x,,,').replace('merchant_id', 'merchant_id '), '1:header'],
  ['a quoted header', rows('x,,,').replace(HEADER, `"${HEADER.replaceAll(',', '","')}"`), '1:header'],
  ['semicolons', rows('x,26,12,M').replaceAll(',', ';'), '1:header'],
  ['tabs', rows('x,26,12,M').replaceAll(',', '\t'), '1:header'],
  ['a missing column', 'token,expiration_year,expiration_month\nx,26,12\n', '1:header'],
  ['another column', `${HEADER},note\nx,26,12,M,n\n`, '1:header'],
  ['a column missing and another', 'token,expiration_year,month,merchant_id\nx,,,\n', '1:header'],
  ['a column twice', `${HEADER},token\nx,,,,\n`, '1:header'],
  ['another order', 'token,expiration_month,expiration_year,merchant_id\nx,12,26,\n', '1:header'],
  ['carriage returns alone', rows('x,,,').replaceAll('\n', '\r'), '1:control_character'],
  ['three columns', rows('x,26,12'), '2:columns'],
  ['five columns', rows('x,26,12,M,'), '2:columns'],
  ['one column', rows('x'), '2:columns'],
  ['an empty token', rows(',26,12,M'), '2:token_empty:token'],
  ['a token of spaces', rows('  ,26,12,M'), '2:token_empty:token'],
  ['a quoted empty token', rows('"",26,12,M'), '2:token_empty:token'],
  ['a byte order mark before a row', rows('\ufeffx,26,12,'), '2:invisible_character:token'],
  ['a token with a word like rehearsal', rows('rehearsals-01,26,12,')],
  ['empty cells only', rows(',,,'), '2:token_empty:token'],
  ['a year of one digit', rows('x,6,12,M'), '2:year:expiration_year'],
  ['a year of four digits', rows('x,2026,12,M'), '2:year:expiration_year'],
  ['a year of letters', rows('x,ab,12,M'), '2:year:expiration_year'],
  ["a year in another script's digits", rows('x,٢٦,12,M'), '2:year:expiration_year'],
  ['month 00', rows('x,26,00,M'), '2:month:expiration_month'],
  ['month 13', rows('x,26,13,M'), '2:month:expiration_month'],
  ['month 1', rows('x,26,1,M'), '2:month:expiration_month'],
  ['month 0:', rows(`${UUID},26,0:,M`), '2:month:expiration_month'],
  ['month 012', rows('x,26,012,M'), '2:month:expiration_month'],
  ['year and month swapped', rows('x,12,26,M'), '2:month:expiration_month'],
  ['a year without a month', rows('x,26,,M')],
  ['a year and a month wrong', rows('x,2026,13,M'), '2:year:expiration_year', '2:month:expiration_month'],
  ['quoted cells', rows(`"${UUID}","26","12","Shop, Ltd"`)],
  ['a quote within a quoted cell', rows('"to""ken",26,12,')],
  ['some cells quoted', rows('x,"26",12,"M"')],
  ['a quote within a bare cell', rows('to"ken,26,12,'), '2:quoting'],
  ['text behind a quoted cell', rows('"to"ken,26,12,'), '2:quoting'],
  ['a newline in a quoted cell', rows('x,26,12,"a\nb"'), '2:quoted_newline', '3:quoting'],
  ['a quote never closed', rows('"x,26,12,M'), '2:quoted_newline'],
  ['a NUL', rows('x\0,26,12,M'), '2:control_character:token'],
  ['a tab', rows('x,26,12,M\t'), '2:control_character:merchant_id'],
  ['an escape', rows('x,26,12,\u001b[31mM'), '2:control_character:merchant_id'],
  ['a C1 control character', rows('x\u0085,26,12,M'), '2:control_character:token'],
  ['DEL', rows('x\u007f,26,12,M'), '2:control_character:token'],
  ['a carriage return within a line', rows('x,26,\r12,M'), '2:control_character:expiration_month'],
  ['a carriage return at the very end', `${HEADER}\nx,26,12,M\r`, '2:control_character:merchant_id'],
  ['a zero-width space', rows('x\u200b,26,12,M'), '2:invisible_character:token'],
  ['a byte order mark within', rows('\ufeffx,26,12,M'), '2:invisible_character:token'],
  ['a space before the token', rows(' x,26,12,M'), '2:surrounding_space:token'],
  ['a space behind the merchant', rows('x,26,12,M '), '2:surrounding_space:merchant_id'],
  ['a no-break space behind the merchant', rows('x,26,12,M\u00a0'), '2:surrounding_space:merchant_id'],
  ['a space within the merchant', rows('x,26,12,M 1')],
  ['a blank line within', rows('x,,,', '', 'y,,,'), '3:blank_line'],
  ['a blank line at the end', rows('x,,,', ''), '3:blank_line'],
  ['a line of spaces', rows('x,,,', '  '), '3:blank_line'],
  ['a line of the longest', rows(`${'x'.repeat(16_381)},,,`)],
  ['the same with CRLF', rows(`${'x'.repeat(16_381)},,,`).replaceAll('\n', '\r\n')],
  ['a line too long', rows(`${'x'.repeat(16_382)},,,`, 'y,26,13,'), '2:line_too_long', '3:month:expiration_month'],
  ['a line far too long', rows(`${'x'.repeat(100_000)},,,`, 'y,,,'), '2:line_too_long'],
  ['a far too long last line', `${HEADER}\n${'x'.repeat(100_000)}`, '2:line_too_long'],
  ['a header far too long', `${HEADER}${' '.repeat(100_000)}\nx,,,\n`, '1:header', '1:line_too_long'],
  ['a card number as the token', rows('4111111111111111,26,12,M'), '2:card_number'],
  ['a card number as the merchant', rows('x,26,12,5555555555554444'), '2:card_number'],
  ['a card number as the year', rows('x,378282246310005,12,M'), '2:card_number'],
  ['a card number with dashes', rows('4111-1111-1111-1111,26,12,M'), '2:card_number'],
  ['a card number with spaces around', rows(' 4111 1111 1111 1111 ,26,12,M'), '2:card_number'],
  ['a card number quoted with a comma', rows('"4111,1111,1111,1111",26,12,M'), '2:card_number'],
  ['a card number on a line of other columns', rows('4111111111111111;26;12;M'), '2:card_number'],
  ['a card number cut by commas', rows('4111,1111,1111,1111,x'), '2:card_number'],
  ['a card number behind an open quote', rows('x,26,12,"4111111111111111'), '2:card_number'],
  ['a card number beside Latin-1', bytes(HEADER, '\n4111111111111111', [0xe9], ',26,12,M\n'), '2:card_number'],
  ['a card number in full-width digits', rows('４１１１１１１１１１１１１１１１,26,12,M'), '2:card_number'],
  ['a card number in place of the header', '4111111111111111,26,12,M\nx,26,13,\n', '1:card_number'],
  ['a card number under a wrong header', 'number;year\n4111111111111111;26\n', '1:header', '2:card_number'],
  ['a card number with a wrong check digit', rows('4111111111111112,26,12,M')],
  ['a UUID of digits', rows('41111111-1111-4111-8111-111111111111,26,12,M')],
  ['a UUID without dashes', rows(`${UUID.replaceAll('-', '')},26,12,M`)],
];

describe('the gate for request files', () => {
  for (const slowly of [false, true])
    it.each(FIXTURES)(`R39: ${slowly ? 'without the fast path ' : ''}judges %s`, async (_, file, ...wrong) => {
      const check = await checked(file, { disableFastPath: slowly });
      expect(found(check.problems)).toEqual(wrong);
      expect(check.ok).toBe(wrong.length === 0);
      expect(check.problemCount).toBe(wrong.length);
    });

  it('R39: the gate for request files keeps the first 20 problems and counts all', async () => {
    const check = await checked(rows(...Array.from({ length: 50 }, (_, at) => `t${at},26,13,`), '4111111111111111,,,'));
    expect(check.problems).toHaveLength(20);
    expect(check.problems.at(-1)?.line).toBe(21);
    expect(check.problemCount).toBe(51);
    expect(check.parts).toEqual([]);
  });

  it.each(['rehearsal-0123456789abcdef,26,12,', '"rehearsal-01","26","12",""'])(
    'R91: the gate for request files refuses %s, which a rehearsal invented',
    async (row) => {
      expect((await checked(rows(row))).problems).toMatchObject([
        { line: 2, rule: 'rehearsal_token', column: 'token' },
      ]);
    },
  );

  it('R39: the gate for request files finds repeated rows by token and merchant, and does not refuse them', async () => {
    const check = await checked(
      rows('a,,,', 'b,,,', '"a",26,12,', UUID + ',,,', 'b,,,', UUID + ',,,M', 'a,,,', `"${UUID.toUpperCase()}",,,M`),
    );
    expect(check.ok).toBe(true);
    expect(check.duplicates).toEqual({
      count: 4,
      first: [
        { line: 4, firstLine: 2 },
        { line: 6, firstLine: 3 },
        { line: 8, firstLine: 2 },
        { line: 9, firstLine: 7 },
      ],
      lines: [4, 6, 8, 9],
      hasSeveralMerchants: true,
    });
  });

  it('R39: the gate for request files tells which limit is exceeded', async () => {
    const file = rows('a,,,', 'b,,,', 'c,,,');
    const at = (bytes: number, rows: number) => checked(file, { limits: { bytes, rows } });
    expect((await at(file.length, 3)).exceeds).toEqual({ bytes: false, rows: false });
    expect((await at(file.length - 1, 3)).exceeds).toEqual({ bytes: true, rows: false });
    expect((await at(file.length, 2)).exceeds).toEqual({ bytes: false, rows: true });
  });

  it('the gate for request files stops when asked', async () => {
    const stop = new AbortController();
    const file = (function* () {
      for (const chunk of inChunks(Buffer.from(rows('x,,,', 'y,,,')), 20)) {
        yield chunk;
        stop.abort(new Error('enough'));
      }
    })();
    await expect(checked(file, { signal: stop.signal })).rejects.toThrow('enough');
  });
});

function found(problems: readonly { line: number; rule: Rule; column?: string | undefined }[]): string[] {
  return problems.map(({ line, rule, column }) => [line, rule, ...(column === undefined ? [] : [column])].join(':'));
}
