import fs from 'node:fs';
import os from 'node:os';
import { whileBusy } from './durable.ts';

// Windows has none of these flags; undefined counts as 0.
export const READ_WITHOUT_WAITING = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;

/** The flags for reading a file without following links. */
export const READ_WITHOUT_LINKS = READ_WITHOUT_WAITING | fs.constants.O_NOFOLLOW;

/** Reads a file that only svc writes. Fails for links, and for files larger than `maxBytes`. */
export function readOwnFileSync(file: string, maxBytes: number): Buffer {
  refuseLink(file);
  return whileBusy(() => withRegularFile(file, READ_WITHOUT_LINKS, maxBytes, (at) => fs.readFileSync(at)));
}

/** Appends text in one write to a file that only svc writes. Fails for links, and for files larger than `maxBytes`. */
export function appendToOwnFileSync(file: string, text: string, maxBytes: number): void {
  refuseLink(file);
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  whileBusy(() =>
    withRegularFile(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, maxBytes, (at) =>
      fs.writeFileSync(at, text),
    ),
  );
}

/** Refuses a link by its metadata: Windows has no flag for opening a file without following links. */
function refuseLink(file: string): void {
  if (os.platform() !== 'win32') return;
  if (fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw Object.assign(new Error('a link'), { code: 'ELOOP' });
}

export function withRegularFile<T>(file: string, flags: number, maxBytes: number, use: (descriptor: number) => T): T {
  const descriptor = fs.openSync(file, flags, 0o600);
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) {
      const code = stats.isDirectory() ? 'EISDIR' : 'EINVAL';
      throw Object.assign(new Error('not a regular file'), { code, path: file });
    }
    if (stats.size > maxBytes) throw Object.assign(new Error(`larger than ${maxBytes} bytes`), { code: 'EFBIG' });
    return use(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
