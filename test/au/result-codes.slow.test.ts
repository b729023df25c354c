import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainResultCode, readResults, type ResultRow, summarizeResults } from '../../src/au/result-codes.ts';
import { isSvcError } from '../../src/base/errors.ts';
import { RESULT_CODES, RESULT_COLUMNS } from '../../src/schema/account-updater-files.ts';
import { inChunks, stream } from './rows.ts';
import { cases } from '../support/cases.ts';

const HEADER = RESULT_COLUMNS.join(',');

async function read(file: string | Uint8Array, size = 1_000_000): Promise<ResultRow[]> {
  return readAll(readResults(stream(inChunks(Buffer.from(file), size))));
}

async function readAll(results: AsyncIterable<readonly ResultRow[]>): Promise<ResultRow[]> {
  const rows: ResultRow[] = [];
  for await (const batch of results) rows.push(...batch);
  return rows;
}

async function* broken(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(`${HEADER}\na,26,12,b,29,11,UPD_PAN\n`);
  throw new Error('disk');
}

async function failure(file: string | Uint8Array): Promise<unknown> {
  return read(file).catch((error: unknown) => error);
}

describe('reading results', () => {
  it('R47: the reader of results takes columns in any order and keeps those it does not know', async () => {
    const [row] = await read('note,result_code,token,__proto__,\n"a, ""b""",WRN_OPT_OUT,t,p,q\n');
    expect(row).toMatchObject({ token: 't', result_code: 'WRN_OPT_OUT', new_token: '', expiration_year: '' });
    expect(Object.entries(row?.extra ?? {})).toEqual([
      ['note', 'a, "b"'],
      ['__proto__', 'p'],
      ['', 'q'],
    ]);
  });

  it('R47: the reader of results takes a byte order mark, CRLF, quotes, newlines in quotes, and no line end at the end', async () => {
    const rows = await read('\ufeff"token","result_code","note"\r\n"a","UPD_PAN","x\r\ny"\r\nb,ERR_UNDEFINED,');
    expect(rows.map((row) => [row.token, row.result_code, row.extra['note'], row.row])).toEqual([
      ['a', 'UPD_PAN', 'x\r\ny', 1],
      ['b', 'ERR_UNDEFINED', '', 2],
    ]);
  });

  it('R47: the reader of results reads every cell back, whatever it holds, in any order of columns, however the bytes are cut', async () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 8 });
    const names = fc.shuffledSubarray([...RESULT_COLUMNS, 'note', 'other'], { minLength: 9, maxLength: 9 });
    const rows = fc.array(fc.array(cell, { minLength: 9, maxLength: 9 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(names, rows, fc.integer({ min: 1, max: 40 }), async (names, rows, size) => {
        const quoted = [names, ...rows].map((cells) =>
          cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','),
        );
        const got = await read(`${quoted.join('\n')}\n`, size);
        expect(got.map((row) => names.map((name) => ({ ...row, ...row.extra })[name as 'token']))).toEqual(rows);
      }),
      { numRuns: cases(1_000) },
    );
  });

  it.each([
    ['an empty file', ''],
    ['a column named twice', `${HEADER},token\n`],
    ['a row with a cell too few', `${HEADER}\nSECRET,26,12\n`],
    ['a row with a cell too many', `${HEADER}\nSECRET,26,12,b,29,11,UPD_PAN,x\n`],
    ['a file cut within quotes', `${HEADER}\na,26,12,"SECRET`],
    ['a quote within a cell', `${HEADER}\nSE"CRET,26,12,b,29,11,UPD_PAN\n`],
  ])('R47: the reader of results refuses %s, without repeating its cells', async (_, file) => {
    const error = await failure(file);
    expect(isSvcError(error, 'checksum_mismatch') && error.exitCode).toBe(12);
    expect(String(error) + JSON.stringify(error)).not.toContain('CRET');
  });

  it('the reader of results takes lines that end with a return alone, as some spreadsheets write them', async () => {
    const rows = await read('token,result_code,note\ra,UPD_PAN,"x\ry"\rb,ERR_UNDEFINED,\r', 5);
    expect(rows.map((row) => [row.token, row.result_code, row.extra['note']])).toEqual([
      ['a', 'UPD_PAN', 'x\ry'],
      ['b', 'ERR_UNDEFINED', ''],
    ]);
  });

  it.each(['x', 'a,', '"a",', 'token,result_code,'])(
    'R47: the reader of results refuses a file of one endless line of %s after a bounded part of it',
    async (piece) => {
      const mebibyte = Buffer.from(piece.repeat(2 ** 20 / piece.length));
      let read = 0;
      async function* endless(): AsyncGenerator<Uint8Array, void> {
        for (; read < 50; read += 1) yield await Promise.resolve(mebibyte);
      }
      await expect(readAll(readResults(endless()))).rejects.toMatchObject({ code: 'checksum_mismatch' });
      expect(read).toBeLessThan(5);
    },
  );

  it('the reader of results passes on the failure of its source', async () => {
    await expect(readAll(readResults(broken()))).rejects.toThrow('disk');
  });

  it('the reader of results closes its source when its reader stops early', async () => {
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array, void> {
      try {
        yield Buffer.from(`${HEADER}\n`);
        for (;;) yield Buffer.from('a,26,12,b,29,11,UPD_PAN\n'.repeat(1_000));
      } finally {
        closed = true;
      }
    }
    for await (const [row] of readResults(endless())) if (row !== undefined) break;
    await expect.poll(() => closed).toBe(true);
  });
});

describe('result codes', () => {
  it('the table of result codes knows the fifteen codes of the interface, each of the class that its prefix says', () => {
    const classes = { UPD: 'updated', WRN: 'warned', ERR: 'error' };
    expect(RESULT_CODES).toHaveLength(15);
    for (const code of RESULT_CODES)
      expect(explainResultCode(code)).toMatchObject({
        known: true,
        class: classes[code.slice(0, 3) as keyof typeof classes],
      });
  });

  it('the table of result codes keeps codes that it does not know', () => {
    expect(explainResultCode('WRN_NEW')).toMatchObject({ class: 'warned', known: false });
    expect(explainResultCode('toString')).toMatchObject({ class: 'unknown', known: false });
    expect(explainResultCode('')).toMatchObject({ class: 'unknown', known: false });
    expect(explainResultCode('UPD_PAN')).toMatchObject({ class: 'updated', known: true, group: 'replace' });
  });
});

describe('counts of results', () => {
  it('R47: the count of results counts rows by code and class, unknown ones too', async () => {
    const codes = ['NEW_1', 'UPD_PAN', 'ERR_UNDEFINED', 'UPD_PAN', 'WRN_OPT_OUT', 'UPD_LATER', 'constructor'];
    const file = `result_code,token\n${codes.map((code, at) => `${code},t${at}`).join('\n')}\n`;
    const summary = await summarizeResults(stream([Buffer.from(file)]));
    expect(summary).toMatchObject({ rows: 7, updated: 3, warned: 1, errors: 1, unknown: 2 });
    expect(summary.codes.map(({ code, count, known }) => [code, count, known])).toEqual([
      ['UPD_PAN', 2, true],
      ['WRN_OPT_OUT', 1, true],
      ['ERR_UNDEFINED', 1, true],
      ['NEW_1', 1, false],
      ['UPD_LATER', 1, false],
      ['constructor', 1, false],
    ]);
  });
});
