import fs from 'node:fs';

/**
 * The text of a file. Anything but a regular file is an error with a system's code (`EISDIR`, else `EINVAL`): a pipe in
 * its place, which no writer opens, must not hold the command up for ever.
 */
export function readRegularFileSync(file: string): string {
  const { O_RDONLY, O_NONBLOCK } = fs.constants;
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  try {
    const found = fs.fstatSync(descriptor);
    if (!found.isFile()) {
      const code = found.isDirectory() ? 'EISDIR' : 'EINVAL';
      throw Object.assign(new Error('not a regular file'), { code });
    }
    return fs.readFileSync(descriptor, 'utf8');
  } finally {
    fs.closeSync(descriptor);
  }
}
