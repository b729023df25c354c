import { isSvcError } from '../../base/errors.ts';
import { readText, type Store } from '../../client/store/store.ts';
import { namedKinds, SEGMENTS, writtenFor } from './records/named-files.ts';
import { recordPath } from './records/record.ts';

/**
 * Removes the files of a record that could not be committed, for example on a full disk, except segments: the next run adds
 * their entries, which the service may have forgotten by then. The caller must have the store's lock. Buckets are skipped,
 * because a writer on another machine may be about to commit a file with the same name.
 */
export async function removeUncommitted(store: Store, sequence: number): Promise<void> {
  if (store.isRemote) return;
  try {
    if ((await readText(store, recordPath(sequence))) !== undefined) return;
    for (const path of await uncommitted(store, sequence)) await store.remove(path);
  } catch (error) {
    // The caller reports the failure of the run, and the next run removes these files.
    if (!isSvcError(error)) throw error;
  }
}

async function uncommitted(store: Store, sequence: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of namedKinds(store))
    if (!path.startsWith(SEGMENTS) && writtenFor(path) === sequence) found.push(path);
  return found;
}
