import { SvcError } from './errors.ts';
import { systemCodeOf } from './system-code.ts';

/** The `SvcError` `local` for a file that could not be written; an `SvcError` stays as it is. */
export function writeFailure(file: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const code = systemCodeOf(error) ?? 'unknown';
  const [problem, hint] = WRITE_PROBLEMS[code] ?? ['could not be written', 'See that its disk is in order.'];
  return new SvcError('local', `${file} ${problem} (${code})`, { hint, cause: error });
}

const FULL = [
  'could not be written: the disk is full',
  'Free some space and run the command again.',
] as const;
const READ_ONLY = [
  'could not be written: not allowed here',
  'Allow it, or choose another directory.',
] as const;
const WRITE_PROBLEMS: Readonly<Record<string, readonly [string, string]>> = {
  ENOSPC: FULL,
  EDQUOT: ['could not be written: the quota is used up', FULL[1]],
  EFBIG: ['could not be written: the file size limit is reached', 'Raise the limit (ulimit -f).'],
  ENOENT: [
    'could not be written: its directory does not exist',
    'Make the directory, or choose another one.',
  ],
  EROFS: ['could not be written: the file system is read-only', READ_ONLY[1]],
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
};
