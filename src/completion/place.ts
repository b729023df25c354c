import path from 'node:path';
import { SvcError } from '../errors.ts';
import type { PathsHost } from '../config/paths.ts';
import type { ShellName } from './shells.ts';

/** Where a shell looks for completions by itself, and what is left for the person to do. */
export interface Place {
  /** Undefined where the shell has no such place. */
  readonly file: string | undefined;
  readonly next: string;
}

/** The conventional place of one user's completions. Throws `SvcError` `config` where there is no home directory. */
export function placeFor(shell: ShellName, system: PathsHost): Place {
  switch (shell) {
    case 'bash':
      return {
        file: path.join(bashDirectory(system), 'completions', 'svc'),
        next: 'takes effect in the next shell, where the package bash-completion is installed',
      };
    case 'zsh':
      return zshPlace(system);
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

/** The shell that a person uses, by SHELL. */
export function shellInUse(system: PathsHost): string {
  return path.posix.basename(system.env['SHELL'] ?? '');
}

function bashDirectory(system: PathsHost): string {
  const chosen = system.env['BASH_COMPLETION_USER_DIR'];
  return chosen || path.join(underHome(system, 'XDG_DATA_HOME', '.local/share'), 'bash-completion');
}

// zsh has no place that it searches for one user: a directory is named in ~/.zshrc.
function zshPlace(system: PathsHost): Place {
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
    hint: "Set HOME, or write what 'svc completion <shell>' prints to a place of your choice.",
  });
}
