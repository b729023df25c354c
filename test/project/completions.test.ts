import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

// The program prints these files, and packages install them in the directories of the shells.
it.each([
  ['bash', 'svc.bash'],
  ['zsh', '_svc'],
  ['fish', 'svc.fish'],
  ['powershell', 'svc.ps1'],
])('the completions for %s are what the program prints', async (shell, file) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path('bin/svc.js'), 'completion', shell], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  await expect(stdout).toMatchFileSnapshot(path(`completions/${file}`));
});
