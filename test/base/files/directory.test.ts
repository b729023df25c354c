import fs from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeDirectory } from '../../../src/base/files/directory.ts';
import { temporaryDirectory } from '../../cli/config/support/system.ts';

it('R58: the names of new directories are flushed: with them a machine without power would lose the records in them', () => {
  const home = temporaryDirectory();
  const flush = vi.spyOn(fs, 'fsyncSync');
  const flushed: number[] = [];
  flush.mockImplementation((descriptor) => void flushed.push(fs.fstatSync(descriptor).ino));
  try {
    makeDirectory(path.join(home, 'runs', 'run-1'));
  } finally {
    flush.mockRestore();
  }
  expect(flushed).toEqual([home, path.join(home, 'runs')].map((directory) => fs.statSync(directory).ino));
  expect(fs.existsSync(path.join(home, 'runs', 'run-1'))).toBe(true);
});
