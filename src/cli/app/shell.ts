// Quotes words for the operator's shell.

import type { System } from '../../base/system.ts';

/** The quoting rules of the operator's shell. */
export interface Shell {
  /** Quotes a word where the shell needs it. */
  readonly word: (text: string) => string;
  /** Quotes a word so that the shell expands nothing in it. */
  readonly literal: (text: string) => string;
  /** Writes a reference to a variable for use within double quotes. */
  readonly variable: (name: string) => string;
  readonly setVariable: (name: string, text: string) => string;
  /** The sign at the end of a line that continues on the next one. */
  readonly continues: string;
}

const posix: Shell = {
  // zsh looks up the path of a command whose name follows a first equals sign.
  word: (text) => (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : posix.literal(text)),
  literal: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  variable: (name) => `$${name}`,
  setVariable: (name, text) => `export ${name}=${posix.word(text)}`,
  continues: '\\',
};

const powershell: Shell = {
  word: (text) => {
    // PowerShell reads a comma as a list, @ as a splat, and an option with a dot or colon as two words.
    if (/^(?:-[\w-]*|[\w./\\][\w./\\:=+-]*)$/.test(text)) return text;
    // Double quotes work in cmd too; a backslash before the last one is doubled, or it would escape the quote.
    return /["$`%“”„]/.test(text) ? powershell.literal(text) : `"${text.replace(/\\+$/, '$&$&')}"`;
  },
  // PowerShell treats curly quotes like straight ones.
  literal: (text) => `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`,
  variable: (name) => `$env:${name}`,
  setVariable: (name, text) => `$env:${name} = ${powershell.literal(text)}`,
  continues: '`',
};

/** PowerShell on Windows, unless SHELL names a POSIX shell there, as Git Bash does. */
export function shellFor({ platform, env }: Pick<System, 'platform' | 'env'>): Shell {
  return platform === 'win32' && !env['SHELL'] ? powershell : posix;
}
