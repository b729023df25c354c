import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { type Finished, finished, Home, LAUNCHER } from '../support/svc.ts';

const home = new Home();

/** Runs svc with a limit of this many open files. */
function svcWithin(files: number, argv: readonly string[]): Promise<Finished> {
  const line = `ulimit -n ${files}; exec "${process.execPath}" "${LAUNCHER}" ${argv.join(' ')}`;
  return finished(spawn('bash', ['-c', line], { cwd: home.path, env: home.environment() }));
}

/** Finds the lowest limit of open files with which svc can read its settings. */
async function fewestFiles(): Promise<number> {
  for (let files = 12; files < 60; files += 1)
    if ((await svcWithin(files, ['profile', 'list'])).code === 0) return files;
  throw new Error('svc needs 60 open files to read its settings');
}

it('a command that may open too few files ends with an error that says so, or succeeds', async () => {
  const fewest = await fewestFiles();
  const ends: Finished[] = [];
  for (let files = fewest; files < fewest + 14; files += 2)
    ends.push(await svcWithin(files, ['--sandbox', 'tenant', 'show', '--timeout', '3s']));
  expect(ends.map(({ signal }) => signal)).toEqual(ends.map(() => null));
  for (const { stderr } of ends) expect(stderr).not.toMatch(/This is a bug|Node\.js v/);
  const failed = ends.filter(({ stderr }) => stderr.includes('EMFILE'));
  expect(failed.length).toBeGreaterThan(0);
  for (const { code, stderr } of failed) {
    expect(code).toBe(1);
    expect(stderr).toContain('ulimit -n 1024');
  }
});
