// Checks where a new archive begins: not inside another one, and not in place of one that this machine wrote before. No other
// command of logs writes a file into an archive.

import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { sha256Of, writeFileAtomicSync } from '../../base/files/draft.ts';
import { maskCardNumbers } from '../../base/security/card-number.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { openArchive, realPath } from './open-archive.ts';
import { recordPath } from './records/record.ts';

/**
 * Checks that a new archive is not inside another one, whose `svc logs verify` would report the new files as added by somebody.
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
    // A location that this key or user may not read belongs to somebody else.
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
 * Checks that an output file is not inside an archive, where `svc logs verify` would report it as added by somebody.
 * @throws SvcError `usage`, even with --force
 */
export function requireOutside(
  context: Context,
  { option, typed }: Readonly<Record<'option' | 'typed', string>>,
): void {
  const above = directoriesAbove(resolvePath(context, typed));
  const archive = above.find((directory) => fs.existsSync(path.join(directory, recordPath(0))));
  if (archive === undefined) return;
  throw new SvcError('usage', `${option} would write ${typed} into the archive ${archive}`, {
    hint: `Files that no record names are found by svc logs verify. Give ${option} a file outside the archive.`,
    facts: { file: typed },
  });
}

/**
 * Checks that a location without an archive is not one where this machine wrote an archive before: its volume may not be
 * mounted, and the entries of a new archive would be missing from the old one. `again` is the command that begins a new archive.
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

/** Remembers the location of an archive. A failure to remember it does not stop the run. */
export function rememberArchive(context: Context, store: Store): void {
  const file = fileOf(context, store);
  if (file === undefined || fs.existsSync(file)) return;
  try {
    makeDirectory(path.dirname(file));
    writeFileAtomicSync(file, `${maskCardNumbers(store.name)}\n`);
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
