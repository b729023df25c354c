import path from 'node:path';
import { readFailure, SvcError, systemCodeOf } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/path.ts';
import { type CommandSpec, defineCommand, entry, type GroupSpec } from '../../cli/app/command.ts';
import { choice, flag } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import type { PathsHost } from '../../cli/config/paths.ts';
import type { View } from '../../cli/output/view.ts';
import type { Shell } from '../completion/bash.ts';
import { SHELL_NAMES, type ShellName, shellNamed, SHELLS } from '../completion/shells.ts';

type InstallStatus = 'written' | 'unchanged' | 'would be written' | 'nothing to write';

/** What installing completions did, and what is left to do. No file for a shell that has no directory for them. */
const completionInstallView: View = {
  name: 'installation',
  fields: ['shell', 'file', 'status', 'next'],
  columns: [
    { path: 'shell', kind: 'id' },
    { path: 'file', kind: 'id' },
    {
      path: 'status',
      kind: 'status',
      paint: (status) => (status === 'written' || status === 'unchanged' ? 'good' : undefined),
    },
    { path: 'next', kind: 'text' },
  ],
};

const install = defineCommand({
  description:
    'Writes one file and names it. Files such as .bashrc are never edited: if a line is needed there, it is printed.',
  examples: [
    ['svc completion install', 'for the shell in SHELL'],
    ['svc completion install --shell zsh --dry-run', 'only show what would be written'],
  ],
  fields: completionInstallView.fields,
  anySettings: true,
  parameters: {
    shell: choice('--shell <shell>', 'by default the one in SHELL', SHELL_NAMES),
    dryRun: flag('--dry-run', 'show what would be written, and write nothing'),
    force: flag('--force', 'replace a file that svc did not create'),
  },
  async run(context, { shell: chosen, dryRun, force }) {
    const print = await recordPrinter(context, completionInstallView);
    const { env, platform } = context.system;
    const own = env['SHELL'] ?? (platform === 'win32' ? 'powershell' : '');
    // Git Bash names its shell as /usr/bin/bash.exe.
    const shell = chosen ?? shellOf(path.win32.basename(own, '.exe'));
    const { file, next } = installTargetFor(shell, context.system);
    const script = shellNamed(shell)?.script() ?? '';
    const status = file === undefined ? 'nothing to write' : put(file, script, { dryRun, force });
    if (isDrawn(context)) await context.out.write(`${sentence(shell, file, status)}: ${next}\n`);
    else await print({ shell, file: file ?? null, status, next });
  },
});

function sentence(shell: ShellName, file: string | undefined, status: InstallStatus): string {
  if (file === undefined) return `completion for ${shell} is not installed yet`;
  if (status === 'unchanged') return `completion for ${shell} is in ${file} already`;
  return `${status === 'written' ? 'installed' : 'would install'} completion for ${shell} in ${file}`;
}

const EXAMPLES: Readonly<Record<string, string>> = {
  bash: 'source <(svc completion bash)',
  zsh: 'source <(svc completion zsh)',
  fish: 'svc completion fish | source',
  powershell: 'svc completion powershell | Out-String | Invoke-Expression',
};

export const completion: GroupSpec = {
  commands: [
    entry('install', 'install the script where the shell looks for it', async () => ({ install })),
    ...SHELLS.map((shell) =>
      entry(shell.name, `print the script for ${shell.name}`, async () => ({ [shell.name]: printCommand(shell) })),
    ),
  ],
};

/** `svc completion bash`, and so on for each shell */
function printCommand({ name, script }: Shell): CommandSpec {
  return defineCommand({
    description: 'Prints the script and changes nothing. There is no need to regenerate it after upgrades.',
    examples: [[EXAMPLES[name] ?? `svc completion ${name}`, 'in this shell only']],
    anySettings: true,
    parameters: {},
    async run(context) {
      await context.out.write(script());
    },
  });
}

function shellOf(name: string): ShellName {
  const shell = SHELL_NAMES.find((known) => known === (name === 'pwsh' ? 'powershell' : name));
  if (shell) return shell;
  throw new SvcError('usage', 'SHELL names no supported shell', {
    hint: `Choose one: --shell ${SHELL_NAMES.join(', --shell ')}.`,
  });
}

/** What every script of svc says of itself. */
const OWN_SIGN = "'svc completion ";

function put(file: string, script: string, { dryRun, force }: { dryRun: boolean; force: boolean }): InstallStatus {
  const before = existing(file);
  if (before === script) return 'unchanged';
  if (before !== undefined && !before.includes(OWN_SIGN) && !force) {
    throw new SvcError('local', `${file} exists and was not created by svc; it was not changed`, {
      hint: 'Move it away, or pass --force.',
    });
  }
  if (dryRun) return 'would be written';
  makeDirectory(path.dirname(file), 0o777);
  writeFileAtomicSync(file, script, { mode: 0o644 });
  return 'written';
}

/** The files that `svc completion install` wrote. */
export function installedCompletions(system: PathsHost): string[] {
  if (!system.home) return [];
  const files = SHELL_NAMES.flatMap((shell) => installTargetFor(shell, system).file ?? []);
  return files.filter((file) => existing(file)?.includes(OWN_SIGN));
}

function existing(file: string): string | undefined {
  try {
    return readRegularFileSync(file);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return undefined;
    throw readFailure(file, error);
  }
}

/** Where a shell looks for completions by itself, if anywhere, and what is left to do. */
interface InstallTarget {
  readonly file: string | undefined;
  readonly next: string;
}

/** The conventional file of one user's completions. @throws SvcError `config` where there is no home directory */
function installTargetFor(shell: ShellName, system: PathsHost): InstallTarget {
  switch (shell) {
    case 'bash':
      return {
        file: path.join(bashDirectory(system), 'completions', 'svc'),
        next: 'takes effect in the next shell, where the package bash-completion is installed',
      };
    case 'zsh':
      return zshTarget(system);
    case 'fish':
      return {
        file: path.join(underHome(system, 'XDG_CONFIG_HOME', '.config'), 'fish', 'completions', 'svc.fish'),
        next: 'takes effect at once',
      };
    case 'powershell':
      return {
        file: undefined,
        next: 'add this line to the file that $PROFILE names: svc completion powershell | Out-String | Invoke-Expression',
      };
  }
}

function bashDirectory(system: PathsHost): string {
  const chosen = system.env['BASH_COMPLETION_USER_DIR'];
  return chosen || path.join(underHome(system, 'XDG_DATA_HOME', '.local/share'), 'bash-completion');
}

// zsh searches no directory of one user by default: one is named in ~/.zshrc.
function zshTarget(system: PathsHost): InstallTarget {
  const directory = path.join(system.env['ZDOTDIR'] || home(system), '.zfunc');
  return {
    file: path.join(directory, '_svc'),
    next: `needs this line in .zshrc, before compinit runs: fpath+=(${directory.replaceAll(/[^\w./-]/g, String.raw`\$&`)})`,
  };
}

function underHome(system: PathsHost, variable: string, standard: string): string {
  const chosen = system.env[variable];
  return chosen !== undefined && path.isAbsolute(chosen) ? chosen : path.join(home(system), standard);
}

function home({ home: directory }: PathsHost): string {
  if (directory) return directory;
  throw new SvcError('config', 'there is no home directory to put completions in', {
    hint: 'Set HOME, or store the printed script in a file of your choice:',
    next: ['completion', '<shell>'],
  });
}
