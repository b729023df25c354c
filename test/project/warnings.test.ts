import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const project = fileURLToPath(new URL('../../', import.meta.url));

describe('a warning of Node', () => {
  it('a warning of Node fails the file of tests that causes it, though each test passes', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-warnings-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const settings = { globals: true, setupFiles: [join(project, 'test/support/no-warnings.ts')] };
    writeFileSync(join(directory, 'vitest.config.mjs'), `export default ${JSON.stringify({ test: settings })}`);
    writeFileSync(join(directory, 'quiet.test.mjs'), `it('warns of nothing', () => undefined);`);
    writeFileSync(
      join(directory, 'leaky.test.mjs'),
      `it('leaks', () => process.emitWarning('a file was not closed'));`,
    );
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(project, 'node_modules/vitest/vitest.mjs'), 'run', '--root', directory, '--reporter=json'],
      { cwd: directory, encoding: 'utf8' },
    );
    const report = JSON.parse(stdout) as { testResults: { name: string; status: string; message: string }[] };
    const results = report.testResults.map(({ name, status: end }) => [name.slice(directory.length + 1), end]);
    expect(Object.fromEntries(results)).toEqual({ 'quiet.test.mjs': 'passed', 'leaky.test.mjs': 'failed' });
    expect(status).toBe(1);
  });
});
