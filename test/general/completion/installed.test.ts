import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ended, svcHere } from '../../support/run-here.ts';
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

it.each(PLACES)(
  'svc completion install takes the shell from SHELL, and with --dry-run writes nothing (%s)',
  async (shell, place) => {
    const env = { SHELL: `/usr/bin/${shell}` };
    const { stdout } = await home.svc(['completion', 'install', '--dry-run'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ file: home.file(place), status: 'would be written' });
    expect(existsSync(dirname(home.file(place)))).toBe(false);
  },
);

it('svc completion install says it in one sentence for people', async () => {
  const { stdout } = await home.svc(['completion', 'install', '--shell', 'fish', '-o', 'table']);
  expect(stdout).toBe(`installed completion for fish in ${home.file(PLACES[2][1])}: takes effect at once\n`);
});

it('svc completion install never touches a startup file, and says the line that zsh needs', async () => {
  writeFileSync(home.file('.zshrc'), '# mine\n');
  const { stdout } = await home.svc(['completion', 'install', '--shell', 'zsh']);
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
  const { stdout } = ended(await home.svc(['completion', 'install', '--shell', 'powershell']), 0, {
    row: { file: null, status: 'nothing to write' },
  });
  expect(stdout).toContain('Invoke-Expression');
});

it('svc completion install asks which shell is meant when SHELL does not say', async () => {
  ended(await home.svc(['completion', 'install'], { env: { SHELL: '/bin/dash' } }), 2, '--shell bash');
});
