import fs from 'node:fs';
import { systemCodeOf } from '../system-code.ts';
import { closeToOthers, isShared, modeText, refused, refuseForeign, type Notices } from './privacy.ts';

/**
 * Opens a file for reading, closes it to others where needed and hands the descriptor to `read`. A symlink, another
 * owner's file and anything but a plain file are refused (`SvcError` `config`). System errors pass through.
 */
export function readPrivateFile<T>(
  file: string,
  read: (descriptor: number) => T,
): { value: T; notices: Notices } {
  const descriptor = openPlain(file);
  try {
    const found = fs.fstatSync(descriptor);
    if (!found.isFile())
      throw refused(file, 'is not a plain file', 'Move it away and run the command again.');
    refuseForeign(file, found);
    const notices: string[] = [];
    if (isShared(found)) {
      closeToOthers(file, 0o600, (mode) => fs.fchmodSync(descriptor, mode));
      notices.push(
        `closed ${file} to others (its mode was ${modeText(found)}): replace the keys in it if others may have read them`,
      );
    }
    return { value: read(descriptor), notices };
  } finally {
    fs.closeSync(descriptor);
  }
}

// O_NONBLOCK: a named pipe in the file's place must not hold us up. Windows knows neither flag; undefined counts as 0.
function openPlain(file: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  try {
    return fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCodeOf(error) !== 'ELOOP' && systemCodeOf(error) !== 'EMLINK') throw error;
    throw refused(
      file,
      'is a symbolic link, which a write would cut',
      'Put the file itself there, or set SVC_CONFIG_DIR to the directory that holds it.',
    );
  }
}
