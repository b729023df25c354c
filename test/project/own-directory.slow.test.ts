import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** Tests that read and write files by their default names. */
const TESTS = 'test/support/own-directory.test.ts';

/** What somebody who tried README's commands leaves in the project, and files that other tools read there. */
const LEFT = ['results.csv', 'tokens.csv', 'export.csv', '.env', 'svc.json'];

it('what somebody left where the tests are started changes no test, and no test changes it', async () => {
  for (const name of LEFT) writeFileSync(name, 'left here\n');
  for (const directory of ['refresh', 'refresh-sandbox', 'audit']) {
    mkdirSync(directory);
    writeFileSync(join(directory, '.lock'), 'left here\n');
  }
  const before = contentOfAll();
  const vitest = [join(project, 'node_modules/vitest/vitest.mjs'), 'run', '--root', project, '--project', 'fast'];
  const { stdout } = await promisify(execFile)(process.execPath, [...vitest, TESTS], {
    env: { ...process.env, CI: 'true' },
  });
  expect(stdout).toContain('Test Files');
  expect(contentOfAll()).toEqual(before);
});

function contentOfAll(): string[] {
  const files = readdirSync('.', { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(
    ({ parentPath, name }) => `${join(parentPath, name)}: ${readFileSync(join(parentPath, name), 'utf8')}`,
  );
}
