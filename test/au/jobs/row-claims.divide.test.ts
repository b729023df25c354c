import { readFileSync } from 'node:fs';
import { claimBody } from '../ledger/entries.ts';
import { type Machine, Machines, claim, fileOf, oneClaim, settle } from '../ledger/machines.ts';
import { HEADER, UUID } from '../rows.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Division, divideRows } from '../../../src/au/jobs/divide-rows.ts';
import { RowClaims } from '../../../src/au/jobs/row-claims.ts';
import type { CommandLedger } from '../../../src/au/ledger/command-ledger.ts';
import { readRows } from '../../../src/au/ledger/request-rows.ts';
import { RowSet, keyOfNewToken } from '../../../src/au/ledger/row-set.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { rowsWithoutJob } from '../../../src/au/ledger/rows-without-job.ts';
import type { Context } from '../../../src/cli/app/command.ts';

let home: string;
const closing: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  home = temporaryDirectory();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Returns what dividing needs of a command: a place for private files, and the end of the command. */
function context(): Context {
  const system = { env: {}, home, platform: 'linux', cwd: home, pid: process.pid, isAlive: () => true };
  const { signal } = new AbortController();
  return {
    clock: new FakeClock(),
    system,
    signal,
    onClose: (close: () => Promise<void> | void) => void closing.push(close),
  } as unknown as Context;
}

type Source = Parameters<typeof divideRows>[2]['source'];

function textOf(text: string): Source {
  return {
    async *open() {
      yield Buffer.from(text);
    },
  };
}

/** Divides a source by the claims that have rows with these tokens. */
async function divide(
  machine: Machine,
  tokens: readonly string[],
  source: Source = fileOf(tokens),
): Promise<Division | undefined> {
  const { taken } = await settle(machine, tokens);
  const cycle = machine.ledger.cycle('2026-12');
  return divideRows(context(), cycle, { salt: machine.ledger.salt, source, isMixed: true }, taken);
}

type File = Division['free'][number] | undefined;

function linesOf(file: File): string[] | undefined {
  return file && readFileSync(file.path, 'utf8').trimEnd().split('\n').slice(1);
}

function tokensOf(file: File): string[] | undefined {
  return linesOf(file)?.map((line) => line.split(',')[0] ?? '');
}

/** Returns the tokens of a division: the free ones, and those of each claim by its job. */
function tokensIn(division: Division | undefined): Record<string, string[] | undefined> | undefined {
  if (division === undefined) return undefined;
  const joined = division.joined.map(({ claim: { job }, file }) => [job, tokensOf(file)] as const);
  return { free: tokensOf(division.free[0]), ...Object.fromEntries(joined) };
}

it('R58: the rows of a file are divided into free ones and those of each claim, in their order, and none is lost', async () => {
  const machines = await oneClaim(['a', 'b']);
  const laptop = await machines.open('laptop');
  await claim(laptop, ['e']);
  const division = await divide(laptop, ['e', 'd', 'b', 'c', 'a', 'f']);
  expect(tokensIn(division)).toEqual({ free: ['d', 'c', 'f'], 'job-1': ['b', 'a'], 'job-2': ['e'] });
  expect(division?.joined.map(({ rows, status }) => [rows, status])).toEqual([
    [2, 'pending'],
    [1, 'pending'],
  ]);
  expect([division?.upToDate.size, division?.free[0]?.check.rows]).toEqual([0, 3]);
  expect(readFileSync(division?.free[0]?.path ?? '', 'utf8')).toBe(fileOf(['d', 'c', 'f']).text);
});

it('R58: the rows of a file all belong to a claim of unknown rows', async () => {
  const machines = new Machines();
  const laptop = await machines.open('laptop');
  const { id } = await laptop.client.accountUpdater.create();
  await laptop.ledger.cycle('2026-12').append(async () => claimBody(id, { row_set: null }));
  expect(tokensIn(await divide(laptop, ['x', 'y']))).toEqual({ free: undefined, 'job-1': ['x', 'y'] });
});

it('R58: the rows of a file are those of a claim with any quotes, other dates and capitals of a UUID, and stay as they are', async () => {
  const machines = await oneClaim(['a', 'b', UUID]);
  const rows = ['"a",27,"01","M"', `${UUID.toUpperCase()},,,M`, 'A,26,12,M', 'b,26,12,N', '"c ""1""",26,12,"M,1"'];
  const source = textOf(`${HEADER}\r\n${rows.join('\r\n')}\r\n`);
  const division = await divide(await machines.open('laptop'), ['a', 'b', UUID], source);
  const [joined] = division?.joined ?? [];
  expect(linesOf(joined?.file)).toEqual(rows.slice(0, 2));
  expect(linesOf(division?.free[0])).toEqual(rows.slice(2));
});

