/** How a key command is called where it is shown: `command pass`. Its other words may say more than they should. */
export function commandName(command: string): string {
  const [word = ''] = command.trim().split(/\s+/);
  return /^[\w./\\:~-]{1,80}$/.test(word) ? `command ${word}` : 'a command';
}
