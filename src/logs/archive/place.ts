import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { sha256Of, writeFileAtomicSync } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { openArchive, realPath } from './open-archive.ts';
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

/**
 * Checks that an archive which is not there is not one that this machine wrote to. A volume may not be mounted, and what a
 * new archive in its place has would be missing from the other one. `again` begins a new one on the operator's word.
 * @throws SvcError `config`
 */
export function requireUnknownArchive(context: Context, store: Store, again: readonly string[]): void {
  const file = fileOf(context, store);
  if (file === undefined || !fs.existsSync(file)) return;
  throw new SvcError(
    'config',
    `this machine wrote an archive to ${store.name}, and there is none now; nothing was archived`,
    {
      hint: 'If it is on a volume, mount it and run the command again before the service forgets its logs. Only where a new archive is to begin, say when with the command below.',
      next: again,
      facts: { archive: store.name },
    },
  );
}

/** Remembers that there is an archive. What cannot be remembered is archived all the same. */
export function rememberArchive(context: Context, store: Store): void {
  const file = fileOf(context, store);
  if (file === undefined || fs.existsSync(file)) return;
  try {
    makeDirectory(path.dirname(file));
    writeFileAtomicSync(file, `${store.name}\n`);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.notices.warn(`if ${store.name} is gone one day, this machine does not notice it: ${error.message}`);
  }
}

/** Returns the file that remembers an archive; undefined without a home directory, and in a sandbox, which has no real logs. */
function fileOf(context: Context, { workDirectory }: Store): string | undefined {
  const state = serviceOf(context) === 'sandbox' ? undefined : directoryOf(context.system, 'state');
  // Two services may each have a bucket of the same name, but have no work directory in common.
  return state === undefined
    ? undefined
    : path.join(state, 'archives', `${sha256Of(workDirectory).slice(0, 16)}.known`);
}
