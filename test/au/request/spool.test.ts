import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createSpool } from '../../../src/au/request/spool.ts';
import { Draft } from '../../../src/base/files/draft.ts';
import { testSystem } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R41: the private files of killed processes are removed, and also the drafts of them', async () => {
  const env = { SVC_STATE_DIR: temporaryDirectory() };
  const killed = await createSpool(testSystem({ env, pid: 41 }));
  const directory = path.dirname(killed.path);
  await (await Draft.begin(killed.path)).seal();
  fs.writeFileSync(killed.path, '');
  const living = await createSpool(testSystem({ env, pid: 42, isAlive: () => true }));
  await (await Draft.begin(living.path)).seal();
  fs.writeFileSync(living.path, '');
  expect(fs.readdirSync(directory)).toHaveLength(4);
  const own = await createSpool(testSystem({ env, pid: 43, isAlive: (pid) => pid === 42 }));
  expect(fs.readdirSync(directory).every((name) => name.includes('42-'))).toBe(true);
  await (await Draft.begin(own.path)).seal();
  fs.writeFileSync(own.path, '');
  await own.remove();
  expect(fs.readdirSync(directory)).toHaveLength(2);
});

it('a file whose name says of no process that it made it stays among the private files', async () => {
  const env = { SVC_STATE_DIR: temporaryDirectory() };
  const { path: first } = await createSpool(testSystem({ env, pid: 41 }));
  const other = path.join(path.dirname(first), 'notes.txt');
  fs.writeFileSync(other, '');
  await createSpool(testSystem({ env, pid: 42, isAlive: () => false }));
  expect(fs.existsSync(other)).toBe(true);
});
