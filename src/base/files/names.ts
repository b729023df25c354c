import fs from 'node:fs';
import os from 'node:os';
import nodePath from 'node:path';
import { hash } from 'node:crypto';
import { SvcError } from '../errors.ts';
import type { Environment } from '../system.ts';

/** Whether this user may run a file, or enter a directory. */
export function isExecutable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a program is on the PATH, or at this path. */
export function isInstalled(program: string, env: Environment): boolean {
  if (program.includes('/')) return isExecutable(program);
  return (env['PATH'] ?? '')
    .split(nodePath.delimiter)
    .some((directory) => isExecutable(nodePath.join(directory, program)));
}

// Windows takes the first names for devices (with any extension) and the second for streams or patterns, and drops a final
// dot or space.
const MISREAD = [
  /^(?:con|prn|aux|nul(?= *\.)|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(?:\.|$)/i,
  /[<>:"|?*]|[^ -~\u00A0-\uFFFF]/,
  /^(?!\.{1,2}$).*[. ]$/s,
];

/** @throws SvcError `usage` for a name that is not a file name on Windows, except NUL, which discards output */
export function refuseWindowsName(file: string, platform = os.platform()): void {
  if (platform !== 'win32' || /^\\\\[?.]\\/.test(file)) return;
  const names = file.replace(/^[a-z]:/i, '').split(/[\\/]/);
  if (!names.some((name) => MISREAD.some((form) => form.test(name)))) return;
  throw new SvcError('usage', `${file} cannot be the name of a file on Windows`, {
    hint: 'Choose one without < > : " | ? *, with no dot or space at its end, and other than CON, PRN, AUX, NUL, COM1 or LPT1.',
  });
}

/** Whether two paths name the same file. macOS and Windows ignore case and the composition of accents. */
export function isSamePath(one: string, other: string, platform = os.platform()): boolean {
  const ignoresCase = platform === 'win32' || platform === 'darwin';
  const a = nodePath.resolve(one);
  const b = nodePath.resolve(other);
  return a === b || (ignoresCase && a.normalize().toLowerCase() === b.normalize().toLowerCase());
}

/** Returns an absolute path as a word of a command: relative for a file below the current directory. */
export function shownPath(file: string): string {
  const here = nodePath.relative('', file);
  if (here.startsWith('..')) return file;
  // A word that begins with a hyphen would be read as an option.
  return here.startsWith('-') ? `.${nodePath.sep}${here}` : here;
}

/** Returns a folder name for an id of the service: the id, or its hash if the id is not safe as a folder name. */
export function folderOf(id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(id) ? id : `id-${hash('sha256', id, 'hex').slice(0, 16)}`;
}
