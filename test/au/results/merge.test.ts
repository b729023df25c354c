import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { mergeResults } from '../../../src/au/results/merge.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { cases } from '../../support/cases.ts';
import { testSystem } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const directory = temporaryDirectory();
const target = join(directory, 'out.csv');
beforeEach(() => rmSync(target, { force: true }));

const HEADER = RESULT_COLUMNS.join(',');
const row = (token: string, code: string, more = ''): string => `${token},,,,,,${code}${more}`;

async function merged(...parts: readonly string[]): Promise<string> {
  const files = parts.map((text, index) => {
    const file = join(directory, `part-${index}.csv`);
    writeFileSync(file, text);
    return file;
  });
  await mergeResults(files, target, { overwrite: true, writer: testSystem() });
  return readFileSync(target, 'utf8');
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

describe('joining the results of parts', () => {
  it('R47: the merge of results keeps the bytes of parts with the same header, in the order of the input', async () => {
    const [one, two] = [`${HEADER}\n${row('a', 'UPD_PAN')}\n`, `${HEADER}\n${row('"b ""x"""', 'ERR_NEW')}\n`];
    expect(await merged(one, two)).toBe(one + two.slice(HEADER.length + 1));
    expect(await merged(one)).toBe(one);
  });

  it('R47: the merge of results keeps lines apart where a part has no line end at its end, and keeps carriage returns', async () => {
    expect(await merged(`${HEADER}\n${row('a', 'X')}`, `${HEADER}\n${row('b', 'X')}`)).toBe(
      `${HEADER}\n${row('a', 'X')}\n${row('b', 'X')}`,
    );
    const text = await merged(
      `${HEADER}\r\n${row('a', 'X')}\r\n`,
      `${HEADER}\r\n`,
      `${HEADER}\r\n${row('b', 'X')}\r\n`,
    );
    expect(text).toBe(`${HEADER}\r\n${row('a', 'X')}\r\n${row('b', 'X')}\r\n`);
  });

  it('R47: the merge of results loses no row and no cell, however the columns of the parts differ', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', 'é', '\n'), maxLength: 4 });
    const part = fc.record({
      extra: fc.subarray(['x', 'y', 'z']),
      rows: fc.array(fc.tuple(cell, cell), { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 2, maxLength: 4 }), async (parts) => {
        const texts = parts.map(({ extra, rows }) =>
          [
            ['token', 'result_code', ...extra].join(','),
            ...rows.map(([token, value]) =>
              [quote(`t${token}`), 'UPD_PAN', ...extra.map((name) => quote(name + value))].join(','),
            ),
            '',
          ].join('\n'),
        );
        const { readResults } = await import('../../../src/au/result-codes.ts');
        const { fileSource } = await import('../../../src/client/transfer/source.ts');
        await merged(...texts);
        const seen: (readonly [string, Readonly<Record<string, string>>])[] = [];
        for await (const rows of readResults((await fileSource(target)).open()))
          for (const { token, extra } of rows)
            seen.push([token, Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== ''))]);
        expect(seen).toEqual(
          parts.flatMap(({ extra, rows }) =>
            rows.map(([token, value]) => [`t${token}`, Object.fromEntries(extra.map((name) => [name, name + value]))]),
          ),
        );
      }),
      { numRuns: cases(2_000) },
    );
  });

  it('R44: the merge of results is whole or absent, for its owner alone, and replaces nothing unasked', async () => {
    const part = join(directory, 'part.csv');
    writeFileSync(part, `${HEADER}\n${row('a', 'UPD_PAN')}\n`);
    await mergeResults([part], target, { overwrite: false, writer: testSystem() });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    // The same bytes are no other file.
    await mergeResults([part], target, { overwrite: false, writer: testSystem() });
    writeFileSync(part, `${HEADER}\n${row('other', 'UPD_PAN')}\n`);
    await expect(mergeResults([part], target, { overwrite: false, writer: testSystem() })).rejects.toMatchObject({
      code: 'usage',
    });
    const gone = mergeResults([part, join(directory, 'gone.csv')], target, { overwrite: true, writer: testSystem() });
    await expect(gone).rejects.toMatchObject({ code: 'local' });
    expect(readFileSync(target, 'utf8')).toContain('UPD_PAN');
    expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
