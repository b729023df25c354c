import { readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { svcHere } from './run-here.ts';

it.each(['first', 'second'])('the %s test of a file works in an empty directory of temporary files', () => {
  expect(dirname(process.cwd())).toBe(realpathSync(tmpdir()));
  expect(readdirSync('.')).toEqual([]);
  writeFileSync('results.csv', '');
});

it('a command that a test runs has the working directory of the test', async () => {
  writeFileSync('tokens.csv', exampleRequestFile());
  expect((await svcHere(['au', 'check', 'tokens.csv'])).code).toBe(0);
});
