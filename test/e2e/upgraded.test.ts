import { cpSync, renameSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { finished, Home } from '../support/svc.ts';

const home = new Home();
afterAll(() => home.remove());

describe('an upgrade that takes the files of the tool away', () => {
  it('lets an archive that follows end in order', async () => {
    for (const name of ['bin', 'dist', 'package.json'])
      cpSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), home.file(name), { recursive: true });
    const argv = ['--sandbox', 'logs', 'archive', 'audit', '--follow'];
    const options = { cwd: home.path, env: home.environment() };
    const child = spawn(process.execPath, [home.file('bin/svc.js'), ...argv], { ...options, stdio: 'pipe' });
    const result = finished(child);
    await setTimeout(5_000);
    renameSync(home.file('dist'), home.file('before'));
    child.kill('SIGTERM');
    expect(await result).toMatchObject({ code: 143, stderr: expect.not.stringContaining('bug') });
  });
});
