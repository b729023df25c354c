import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { openArchive } from './open-archive.ts';
import { realPath } from './outside-archive.ts';
import { recordPath } from './records/record.ts';

/**
 * Checks that a new archive is not within another one, where `svc logs verify` of that one would report its files as added
 * by somebody, from then on.
 * @throws SvcError `usage`
 */
export async function requireOutsideOthers(context: Context, { name, isRemote }: Store): Promise<void> {
  const above = isRemote ? prefixesAbove(name) : directoriesAbove(realPath(name) ?? name);
  for (const location of above) {
    if (!(await isArchive(await openArchive(context, location)))) continue;
    throw new SvcError('usage', `${name} is within the archive ${location}; nothing was written`, {
      hint: 'Each archive needs a location outside all others. Choose one beside it.',
      facts: { archive: location },
    });
  }
}

async function isArchive(store: Store): Promise<boolean> {
  try {
    return (await readText(store, recordPath(0))) !== undefined;
  } catch (error) {
    // What this key or user may not read belongs to somebody else.
    if (isSvcError(error, 'forbidden', 'local')) return false;
    throw error;
  }
}

function prefixesAbove(name: string): string[] {
  const [bucket = '', ...parts] = name.slice('s3://'.length).split('/');
  return parts.map((_, length) => `s3://${[bucket, ...parts.slice(0, length)].join('/')}`);
}

function directoriesAbove(directory: string): string[] {
  const above = path.dirname(directory);
  if (above === directory) return [];
  const real = realPath(above) ?? above;
  return [real, ...directoriesAbove(real)];
}
