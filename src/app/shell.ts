import type { System } from '../system.ts';

/** How the operator's shell wants words and variables written. */
export interface Shell {
  /** A word of a command, quoted where it must be. */
  readonly word: (text: string) => string;
  /** A word whose text is taken as it is. */
  readonly literal: (text: string) => string;
  /** A variable's value within double quotes. */
  readonly variable: (name: string) => string;
  readonly setVariable: (name: string, text: string) => string;
  /** At the end of a line that continues on the next one. */
  readonly continues: string;
}

const posix: Shell = {
  word: (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : posix.literal(text)),
  literal: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  variable: (name) => `$${name}`,
  setVariable: (name, text) => `export ${name}=${posix.word(text)}`,
  continues: '\\',
};

const powershell: Shell = {
  word: (text) => {
    // A comma makes a list, @ a splat, and an option with a dot or colon two words.
    if (/^(?:-[\w-]*|[\w./\\][\w./\\:=+-]*)$/.test(text)) return text;
    // Where it may, a word is quoted as cmd takes it too; there a backslash before the last quote would keep it open.
    return /["$`%“”„]/.test(text) ? powershell.literal(text) : `"${text.replace(/\\+$/, '$&$&')}"`;
  },
  // Curly quotes count as straight ones.
  literal: (text) => `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`,
  variable: (name) => `$env:${name}`,
  setVariable: (name, text) => `$env:${name} = ${powershell.literal(text)}`,
  continues: '`',
};

/** PowerShell on Windows, unless SHELL names a POSIX shell there, as Git Bash does. */
export function shellFor({ platform, env }: Pick<System, 'platform' | 'env'>): Shell {
  return platform === 'win32' && !env['SHELL'] ? powershell : posix;
}
