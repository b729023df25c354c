import * as fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergedInOrder } from '../../../src/au/results/merge-in-order.ts';
import { PartRows, rowNumbersOf } from '../../../src/au/results/rows-of-request.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { HEADER, UUID } from '../rows.ts';
import { cases } from '../../support/cases.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const directory = temporaryDirectory();

const RESULT_HEADER = RESULT_COLUMNS.join(',');
let number = 0;

function file(text: string): string {
  const path = join(directory, String((number += 1)));
  writeFileSync(path, text);
  return path;
}

/** Writes a request. A token that stands twice has another merchant each time. */
function request(tokens: readonly string[]): string {
  const rows = tokens.map(
    (token, at) => `${token},26,12,M${tokens.slice(0, at).filter((one) => one === token).length}`,
  );
  return file([HEADER, ...rows, ''].join('\n'));
}

async function rowsOf(part: string, whole: string): Promise<PartRows> {
  return PartRows.of(await fileSource(part), 0, await rowNumbersOf(await fileSource(whole), 0));
}

/** Returns the line of a result: the token, and empty cells. */
function lineOf(token: string): string {
  return RESULT_COLUMNS.map((name) => (name === 'token' ? token : '')).join(',');
}

function results(tokens: readonly string[]): string {
  return file([RESULT_HEADER, ...tokens.map(lineOf), ''].join('\n'));
}

async function merged(tokens: readonly string[], ...parts: readonly (readonly string[])[]): Promise<string[]> {
  const whole = request(tokens);
  const rows = await rowsOf(whole, whole);
  let text = '';
  const each = parts.map(() => rows);
  for await (const piece of mergedInOrder(parts.map(results), each)) text += piece;
  const [header, ...lines] = text.trimEnd().split(/\r?\n/);
  expect(header).toBe(RESULT_HEADER);
  return lines.map((line) => line.split(',')[RESULT_COLUMNS.indexOf('token')] ?? '');
}

describe('results of several jobs', () => {
  it('results of several jobs are merged in the order of the request, without those of other requests', async () => {
    expect(await merged(['a', 'b', 'c', 'd'], ['d', 'x', 'b'], ['y', 'a', 'c'])).toEqual(['a', 'b', 'c', 'd']);
    expect(await merged(['a', 'b'], ['x'], [])).toEqual([]);
  });

  it('results of several jobs for a token with two merchants have the order of the rows, each of which one job had', async () => {
    const whole = file(`${HEADER}\na,26,12,M1\nb,26,12,M\na,26,12,M2\nc,26,12,M\n`);
    const parts = [file(`${HEADER}\nb,26,12,M\na,26,12,M2\n`), file(`${HEADER}\na,26,12,M1\nc,26,12,M\n`)];
    const rows = await Promise.all(parts.map((part) => rowsOf(part, whole)));
    const second = file(`${RESULT_HEADER}\n${lineOf('b')}\n${lineOf('a').replace(/,$/, ',SECOND')}\n`);
    const first = file(`${RESULT_HEADER}\n${lineOf('a').replace(/,$/, ',FIRST')}\n${lineOf('c')}\n`);
    let text = '';
    for await (const piece of mergedInOrder([second, first], rows)) text += piece;
    const found = text.trimEnd().split(/\r?\n/).slice(1);
    expect(found.map((line) => line.replaceAll(/,+/g, ' ').trim())).toEqual(['a FIRST', 'b', 'a SECOND', 'c']);
  });

  it('results of a job that has a token for several merchants are all there, at the first row of the token', async () => {
    const lines = ['a', 'b', 'a', 'x'].map(lineOf);
    const whole = request(['a', 'b', 'a']);
    const rows = await rowsOf(whole, whole);
    let text = '';
    for await (const piece of mergedInOrder([file([RESULT_HEADER, ...lines, ''].join('\n'))], [rows])) text += piece;
    expect(text.trimEnd().split(/\r?\n/)).toEqual([RESULT_HEADER, lineOf('a'), lineOf('a'), lineOf('b')]);
  });

  it('a row of which two files have a result has that of the later file', async () => {
    const whole = request(['a', 'b', 'c']);
    const rows = await rowsOf(whole, whole);
    const later = lineOf('b').replace(/,$/, ',LATER');
    // The job of an earlier build may have several results of the token.
    const files = [results(['a', 'b', 'b', 'c']), file([RESULT_HEADER, later, ''].join('\n'))];
    let text = '';
    for await (const piece of mergedInOrder(files, [rows, rows])) text += piece;
    expect(text.trimEnd().split(/\r?\n/)).toEqual([RESULT_HEADER, lineOf('a'), later, lineOf('c')]);
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
      { numRuns: cases(500) },
    );
  });

  it('results of several jobs keep the columns that only some of them have', async () => {
    const whole = request(['a', 'b']);
    const rows = await rowsOf(whole, whole);
    const more = file(`${RESULT_HEADER},color\n${lineOf('b')},blue\n`);
    let text = '';
    for await (const piece of mergedInOrder([results(['a']), more], [rows, rows])) text += piece;
    expect(text.trimEnd().split(/\r?\n/)).toEqual([`${RESULT_HEADER},color`, `${lineOf('a')},`, `${lineOf('b')},blue`]);
  });
});
