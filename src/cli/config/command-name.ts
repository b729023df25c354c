import { isShowable } from '../../base/security/typed-word.ts';

/** The name shown for a key command that may be a key pasted by mistake. */
export const UNNAMED = 'a command';

/** Returns the name shown for a key command, such as `command pass`. Its other words may contain secrets. */
export function commandName(command: string): string {
  const [word = ''] = command.trim().split(/\s+/);
  const isPath = /^[\w./\\:~-]{1,80}$/.test(word);
  const names = word.split(/[/\\:~]+/).filter((name) => name !== '');
  return isPath && names.every((name) => isShowable(name)) ? `command ${word}` : UNNAMED;
}
