import path from 'node:path';
import { writeFileAtomicSync } from '../../atomic-file.ts';
import { defineCommand } from '../../cli/command.ts';
import { choice, flag } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { placeFor, shellInUse } from '../../completion/place.ts';
import { SHELL_NAMES, type ShellName, shellNamed } from '../../completion/shells.ts';
import { SvcError } from '../../errors.ts';
import { systemCodeOf } from '../../system-code.ts';
import { type CompletionInstall, completionInstallView } from '../../views/completion.ts';
import { readRegularFileSync } from '../../regular-file.ts';
import { makeDirectory } from '../../files/directory.ts';

/** `svc completion install` */
export const install = defineCommand({
  name: 'install',
  summary: 'put the script where the shell looks for it',
  description:
    'Writes one file and says which. Files such as .bashrc are never edited: where a line is needed there, it is told.',
  examples: [
    ['svc completion install', 'for the shell that SHELL names'],
    ['svc completion install --shell zsh --dry-run', 'only say what would be written'],
  ],
  fields: completionInstallView.fields,
  anySettings: true,
  parameters: {
    shell: choice('--shell <shell>', 'by default the one that SHELL names', SHELL_NAMES),
    dryRun: flag('--dry-run', 'say what would be written, and write nothing'),
    force: flag('--force', 'replace a file that is not from here'),
  },
  async run(context, { shell: chosen, dryRun, force }) {
    const print = await recordPrinter(context, completionInstallView);
    const shell = chosen ?? shellOf(shellInUse(context.system));
    const { file, next } = placeFor(shell, context.system);
    const script = shellNamed(shell)?.script ?? '';
    const status = file === undefined ? 'nothing to write' : put(file, script, { dryRun, force });
    await print({ shell, file: file ?? null, status, next });
  },
});

function shellOf(name: string): ShellName {
  const shell = SHELL_NAMES.find((known) => known === (name === 'pwsh' ? 'powershell' : name));
  if (shell) return shell;
  throw new SvcError('usage', 'SHELL names no shell that can be completed in', {
    hint: `Say which: --shell ${SHELL_NAMES.join(', --shell ')}.`,
  });
}

function put(
  file: string,
  script: string,
  { dryRun, force }: { dryRun: boolean; force: boolean },
): CompletionInstall['status'] {
  const before = existing(file);
  if (before === script) return 'unchanged';
  if (before !== undefined && !before.includes("'svc completion ") && !force) {
    throw new SvcError('local', `${file} exists and is not from svc; it was left as it is`, {
      hint: 'Look at it, then move it away or give --force.',
    });
  }
  if (dryRun) return 'would be written';
  makeDirectory(path.dirname(file), 0o777);
  writeFileAtomicSync(file, script, { mode: 0o644 });
  return 'written';
}

function existing(file: string): string | undefined {
  try {
    return readRegularFileSync(file);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return undefined;
    throw new SvcError('local', `${file} could not be read (${systemCodeOf(error) ?? 'unknown'})`, {
      hint: 'See what is there, and move it away.',
      cause: error,
    });
  }
}
