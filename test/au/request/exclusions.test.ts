import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Exclusions } from '../../../src/au/request/exclusions.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const NOON = Date.UTC(2026, 0, 5, 12);

it('a list of exclusions says on which line a token stands, and in which cycle another was added', async () => {
  const file = join(temporaryDirectory(), 'closed.csv');
  writeFileSync(file, 'token,code,cycle,date,note\na,X,,,"two\nlines"\n\nb\n');
  const list = await Exclusions.open(file);
  expect(['a', 'b', 'c'].map((token) => list.lineOf(token))).toEqual([3, 5, 0]);
  for (const token of ['a', 'c', 'c']) list.add({ token, code: 'Y', cycle: '2026-01', at: NOON });
  expect([list.addedCount, list.lineOf('c')]).toEqual([1, 0]);
  await (await list.draft()).finish(true);
  expect(readFileSync(file, 'utf8').split('\n').slice(-3)).toEqual(['b', 'c,Y,2026-01,2026-01-05', '']);
});

it.each([
  ['CRLF', '\r\n'],
  ['CR', '\r'],
  ['LF', '\n'],
])('a list of exclusions with %s line ends gets its new lines with the same ends', async (_, end) => {
  const file = join(temporaryDirectory(), 'closed.csv');
  const before = ['token,code,cycle,date', 'a,X,,', '"b",X,,"Q"', 'c,X,,'].join(end);
  writeFileSync(file, before);
  const list = await Exclusions.open(file);
  for (const token of ['d', 'e']) list.add({ token, code: 'Y', cycle: undefined, at: NOON });
  await (await list.draft()).finish(true);
  expect(readFileSync(file, 'utf8')).toBe([before, 'd,Y,,2026-01-05', 'e,Y,,2026-01-05', ''].join(end));
  const again = await Exclusions.open(file);
  expect(['a', 'b', 'c', 'd', 'e'].map((token) => again.lineOf(token))).toEqual([2, 3, 4, 5, 6]);
});

it('a list of exclusions that another process changed meanwhile is not replaced', async () => {
  const file = join(temporaryDirectory(), 'closed.csv');
  const list = await Exclusions.open(file);
  await list.requireUnchanged();
  writeFileSync(file, 'token,code,cycle,date\n');
  await expect(list.requireUnchanged()).rejects.toMatchObject({ code: 'conflict', retryable: true });
});

it('a list of exclusions that could not be written leaves nothing beside it', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'closed.csv');
  writeFileSync(file, 'token,code,cycle,date\n');
  const list = await Exclusions.open(file);
  rmSync(file);
  await expect(list.draft()).rejects.toMatchObject({ code: 'local' });
  expect(readdirSync(directory)).toEqual([]);
});

it.each([
  ['semicolons', ';'],
  ['tabs', '\t'],
])('a list of exclusions that a spreadsheet saved with %s is read, and gets its new lines so too', async (_, sign) => {
  const file = join(temporaryDirectory(), 'closed.csv');
  const before = `\uFEFF${['token,code,cycle,date', 'a,X,2026-01,', 'b,X,,'].join('\r\n').replaceAll(',', sign)}`;
  writeFileSync(file, before);
  const list = await Exclusions.open(file);
  expect(['a', 'b', 'c'].map((token) => list.lineOf(token))).toEqual([2, 3, 0]);
  list.add({ token: 'c', code: 'Y', cycle: undefined, at: NOON });
  list.add({ token: `d${sign}e`, code: 'Y', cycle: '2026-01', at: NOON });
  await (await list.draft()).finish(true);
  const added = [`c,Y,,2026-01-05`, `"d,e",Y,2026-01,2026-01-05`].join('\r\n').replaceAll(',', sign);
  expect(readFileSync(file, 'utf8')).toBe(`${before}\r\n${added}\r\n`);
  const again = await Exclusions.open(file);
  expect(['a', 'b', 'c', `d${sign}e`].map((token) => again.lineOf(token))).toEqual([2, 3, 4, 5]);
});

it('a list of exclusions that was saved with CRLF and then got lines with LF has all its tokens', async () => {
  const file = join(temporaryDirectory(), 'closed.csv');
  const saved = 'token,code,cycle,date\r\na,X,,\r\n';
  const added = Array.from({ length: 40_000 }, (_, at) => `t${at},Y,,2026-01-05\n`);
  writeFileSync(file, saved + added.join(''));
  const list = await Exclusions.open(file);
  expect([list.tokenCount, list.lineOf('t0'), list.lineOf('t39999')]).toEqual([40_001, 3, 40_002]);
});

it('a list of exclusions whose columns a spreadsheet moved gets its new lines in the same order', async () => {
  const file = join(temporaryDirectory(), 'closed.csv');
  writeFileSync(file, 'date,note,token,code,cycle\n2026-01-01,,a,X,\n');
  const list = await Exclusions.open(file);
  list.add({ token: 'c', code: 'Y', cycle: '2026-01', at: NOON });
  await (await list.draft()).finish(true);
  expect(readFileSync(file, 'utf8')).toContain('\n2026-01-05,,c,Y,2026-01\n');
  expect((await Exclusions.open(file)).lineOf('c')).toBe(3);
});

it('rows of a list of exclusions without a token are no tokens', async () => {
  const file = join(temporaryDirectory(), 'closed.csv');
  writeFileSync(file, 'token,code,cycle,date\na,X,,\n,,,\n,,,\n');
  const list = await Exclusions.open(file);
  expect([list.tokenCount, list.lineOf('a'), list.lineOf('')]).toEqual([1, 2, 0]);
});

it.each([
  ['with a byte order mark', '\uFEFF'],
  ['without one', ''],
])('a list of exclusions in UTF-16 %s is refused', async (_, mark) => {
  const file = join(temporaryDirectory(), 'closed.csv');
  writeFileSync(file, Buffer.from(`${mark}token,code,cycle,date\na,X,,\n`, 'utf16le'));
  await expect(Exclusions.open(file)).rejects.toThrow('is in UTF-16, and must be saved in UTF-8; nothing was written');
});
