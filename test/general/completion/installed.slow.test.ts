import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ended } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});

const PLACES = [
  ['bash', '.local/share/bash-completion/completions/svc'],
  ['zsh', '.zfunc/_svc'],
  ['fish', '.config/fish/completions/svc.fish'],
] as const;

it.each(PLACES)('svc completion install puts the script for %s at its place', async (shell, place) => {
  const { code, stdout } = await home.svc(['completion', 'install', '--shell', shell]);
  const printed = await home.svc(['completion', shell]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ shell, file: home.file(place), status: 'written' });
  expect(readFileSync(home.file(place), 'utf8')).toBe(printed.stdout);
  expect(statSync(home.file(place)).mode & 0o777).toBe(0o644);
  const again = await home.svc(['completion', 'install', '--shell', shell]);
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'unchanged' });
});

it('svc completion install obeys the variables that move those places', async () => {
  expect(await dry('bash', { BASH_COMPLETION_USER_DIR: '/b' })).toBe('/b/completions/svc');
  expect(await dry('bash', { XDG_DATA_HOME: '/d' })).toBe('/d/bash-completion/completions/svc');
  expect(await dry('zsh', { ZDOTDIR: '/z' })).toBe('/z/.zfunc/_svc');
  expect(await dry('fish', { XDG_CONFIG_HOME: '/c' })).toBe('/c/fish/completions/svc.fish');
});

it('svc completion install leaves a file that is not from svc as it is, unless forced', async () => {
  const file = home.file(PLACES[2][1]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '# by hand\n');
  ended(await home.svc(['completion', 'install', '--shell', 'fish']), 1, { stdout: '' });
  expect(readFileSync(file, 'utf8')).toBe('# by hand\n');
  const forced = await home.svc(['completion', 'install', '--shell', 'fish', '--force']);
  expect(JSON.parse(forced.stdout)).toMatchObject({ status: 'written' });
});

async function dry(shell: string, env: Record<string, string>): Promise<unknown> {
  const { stdout } = await home.svc(['completion', 'install', '--dry-run', '--shell', shell], { env });
  return (JSON.parse(stdout) as { file: unknown }).file;
}
