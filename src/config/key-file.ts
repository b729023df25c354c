import path from 'node:path';
import { SvcError } from '../errors.ts';
import { readFileOrPipe, type Waiting } from '../files/read-pipe.ts';
import { systemCodeOf } from '../system-code.ts';

// Far longer than any key, so that a file given by mistake is not read whole.
const LARGEST_BYTES = 16_384;

/**
 * The text of the key file that `variable` names; a relative path begins at `cwd`. Pipes work too, and are waited for within a limit. Throws `SvcError`
 * `config` naming the file, never its content, when it cannot be read, is empty or is too large.
 */
export async function readKeyFile(
  file: string,
  cwd: string,
  variable: string,
  waiting: Waiting,
): Promise<string> {
  const bytes = await readFileOrPipe(path.resolve(cwd, file), LARGEST_BYTES + 1, waiting).catch(
    (error: unknown) => {
      waiting.signal?.throwIfAborted();
      const why = WHY[systemCodeOf(error) ?? ''] ?? 'could not be read';
      throw badFile(file, variable, why, error);
    },
  );
  const text = bytes.toString('utf8');
  if (bytes.length > LARGEST_BYTES) throw badFile(file, variable, 'is too large to be a key');
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

function badFile(file: string, variable: string, problem: string, cause?: unknown): SvcError {
  return new SvcError('config', `the key file ${file} (${variable}) ${problem}`, {
    hint: `Put the key there, readable for this user, or set ${variable.replace(/_FILE$/, '')} instead.`,
    cause,
  });
}
