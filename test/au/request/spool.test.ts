import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { keepFileOf } from '../../../src/au/results/kept-columns.ts';
import { createSpool } from '../../../src/au/request/spool.ts';
import { Draft } from '../../../src/base/files/draft.ts';
import { testSystem } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R41: the private files of killed processes are removed, and also the drafts of them', async () => {
  const env = { SVC_STATE_DIR: temporaryDirectory() };
  const { path: first } = await createSpool(testSystem({ env, pid: 40 }));
  const directory = path.dirname(first);
  for (const pid of [41, 43]) {
    const killed = madeElsewhere(first, pid);
    for (const file of [killed, keepFileOf(killed)]) {
      await (await Draft.begin(file)).seal();
      fs.writeFileSync(file, '');
    }
  }
  const living = await createSpool(testSystem({ env, pid: 42, isAlive: () => true }));
  await (await Draft.begin(living.path)).seal();
  fs.writeFileSync(living.path, '');
  expect(fs.readdirSync(directory)).toHaveLength(10);
  const own = await createSpool(testSystem({ env, pid: 43, isAlive: (pid) => pid === 42 }));
  expect(fs.readdirSync(directory).every((name) => name.includes('-42-'))).toBe(true);
  for (const file of [own.path, keepFileOf(own.path)]) {
    await (await Draft.begin(file)).seal();
    fs.writeFileSync(file, '');
  }
  await own.remove();
  expect(fs.readdirSync(directory)).toHaveLength(2);
});

/** Returns the name that another process gives to a private file in the directory of `file`. */
function madeElsewhere(file: string, pid: number, space = path.basename(file).slice(0, 8)): string {
  return path.join(path.dirname(file), `${space}-${pid}-0123456789ab.csv`);
}

it('R41: the private files of another container are removed by age alone, because its processes have other numbers', async () => {
  const env = { SVC_STATE_DIR: temporaryDirectory() };
  const { path: first } = await createSpool(testSystem({ env, pid: 1 }));
  const other = madeElsewhere(first, 1, '00000000');
  fs.writeFileSync(other, '');
  const earlierBuild = path.join(path.dirname(first), '1-0123456789ab.csv');
  fs.writeFileSync(earlierBuild, '');
  await createSpool(testSystem({ env, pid: 1, isAlive: () => false }));
  expect([fs.existsSync(other), fs.existsSync(earlierBuild)]).toEqual([true, true]);
  const monthBefore = new Date('2025-12-01');
  for (const file of [other, earlierBuild]) fs.utimesSync(file, monthBefore, monthBefore);
  await createSpool(testSystem({ env, pid: 1, isAlive: () => true }));
  expect([fs.existsSync(other), fs.existsSync(earlierBuild)]).toEqual([false, false]);
});

it('a file whose name says of no process that it made it stays among the private files', async () => {
  const env = { SVC_STATE_DIR: temporaryDirectory() };
  const { path: first } = await createSpool(testSystem({ env, pid: 41 }));
  const other = path.join(path.dirname(first), 'notes.txt');
  fs.writeFileSync(other, '');
  fs.utimesSync(other, 0, 0);
  await createSpool(testSystem({ env, pid: 42, isAlive: () => false }));
  expect(fs.existsSync(other)).toBe(true);
});
