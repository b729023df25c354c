import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** A test that leaves a file open, and a later one that runs when Node finds it. */
const LEAKY = `
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

it('leaks', async () => void (await open('vitest.config.mjs')));
it('collects', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let isFound = false;
  const found = () => (isFound = true);
  process.once('warning', found);
  process.once('uncaughtExceptionMonitor', found);
  while (!isFound) {
    collect();
    await setImmediate();
  }
});
`;

function messageOf(cause: string): unknown {
  return expect.stringContaining(`Node warned of what these tests do:\n${cause}\n`);
}

it('a warning of Node fails the file of tests that runs, and names the test that is to blame', () => {
  const directory = temporaryDirectory();
  // A busy machine may take any time until it collects memory.
  const noLimits = { testTimeout: 0, hookTimeout: 0 };
  const settings = { ...noLimits, globals: true, setupFiles: [join(project, 'test/support/no-warnings.ts')] };
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  write('vitest.config.mjs', `export default ${JSON.stringify({ test: settings })}`);
  write('quiet.test.mjs', `it('warns of nothing', () => undefined);`);
  write('warning.test.mjs', `it('warns', () => process.emitWarning('too many listeners'));`);
  write('leaky.test.mjs', LEAKY);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(project, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      directory,
      '--configLoader',
      'runner',
      '--reporter=json',
    ],
    { cwd: directory, encoding: 'utf8' },
  );
  const report = JSON.parse(stdout) as { testResults: { name: string; status: string; message: string }[] };
  const results = report.testResults.map((file) => [file.name.slice(directory.length + 1), file] as const);
  expect(status).toBe(1);
  expect(Object.fromEntries(results)).toEqual({
    'quiet.test.mjs': expect.objectContaining({ status: 'passed' }),
    'warning.test.mjs': expect.objectContaining({
      status: 'failed',
      message: messageOf(`while this ran: ${join(directory, 'warning.test.mjs')}: warns`),
    }),
    'leaky.test.mjs': expect.objectContaining({
      status: 'failed',
      message: messageOf(`the file was opened by: ${join(directory, 'leaky.test.mjs')}: leaks`),
    }),
  });
});
