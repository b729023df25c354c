import fs from 'node:fs/promises';
import path from 'node:path';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';

// Far longer than any key, so that a file given by mistake is not read whole.
const LARGEST_BYTES = 16_384;

/**
 * The text of the key file that `variable` names; a relative path begins at `cwd`. Pipes work too. Throws `SvcError`
 * `config` naming the file, never its content, when it cannot be read, is empty or is too large.
 */
export async function readKeyFile(file: string, cwd: string, variable: string): Promise<string> {
  const text = await readStart(path.resolve(cwd, file)).catch((error: unknown) => {
    const why = WHY[systemCodeOf(error) ?? ''] ?? 'could not be read';
    throw badFile(file, variable, why, error);
  });
  if (text.length > LARGEST_BYTES) throw badFile(file, variable, 'is too large to be a key');
  if (text.trim() === '') throw badFile(file, variable, 'is empty');
  return text;
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  EISDIR: 'is a directory',
};

async function readStart(file: string): Promise<string> {
  const handle = await fs.open(file, 'r');
  try {
    const bytes = Buffer.alloc(LARGEST_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = (await handle.read(bytes, length, bytes.length - length, null)).bytesRead;
    return bytes.toString('utf8', 0, length);
  } finally {
    await handle.close();
  }
}

function badFile(file: string, variable: string, problem: string, cause?: unknown): SvcError {
  return new SvcError('config', `the key file ${file} (${variable}) ${problem}`, {
    hint: `Put the key there, readable for this user, or set ${variable.replace(/_FILE$/, '')} instead.`,
    cause,
  });
}
