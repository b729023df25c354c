import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { type CommandSpec, defineCommand, entry, type GroupSpec } from '../../cli/app/command.ts';
import { choice, flag } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import type { View } from '../../cli/output/view.ts';
import { installTargetFor, put } from '../completion/installed.ts';
import { type Shell, SHELL_NAMES, type ShellName, SHELLS } from '../completion/shells.ts';

/**
 * The result of installing completions, and the remaining steps. `file` is null for a shell without a completion
 * directory.
 */
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
    const status = file === undefined ? 'nothing to write' : put(file, SHELLS[shell].script(), { dryRun, force });
    await print({ shell, file: file ?? null, status, next });
  },
});

export const completion: GroupSpec = {
  commands: [
    entry('install', 'install the script where the shell looks for it', async () => ({ install })),
    ...Object.entries(SHELLS).map(([name, shell]) =>
      entry(name, `print the script for ${name}`, async () => ({ [name]: printCommand(shell) })),
    ),
  ],
};

/** Returns the command that prints a shell's script, such as `svc completion bash`. */
function printCommand({ example, script }: Shell): CommandSpec {
  return defineCommand({
    description: 'Prints the script and changes nothing. There is no need to regenerate it after upgrades.',
    examples: [[example, 'in this shell only']],
    anySettings: true,
    onlyPrints: true,
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
