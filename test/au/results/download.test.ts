import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { countResults, findFlaws } from '../../../src/au/results/download.ts';
import { hashIfReadable } from '../../../src/client/transfer/source.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HEADER = 'token,result_code';
const RIGHT = `${HEADER}\nt,UPD_PAN\n`;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

function file(text: string): string {
  const path = join(directory, 'results.csv');
  writeFileSync(path, text);
  return path;
}

describe('what speaks against a result file', () => {
  it.each([
    ['framing', `${RIGHT}u,X`, ['end']],
    ['none', `${RIGHT}u,X`, ['end']],
    ['length', `${RIGHT}u,X`, []],
    ['md5', `${RIGHT}u,X`, []],
    ['none', RIGHT, []],
    ['none', RIGHT.replaceAll('\n', '\r'), []],
    ['none', '', ['columns']],
    ['md5', '<html></html>\n', ['columns']],
    ['none', '<html></html>', ['columns', 'end']],
    ['none', `${HEADER}\n"t,UPD_PAN\n`, ['columns']],
  ] as const)('R59: a flaw of a result file where %s proves its length, of %j, is %j', async (proof, text, rules) => {
    expect((await findFlaws(file(text), proof, {})).map(({ rule }) => rule)).toEqual(rules);
  });

  it('R59: a flaw of a result file is a row more than were sent, and no row less', async () => {
    const path = file(`${HEADER}\nt,A\nu,B\n`);
    expect(await findFlaws(path, 'none', { rowsSent: 1 })).toEqual([
      { rule: 'row_count', problem: 'has 2 rows, more than the 1 that were sent' },
    ]);
    for (const rowsSent of [2, 3, undefined]) expect(await findFlaws(path, 'none', { rowsSent })).toEqual([]);
    expect(await countResults(path, 5)).toMatchObject({ rows: 2, unchanged: 3 });
    expect(await countResults(path, 1)).toMatchObject({ rows: 2, unchanged: 0 });
  });

  it('a flaw of a result file is nothing that hides a file that cannot be read', async () => {
    await expect(findFlaws(join(directory, 'none.csv'), 'none', { rowsSent: 1 })).rejects.toThrow('none.csv');
    expect(await hashIfReadable(join(directory, 'none.csv'))).toBeUndefined();
  });
});
