import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Exclusions } from '../../../src/au/request/exclusions.ts';

const NOON = Date.UTC(2026, 0, 5, 12);

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-exclusions-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('a list of exclusions says on which line a token stands, and in which cycle another was added', async () => {
  const file = join(place(), 'closed.csv');
  writeFileSync(file, 'token,code,cycle,date,note\na,X,,,"two\nlines"\n\nb\n');
  const list = await Exclusions.open(file);
  expect(['a', 'b', 'c'].map((token) => list.lineOf(token))).toEqual([3, 5, 0]);
  for (const token of ['a', 'c', 'c']) list.add({ token, code: 'Y', cycle: '2026-01', at: NOON });
  expect([list.added, list.lineOf('c')]).toEqual([1, 0]);
  await (await list.draft()).finish(true);
  expect(readFileSync(file, 'utf8').split('\n').slice(-3)).toEqual(['b', 'c,Y,2026-01,2026-01-05', '']);
});

it('a list of exclusions that another process changed meanwhile is not replaced', async () => {
  const file = join(place(), 'closed.csv');
  const list = await Exclusions.open(file);
  await list.requireUnchanged();
  writeFileSync(file, 'token,code,cycle,date\n');
  await expect(list.requireUnchanged()).rejects.toMatchObject({ code: 'conflict', retryable: true });
});

it('a list of exclusions that could not be written leaves nothing beside it', async () => {
  const directory = place();
  const file = join(directory, 'closed.csv');
  writeFileSync(file, 'token,code,cycle,date\n');
  const list = await Exclusions.open(file);
  rmSync(file);
  await expect(list.draft()).rejects.toMatchObject({ code: 'local' });
  expect(readdirSync(directory)).toEqual([]);
});
