import fs from 'node:fs';
import { expect, it } from 'vitest';
import { createSpool } from '../../../src/au/request/spool.ts';
import { Draft } from '../../../src/base/files/draft.ts';
import { testSystem, temporaryDirectory } from '../../cli/config/support/system.ts';

it('R41: the private files of killed processes are removed, and also the drafts of them', async () => {
  const directory = temporaryDirectory();
  const killed = await createSpool(testSystem({ pid: 41 }), directory);
  await (await Draft.begin(killed.path)).seal();
  fs.writeFileSync(killed.path, '');
  const living = await createSpool(testSystem({ pid: 42, isAlive: () => true }), directory);
  await (await Draft.begin(living.path)).seal();
  fs.writeFileSync(living.path, '');
  expect(fs.readdirSync(directory)).toHaveLength(4);
  const own = await createSpool(testSystem({ pid: 43, isAlive: (pid) => pid === 42 }), directory);
  expect(fs.readdirSync(directory).every((name) => name.includes('42-'))).toBe(true);
  await (await Draft.begin(own.path)).seal();
  fs.writeFileSync(own.path, '');
  await own.remove();
  expect(fs.readdirSync(directory)).toHaveLength(2);
});
