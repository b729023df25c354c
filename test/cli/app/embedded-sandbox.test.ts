import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it.each([
  ['has files of somebody else', '.DS_Store', "contains other files than a sandbox's; none was touched"],
  ['has an empty journal', 'journal.jsonl', 'cannot be read: its journal is damaged'],
])('the embedded sandbox whose directory %s says so, and touches nothing', async (_, file, message) => {
  const home = temporaryDirectory();
  const directory = join(home, '.local/state/svc/sandbox');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), '');
  const refused = await svcHere(['--sandbox', 'tenant', 'show'], { home });
  expect([refused.code, refused.stdout, errorIn(refused)['code']]).toEqual([1, '', 'local']);
  expect(errorIn(refused)['message']).toContain(message);
  expect(readdirSync(directory)).toEqual([file]);
});
