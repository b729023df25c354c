import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { jobOfEarlierBuild } from '../ledger/job-of-earlier-build.ts';
import { openQuickDesk } from './support.ts';
import { succeeded } from '../../support/run-here.ts';

/** Tokens whose cards have a new number at the sandbox. */
const [A = '', B = '', C = '', E = ''] = exampleRequestFile()
  .split('\n')
  .slice(1)
  .map((row) => row.slice(0, 36));
const CYCLE = 'refresh/2026-12';
const BOTH = [`rec1,${A},05/28,M1`, `rec2,${A},05/28,M2`];
const MORE = `rec3,${B},05/28,M1`;
const LATER = `rec4,${C},05/28,M1`;

/** A desk whose machines share a ledger and a directory, and a function that refreshes a cycle of an export on one of them. */
async function openKept() {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1', 'M2', 'M3'] });
  const file = (name: string): string => desk.home.file(`${CYCLE}/${name}`);
  const run = async (machine: string, words: readonly string[]): Promise<string> => {
    const done = succeeded(
      await desk.on(machine, ['au', 'refresh', ...words, '--cycle', '2026-12', '--fail-on', 'err=100%']),
    );
    return done.stderr;
  };
  return {
    desk,
    file,
    add: (rows: readonly string[], options: readonly string[] = ['--keep', 'rec'], machine = 'runner') => {
      writeFileSync(desk.home.file('e.csv'), ['rec,token,expiration,merchant_id', ...rows, ''].join('\n'));
      return run(machine, ['e.csv', '--add', ...options]);
    },
    again: (machine = 'runner', options: readonly string[] = []) => run(machine, options),
    prune: async () => {
      await desk.clock.advance(3_600_000);
      succeeded(await desk.on('runner', 'au prune --older-than 1m --yes'));
    },
    /** Returns the kept column, the token and the new token of each row of `replace.csv`. */
    replaced: (cycle = CYCLE) => {
      const text = readFileSync(desk.home.file(`${cycle}/todo/replace.csv`), 'utf8');
      const [header = '', ...rows] = text.trimEnd().split('\n');
      const names = header.split(',');
      return rows.map((row) => ['rec', 'token', 'new_token'].map((name) => row.split(',')[names.indexOf(name)] ?? ''));
    },
  };
}

it.each([
  ['with all rows in another order', [...BOTH, MORE], [LATER, MORE, ...BOTH]],
  ['with another merchant of a token', [BOTH[0] ?? '', MORE], [LATER, BOTH[1] ?? '']],
])('the new tokens of a cycle stay the same on each machine after an export %s', async (_, first, second) => {
  const { file, add, again, replaced } = await openKept();
  await add(first);
  await add(second, ['--keep', 'rec'], 'laptop');
  const written = readFileSync(file('todo/replace.csv'), 'utf8');
  const records = [...first, ...second].map((row) => row.slice(0, 4));
  expect(new Set(replaced().map(([rec]) => rec))).toEqual(new Set(records));
  for (const machine of ['laptop', 'desktop', 'runner']) {
    await again(machine);
    expect(readFileSync(file('todo/replace.csv'), 'utf8'), machine).toBe(written);
  }
  await add([`rec9,${E},05/28,M1`], ['--keep', 'rec'], 'desktop');
  expect(new Set(replaced().map(([rec]) => rec))).toEqual(new Set([...records, 'rec9']));
});

it.each([
  ['fewer merchants of a token', [LATER, MORE, BOTH[0] ?? '']],
  ['another merchant of a token', [LATER, `rec5,${A},05/28,M3`, BOTH[1] ?? '']],
])(
  'the new tokens of a cycle stay the same after the files of its jobs were pruned, with an export of %s',
  async (_, second) => {
    const { file, add, again, prune, replaced } = await openKept();
    await add([...BOTH, MORE]);
    await add(second);
    const written = readFileSync(file('todo/replace.csv'), 'utf8');
    expect(replaced().map(([rec]) => rec)).toEqual(expect.arrayContaining(['rec1', 'rec2', 'rec3', 'rec4']));
    await prune();
    await again();
    expect(readFileSync(file('todo/replace.csv'), 'utf8')).toBe(written);
  },
);

/** Another machine that shares the ledger, in its own directory, and an export with the merchants of a token in another order. */
const TURNED = [BOTH[1] ?? '', MORE, BOTH[0] ?? ''];
const OWN = ['--keep', 'rec', '--out-dir', 'own'];

