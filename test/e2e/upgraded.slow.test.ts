import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { finished, Home } from '../support/svc.ts';

/** Returns a module that Node loads before the tool. It deletes the tool's files when the tool loads one of this name. */
const upgradeAt = (file: string) => `
  const Module = require('node:module');
  const load = Module._load;
  Module._load = function (name, ...rest) {
    if (/^.{2}${file}-/.test(name)) require('node:fs').rmSync('dist', { recursive: true, force: true });
    return load.call(this, name, ...rest);
  };`;

it.each([
  ['reads results', 'reading'],
  ['starts', 'submit-file'],
])(
  'an upgrade that takes the files of svc away while a command %s is named by the error, and the same command with the new version delivers the results',
  async (_, file) => {
    const home = new Home();
    const { stdout } = await home.svc(['sandbox', 'cards', '--request']);
    writeFileSync(home.file('cards.csv'), stdout);
    writeFileSync(home.file('upgrade.cjs'), upgradeAt(file));
    const project = fileURLToPath(new URL('../../', import.meta.url));
    for (const name of ['bin', 'dist', 'package.json']) cpSync(project + name, home.file(name), { recursive: true });
    const words = ['--sandbox', 'au', 'submit', 'cards.csv', '--wait', '--out', 'results.csv', '--yes'];
    const argv = ['--require', home.file('upgrade.cjs'), home.file('bin/svc.js'), ...words];
    const before = await finished(spawn(process.execPath, argv, { cwd: home.path, env: home.environment() }));
    expect(existsSync(home.file('dist'))).toBe(false);
    expect(before).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/svc was upgraded or removed while this command was running(?!.*--debug)/s),
    });
    expect(await home.svc(words)).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('results.csv'), 'utf8')).toContain('UPD_PAN');
  },
);
