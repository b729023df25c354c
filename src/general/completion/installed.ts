// Installs completion scripts and finds installed ones.

import path from 'node:path';
import { isAbsent, readFailure, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { PathsHost } from '../../cli/config/paths.ts';
import { SHELL_NAMES, type ShellName } from './shells.ts';

export type InstallStatus = 'written' | 'unchanged' | 'would be written' | 'nothing to write';

/** A text that every completion script of svc contains. */
const OWN_SIGN = "'svc completion ";

/** Writes a completion script, unless the file contains something else. @throws SvcError `local` */
export function put(
  file: string,
  script: string,
  { dryRun, force }: { dryRun: boolean; force: boolean },
): InstallStatus {
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

/** Finds the files that `svc completion install` wrote. */
export function installedCompletions(system: PathsHost): string[] {
  if (!system.home) return [];
  const files = SHELL_NAMES.flatMap((shell) => installTargetFor(shell, system).file ?? []);
  return files.filter((file) => isOwn(file));
}

function isOwn(file: string): boolean {
  try {
    return existing(file)?.includes(OWN_SIGN) === true;
  } catch {
    // Something else has the name, such as a directory or another user's file.
    return false;
  }
}

function existing(file: string): string | undefined {
  try {
    return readRegularFileSync(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw readFailure(file, error);
  }
}

interface InstallTarget {
  /** The file in which the shell finds completions; undefined for a shell without such a file. */
  readonly file: string | undefined;
  /** The step that is left for the operator. */
  readonly next: string;
}

/**
 * Returns the conventional completion file of a single user.
 * @throws SvcError `config` if there is no home directory
 */
export function installTargetFor(shell: ShellName, system: PathsHost): InstallTarget {
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

// By default zsh searches no directory of the user, so the operator must add one in ~/.zshrc.
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
