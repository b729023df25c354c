import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ended, type HereResult, svcHere, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});

function svc(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<HereResult> {
  return svcIn(home.path, argv, { env });
}

const PLACES = [
  ['bash', '.local/share/bash-completion/completions/svc'],
  ['zsh', '.zfunc/_svc'],
  ['fish', '.config/fish/completions/svc.fish'],
] as const;

it.each(PLACES)(
  'svc completion install takes the shell from SHELL, and with --dry-run writes nothing (%s)',
  async (shell, place) => {
    const env = { SHELL: `/usr/bin/${shell}` };
    const { stdout } = await svc(['completion', 'install', '--dry-run'], env);
    expect(JSON.parse(stdout)).toMatchObject({ file: home.file(place), status: 'would be written' });
    expect(existsSync(dirname(home.file(place)))).toBe(false);
  },
);

it('svc completion install never touches a startup file, and says the line that zsh needs', async () => {
  writeFileSync(home.file('.zshrc'), '# mine\n');
  const { stdout } = await svc(['completion', 'install', '--shell', 'zsh']);
  expect(readFileSync(home.file('.zshrc'), 'utf8')).toBe('# mine\n');
  expect(stdout).toContain(`fpath+=(${home.file('.zfunc')})`);
});

it.each([
  [{}, 'powershell'],
  [{ SHELL: 'C:/Program Files/Git/usr/bin/bash.exe' }, 'bash'],
  [{ SHELL: '/usr/bin/zsh.exe' }, 'zsh'],
])('svc completion install is for PowerShell on Windows, unless SHELL names another: %o', async (env, shell) => {
  const { stdout } = await svcHere(['completion', 'install', '--dry-run'], { env, platform: 'win32' });
  expect(JSON.parse(stdout)).toMatchObject({ shell });
});

it('svc completion install writes no file for PowerShell, and says the line for its profile', async () => {
  const { stdout } = ended(await svc(['completion', 'install', '--shell', 'powershell']), 0, {
    row: { file: null, status: 'nothing to write' },
  });
  expect(stdout).toContain('Invoke-Expression');
});

it('svc completion install asks which shell is meant when SHELL does not say', async () => {
  ended(await svc(['completion', 'install'], { SHELL: '/bin/dash' }), 2, '--shell bash');
});

it.each(PLACES)('svc completion install puts the script for %s at its place', async (shell, place) => {
  const { code, stdout } = await svc(['completion', 'install', '--shell', shell]);
  const printed = await svc(['completion', shell]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ shell, file: home.file(place), status: 'written' });
  expect(readFileSync(home.file(place), 'utf8')).toBe(printed.stdout);
  expect(statSync(home.file(place)).mode & 0o777).toBe(0o644);
  const again = await svc(['completion', 'install', '--shell', shell]);
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
  ended(await svc(['completion', 'install', '--shell', 'fish']), 1, { stdout: '' });
  expect(readFileSync(file, 'utf8')).toBe('# by hand\n');
  const forced = await svc(['completion', 'install', '--shell', 'fish', '--force']);
  expect(JSON.parse(forced.stdout)).toMatchObject({ status: 'written' });
});

async function dry(shell: string, env: Record<string, string>): Promise<unknown> {
  const { stdout } = await svc(['completion', 'install', '--dry-run', '--shell', shell], env);
  return (JSON.parse(stdout) as { file: unknown }).file;
}
