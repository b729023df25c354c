import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { mergedInOrder } from '../../../src/au/results/merge-in-order.ts';
import { onlyRequested, rowNumbersOf } from '../../../src/au/results/rows-of-request.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { HEADER, UUID } from '../rows.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-merge-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const RESULT_HEADER = RESULT_COLUMNS.join(',');
let number = 0;

function file(text: string): string {
  const path = join(directory, String((number += 1)));
  writeFileSync(path, text);
  return path;
}

function request(tokens: readonly string[]): string {
  return file([HEADER, ...tokens.map((token) => `${token},26,12,M`), ''].join('\n'));
}

/** Returns the line of a result: the token, and empty cells. */
function lineOf(token: string): string {
  return RESULT_COLUMNS.map((name) => (name === 'token' ? token : '')).join(',');
}

function results(tokens: readonly string[]): string {
  return file([RESULT_HEADER, ...tokens.map(lineOf), ''].join('\n'));
}

async function merged(tokens: readonly string[], ...parts: readonly (readonly string[])[]): Promise<string[]> {
  const numbers = await rowNumbersOf(request(tokens), tokens.length);
  let text = '';
  for await (const piece of mergedInOrder(parts.map(results), numbers)) text += piece;
  const [header, ...lines] = text.trimEnd().split(/\r?\n/);
  expect(header).toBe(RESULT_HEADER);
  return lines.map((line) => line.split(',')[RESULT_COLUMNS.indexOf('token')] ?? '');
}

describe('results of several jobs', () => {
  it('results of several jobs are merged in the order of the request, without those of other requests', async () => {
    expect(await merged(['a', 'b', 'c', 'd'], ['d', 'x', 'b'], ['y', 'a', 'c'])).toEqual(['a', 'b', 'c', 'd']);
    expect(await merged(['a', 'b'], ['x'], [])).toEqual([]);
  });

  it('results of several jobs with one token stand side by side, as many as there are', async () => {
    expect(await merged(['a', 'b', 'a'], ['a', 'a', 'b'], ['a'])).toEqual(['a', 'a', 'a', 'b']);
  });

  it('results of several jobs belong to a token in capitals if it is a UUID', async () => {
    expect(await merged(['T', UUID.toUpperCase()], [UUID, 't', 'T'])).toEqual(['T', UUID]);
  });

  it('results of several jobs lose and add none, whatever their order', async () => {
    const tokens = Array.from({ length: 12 }, (_, row) => `t${row}`);
    const spread = fc
      .shuffledSubarray(tokens, { minLength: 12 })
      .chain((all) =>
        fc
          .array(fc.integer({ min: 0, max: 2 }), { minLength: 12, maxLength: 12 })
          .map((at) => [0, 1, 2].map((part) => all.filter((_, row) => at[row] === part))),
      );
    await fc.assert(
      fc.asyncProperty(fc.subarray(tokens), spread, async (wanted, parts) => {
        expect(await merged(wanted, ...parts)).toEqual(wanted);
      }),
      { numRuns: 40 },
    );
  });

  it('results of several jobs keep the columns that only some of them have', async () => {
    const numbers = await rowNumbersOf(request(['a', 'b']), 2);
    const more = file(`${RESULT_HEADER},color\n${lineOf('b')},blue\n`);
    let text = '';
    for await (const piece of mergedInOrder([results(['a']), more], numbers)) text += piece;
    expect(text.trimEnd().split(/\r?\n/)).toEqual([`${RESULT_HEADER},color`, `${lineOf('a')},`, `${lineOf('b')},blue`]);
  });
});

describe('the results of a job with rows of other files', () => {
  it('the results of a job with rows of other files are read without those', async () => {
    const numbers = await rowNumbersOf(request(['a', UUID]), 2);
    const all = await fileSource(results(['x', UUID.toUpperCase(), 'a', 'A']));
    let text = '';
    for await (const piece of onlyRequested(all, numbers).open()) text += Buffer.from(piece).toString();
    expect(text.trimEnd().split(/\r?\n/)).toEqual([RESULT_HEADER, lineOf(UUID.toUpperCase()), lineOf('a')]);
  });
});
