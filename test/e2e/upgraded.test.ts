import { spawn } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type Finished, finished, Home } from '../support/svc.ts';

const home = new Home();
afterAll(() => home.remove());

/** Is loaded before the tool, and takes its files away as soon as the tool says how it loads them from now on. */
function upgrade(next: string): string {
  return `
    Object.defineProperty(require.extensions, '.cjs', {
      configurable: true,
      set(load) {
        Object.defineProperty(require.extensions, '.cjs', { value: load });
        require('node:fs').rmSync('dist', { recursive: true });
        ${next}
      },
    });`;
}

/** Runs a copy of the tool whose files are taken away when it runs for longer. */
async function upgraded(argv: readonly string[], next = ''): Promise<Finished> {
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), home.file(name), { recursive: true });
  writeFileSync(home.file('upgrade.cjs'), upgrade(next));
  const words = ['--require', home.file('upgrade.cjs'), home.file('bin/svc.js'), '--sandbox', ...argv];
  const result = await finished(spawn(process.execPath, words, { cwd: home.path, env: home.environment() }));
  expect(existsSync(home.file('dist'))).toBe(false);
  return result;
}

describe('an upgrade that takes the files of the tool away', () => {
  it('lets a submission deliver its results, with modules that are loaded only then', async () => {
    const { stdout } = await home.svc(['sandbox', 'cards', '--request']);
    writeFileSync(home.file('cards.csv'), stdout);
    const result = await upgraded(['au', 'submit', 'cards.csv', '--wait', '--out', 'results.csv', '--yes']);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('UPD_PAN') });
  });

  it('lets an archive that follows end in order', async () => {
    const argv = ['logs', 'archive', 'audit', '--follow'];
    const result = await upgraded(argv, `process.kill(process.pid, 'SIGTERM');`);
    expect(result).toMatchObject({ code: 143, stderr: expect.not.stringContaining('bug') });
  });
});
