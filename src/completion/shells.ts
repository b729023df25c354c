import { bash } from './bash.ts';
import { fish } from './fish.ts';
import { powershell } from './powershell.ts';
import type { Shell } from './shell.ts';
import { zsh } from './zsh.ts';

/** The shells that can be completed in. */
export const SHELLS: readonly Shell[] = [bash, zsh, fish, powershell];

/** Names of the shells. */
export const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'] as const;
/** Name of a shell. */
export type ShellName = (typeof SHELL_NAMES)[number];

/** The shell of this name. */
export function shellNamed(name: string): Shell | undefined {
  return SHELLS.find((shell) => shell.name === name);
}