describe("the new tokens of another machine's job", () => {
  it('the new tokens of the job of an earlier build have no kept columns in replace.csv and are counted, where it may have the merchants of a token in another order', async () => {
    const { desk, add, again, replaced } = await openKept();
    await jobOfEarlierBuild(desk, [`${A},28,05,M1`, `${A},28,05,M2`, `${B},28,05,M1`]);
    const said = await add(TURNED, OWN, 'laptop');
    expect(said).toContain('2 new tokens have no kept columns in own/2026-12/todo/replace.csv');
    expect(replaced('own/2026-12').map(([rec, token]) => [rec, token])).toEqual([
      ['', A],
      ['', A],
      ['rec3', B],
    ]);
    // Files that are written stay as they are.
    await again('desktop', ['--out-dir', 'own']);
    // Machines without the jobs of earlier requests get their results again.
    await add([LATER], OWN, 'tablet');
    await add([`rec9,${E},05/28,M1`], OWN, 'phone');
    expect(new Set(replaced('own/2026-12').map(([rec]) => rec))).toEqual(new Set(['', 'rec3', 'rec4', 'rec9']));
  });

  it.each([
    ['the export has another order', TURNED],
    ['its rows are these rows in the same order', [...BOTH, MORE, LATER]],
  ])("the new tokens of another machine's job are those of their merchants, where %s", async (_, rows) => {
    const { add, replaced } = await openKept();
    await add([...BOTH, MORE]);
    const before = sortedRows(replaced());
    await add(rows, OWN, 'laptop');
    expect(sortedRows(replaced('own/2026-12').filter(([rec]) => rec !== 'rec4'))).toEqual(before);
  });
});

describe('the kept columns of a new token', () => {
  it('the kept columns of a new token are those of its merchant, where the request file was deleted', async () => {
    const { file, add, replaced } = await openKept();
    await add([BOTH[1] ?? '', MORE]);
    const before = replaced();
    expect(before.map(([rec]) => rec)).toEqual(['rec2', 'rec3']);
    rmSync(file('request.csv'));
    await add([LATER]);
    expect(replaced()).toEqual([...before, ['rec4', C, expect.any(String)]]);
    // Both jobs have rows of the request now.
    const request = readFileSync(file('request.csv'), 'utf8');
    rmSync(file('request.csv'));
    await add([LATER]);
    expect(readFileSync(file('request.csv'), 'utf8')).toBe(request);
  });

  it.each([
    ['sorted', sorted],
    ['edited', (text: string) => text.split('\n').slice(0, 3).join('\n')],
  ])('no row of another export is added to a request file that was %s', async (_, change) => {
    const { file, add, desk } = await openKept();
    await add([BOTH[1] ?? '', MORE]);
    writeFileSync(file('request.csv'), change(readFileSync(file('request.csv'), 'utf8')));
    await expect(add([LATER])).rejects.toThrow('request.csv was changed after it was prepared');
    expect(desk.uploads()).toBe(1);
  });

  it('the kept columns of the rows of a cycle are those of an export that is added to keep more of them', async () => {
    const { file, add, again, replaced } = await openKept();
    await add([...BOTH, MORE], []);
    expect(replaced().map(([rec]) => rec)).toEqual(['', '', '']);
    await add([...BOTH, MORE, LATER]);
    expect(replaced().map(([rec]) => rec)).toEqual(['rec1', 'rec2', 'rec3', 'rec4']);
    await add([`rec9,${E},05/28,M1`], []);
    expect(replaced().map(([rec]) => rec)).toEqual(['rec1', 'rec2', 'rec3', 'rec4', 'rec9']);
    rmSync(file('request.keep.csv'));
    expect(await again()).toContain(
      'request.keep.csv is missing: the columns kept with --keep will not be in the todo files',
    );
  });

  it('the kept columns of a new token are those of its merchant, where the file of kept columns was sorted', async () => {
    const { file, add, replaced } = await openKept();
    await add(BOTH);
    const before = replaced();
    writeFileSync(file('request.keep.csv'), sorted(readFileSync(file('request.keep.csv'), 'utf8')));
    await add([MORE]);
    expect(replaced()).toEqual([...before, ['rec3', B, expect.any(String)]]);
  });

  it('the kept columns of a new token are those of its own merchant, where --keep is remembered from an earlier request', async () => {
    const { add, replaced } = await openKept();
    await add([BOTH[0] ?? '', MORE]);
    await add([BOTH[1] ?? '', MORE, LATER], []);
    const cells = new Set(replaced().map(([rec, token]) => `${rec} ${token}`));
    expect(cells).toEqual(new Set([`rec1 ${A}`, `rec2 ${A}`, `rec3 ${B}`, `rec4 ${C}`]));
  });

  it('the new tokens of several merchants stay in replace.csv with their kept columns, where their request is gone and had several jobs', async () => {
    const { file, add, replaced } = await openKept();
    await add([...BOTH, MORE]);
    const before = replaced();
    renameSync(file('request.csv'), file('moved.csv'));
    await expect(add([LATER])).rejects.toThrow(
      'is gone, and this machine cannot make it again of the rows that it sent',
    );
    expect(replaced()).toEqual(before);
    renameSync(file('moved.csv'), file('request.csv'));
    await add([LATER]);
    expect(replaced().map(([rec]) => rec)).toEqual(['rec1', 'rec2', 'rec3', 'rec4']);
  });
});

/** Reverses the rows below the header. */
function sorted(text: string): string {
  const [header = '', ...rows] = text.trimEnd().split('\n');
  return [header, ...rows.toReversed(), ''].join('\n');
}

function sortedRows(rows: readonly (readonly string[])[]): (readonly string[])[] {
  return rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b));
}
