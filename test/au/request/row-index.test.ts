import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkRequestFile } from '../../../src/au/request/check-request-file.ts';
import { RowIndex } from '../../../src/au/request/row-index.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';

function textSource(text: string): { open: () => AsyncIterable<Uint8Array> } {
  return {
    async *open() {
      yield Buffer.from(text);
    },
  };
}

/** Returns the index of a file with these lines, in parts of at most three rows. */
async function indexOf(lines: readonly string[], end = '\n'): Promise<RowIndex> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-rows-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'request.csv');
  writeFileSync(file, HEADER + lines.map((line) => line + end).join(''));
  const limits = { rows: 3, bytes: 30_000_000 };
  const { parts } = await checkRequestFile((await fileSource(file)).open(), { limits });
  const index = await RowIndex.of(file, parts);
  onTestFinished(() => index.close());
  return index;
}

function mark(index: RowIndex, lines: readonly string[], errors: readonly string[] = []): Promise<number> {
  return index.mark(textSource(`${HEADER}${lines.join('\n')}\n`), new Set(errors));
}

async function restOf(index: RowIndex): Promise<string[]> {
  let text = '';
  for await (const piece of index.rest()) text += piece;
  expect(text.startsWith(HEADER)).toBe(true);
  return text.slice(HEADER.length).split('\n').filter(Boolean);
}

/** Returns the token and the merchant of a row. */
function keyOf(line: string): string {
  return line.replace(/^([^,]*),.*,/, '$1,');
}

describe('rows that were sent before', () => {
  it('rows are found by token and merchant, whatever their order, quotes and expiration', async () => {
    const index = await indexOf(['a,27,01,', 'b,27,01,m1', '"c",27,"01","m,1"', 'd,,,', 'ü,27,01,'], '\r\n');
    const sent = ['"ü",27,01,""', 'c,28,02,"m,1"', 'a,27,01,m1', 'b,27,01,m1'];
    expect(await mark(index, sent)).toBe(3);
    expect(index.counts()).toEqual({ sent: 3, changed: 1, unchangedErrors: 0 });
    expect(await restOf(index)).toEqual(['a,27,01,', 'd,,,']);
  });

  it('rows that ended in an error count only while they are unchanged', async () => {
    const index = await indexOf(['a,27,01,', 'b,27,01,', 'c,27,01,']);
    expect(await mark(index, ['a,27,01,', 'b,26,01,', 'c,27,01,'], ['a', 'b'])).toBe(2);
    expect(index.counts()).toEqual({ sent: 1, changed: 0, unchangedErrors: 1 });
    expect(await restOf(index)).toEqual(['b,27,01,']);
  });

  it('rows that once ended in an error count if they were sent again without one', async () => {
    const index = await indexOf(['a,28,01,']);
    await mark(index, ['a,27,01,'], ['a']);
    expect(index.counts().sent).toBe(0);
    await mark(index, ['a,26,01,']);
    expect(index.counts()).toEqual({ sent: 1, changed: 1, unchangedErrors: 0 });
  });

  it('each row is counted once, however often it was sent', async () => {
    const index = await indexOf(['a,27,01,', 'a,27,02,']);
    expect(await mark(index, ['a,27,01,', 'a,27,01,'])).toBe(2);
    expect(await mark(index, ['a,27,01,'])).toBe(0);
    expect(index.counts()).toEqual({ sent: 2, changed: 1, unchangedErrors: 0 });
  });

  it('R79: rows sent before are found in any files, as by sets of their keys', async () => {
    const cell = fc.constantFrom('', 'm1', 'm2', 'merchant é');
    const row = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom('27,01', '28,12', ','), cell);
    const line = row.map(([token, expiration, merchant]) => `token-${token},${expiration},${merchant}`);
    const files = fc.array(line, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(files, files, async (given, sent) => {
        const index = await indexOf(given);
        await mark(index, sent);
        const keys = new Set(sent.map(keyOf));
        expect(await restOf(index)).toEqual(given.filter((text) => !keys.has(keyOf(text))));
      }),
      { numRuns: 200 },
    );
  });
});
