import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ScratchFile } from '../../../src/base/files/scratch-file.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, 'scratch');
});

it('a scratch file is private, and gives back what was appended to it, from any place', async () => {
  const file = await ScratchFile.create(path);
  expect(await file.append([Int32Array.of(1, 2), Int32Array.of(3)])).toBe(0);
  expect(await file.append([Int32Array.of(4)])).toBe(12);
  const read = new Int32Array(2);
  await file.read(8, read);
  expect([...read]).toEqual([3, 4]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await file.close();
});

it('a scratch file that somebody cut, or that is there already, is an error that names it', async () => {
  const file = await ScratchFile.create(path);
  await file.append([new Int32Array(8)]);
  truncateSync(path, 20);
  await expect(file.read(16, new Int32Array(4))).rejects.toMatchObject({
    code: 'local',
    message: expect.stringContaining(path),
  });
  await file.close();
  await expect(ScratchFile.create(path)).rejects.toMatchObject({ code: 'local' });
});