it('R85: the rows of a file whose tokens results of the cycle made are left out and counted', async () => {
  const machines = await oneClaim(['a', 'b']);
  const laptop = await machines.open('laptop');
  const cycle = laptop.ledger.cycle('2026-12');
  const made = ['n', UUID].map((token) => keyOfNewToken(laptop.ledger.salt, token));
  const born = await cycle.createRowSet(RowSet.of(made, laptop.ledger.salt));
  await cycle.endClaim({ kind: 'done', job: 'job-1', keys: 2, born });
  const division = await divide(laptop, ['c', 'n', UUID.toUpperCase()]);
  expect([tokensIn(division), division?.upToDate.size]).toEqual([{ free: ['c'] }, 2]);
  expect(await divide(laptop, ['c', 'd'])).toBeUndefined();
  expect(await divide(laptop, ['n'])).toEqual({ free: [], joined: [], upToDate: expect.objectContaining({ size: 1 }) });
});

it('a token stands once in each file of free rows, and its rows for further merchants are in the next, in their order', async () => {
  const machines = await oneClaim(['x']);
  const laptop = await machines.open('laptop');
  const rows = [`${UUID},,,M1`, 'a,,,M1', `${UUID.toUpperCase()},,,M2`, 'a,,,M3', 'b,,,M2', `${UUID},,,M3`];
  const source = textOf(`${HEADER}\n${rows.join('\n')}\n`);
  const division = await divide(laptop, [], source);
  expect(division?.free.map(linesOf)).toEqual([[rows[0], rows[1], rows[4]], [rows[2], rows[3]], [rows[5]]]);
  expect(division?.free.map(({ check }) => check.rows)).toEqual([3, 2, 1]);
  // Each of these files has a token once.
  for (const file of division?.free ?? [])
    expect(await divide(laptop, [], textOf(readFileSync(file.path, 'utf8')))).toBeUndefined();
});

it('the files of divided rows are removed at the end of the command', async () => {
  const machines = await oneClaim(['a']);
  const division = await divide(await machines.open('laptop'), ['a', 'b']);
  const path = division?.free[0]?.path ?? '';
  expect(readFileSync(path, 'utf8')).toBe(fileOf(['b']).text);
  for (const close of closing.splice(0)) await close();
  expect(() => readFileSync(path)).toThrow('ENOENT');
});

it('R85: rows without a job whose tokens results of the cycle made are left out of it, and no others', async () => {
  const machines = new Machines();
  const laptop = await machines.open('laptop');
  const cycle = laptop.ledger.cycle('2026-12');
  const keysOf = async (tokens: readonly string[]) => (await readRows(laptop.ledger.salt, fileOf(tokens))).rows;
  const row_sets = [await cycle.createRowSet(await keysOf(['a', 'n', 'o']))];
  await claim(laptop, ['a'], { file: { name: 'tokens.csv', sha256: '0'.repeat(64), rows: 3, row_sets } });
  const lost = async () =>
    (await rowsWithoutJob({ cycle, entries: [...(await cycle.read())] })).map(({ rows }) => rows);
  expect((await lost()).map(({ size }) => size)).toEqual([2]);
  const rows = new RowClaims({ open: async () => laptop.ledger } as unknown as CommandLedger);
  for (let time = 0; time < 2; time += 1) await rows.leaveOutUpToDate('ours', '2026-12', await keysOf(['n', 'x']));
  expect(await lost()).toEqual([await keysOf(['o'])]);
  expect(await machines.entries()).toEqual(['claim job-1', 'left_out job-1']);
});

it('the rows of a file that needs very many jobs are in at most 100 sets, none of them larger than those of a few jobs', async () => {
  const laptop = await new Machines().open('laptop');
  const rows = new RowClaims({ open: async () => laptop.ledger } as unknown as CommandLedger);
  const slices = Array.from({ length: 250 }, (_, at) => {
    const source = fileOf([`token-${at}`]);
    return { source, sha256: sha256Of(source.text) };
  });
  const names = (await rows.createRowSets('ours', '2026-12', slices)) ?? [];
  const cycle = laptop.ledger.cycle('2026-12');
  const sets = await Promise.all(names.map((name) => cycle.rowSet(name, { keys: 2 })));
  expect([...new Set(sets.map(({ size }) => size))]).toEqual([3, 1]);
  expect([sets.length, sets.reduce((sum, { size }) => sum + size, 0)]).toEqual([84, 250]);
});
