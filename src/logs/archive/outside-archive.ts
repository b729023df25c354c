import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { System } from '../../base/system.ts';

/**
 * Checks that a file to be written is not within the directory of an archive, where `svc logs verify` would report it as
 * added by somebody.
 * @throws SvcError `usage`, even with --force
 */
export function requireOutside(
  { system: { cwd } }: { readonly system: Pick<System, 'cwd'> },
  { option, typed }: { readonly option: string; readonly typed: string },
  archive: string,
): void {
  const top = realPath(path.resolve(cwd, archive));
  // Without an archive there, the command ends with another error.
  if (top === undefined || !fs.existsSync(path.join(top, '_manifest'))) return;
  const folder = realPath(path.dirname(path.resolve(cwd, typed)));
  if (folder === undefined || !`${folder}${path.sep}`.startsWith(`${top}${path.sep}`)) return;
  throw new SvcError('usage', `${option} would write ${typed} into the archive ${archive}`, {
    hint: `Files that no record names are found by svc logs verify. Give ${option} a file outside the archive.`,
    facts: { file: typed },
  });
}

/** Returns the path behind all links; undefined for a bucket, or if nothing is there. */
export function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync(file);
  } catch {
    return undefined;
  }
}
