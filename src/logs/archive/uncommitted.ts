import { isSvcError } from '../../base/errors.ts';
import { INDEX, indexNumber } from './index/ref.ts';
import { unlessDamaged } from './index/upkeep.ts';
import { readManifest } from './manifest.ts';
import { isHidden, MANIFEST, partNumber, recordPath, sideNumber } from './record.ts';
import type { ArchiveStore } from './store.ts';

/**
 * Removes what a run wrote for a record that it could not commit, as on a full disk: until the next commit these files would
 * look as if somebody had added them. Only under the store's lock, and not in a bucket, where a writer on another machine may
 * be about to commit a file of the same name.
 */
export async function removeUncommitted(store: ArchiveStore, sequence: number): Promise<void> {
  if (store.isRemote) return;
  try {
    if ((await store.readText(recordPath(sequence))) !== undefined) return;
    for (const path of await uncommitted(store, sequence)) await store.remove(path);
  } catch (error) {
    // The failure of the run is the one to report; the next commit removes the files.
    if (!isSvcError(error)) throw error;
  }
}

async function uncommitted(store: ArchiveStore, sequence: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of store.list('tenant=')) if (partNumber(path) === sequence) found.push(path);
  for await (const { path } of store.list(MANIFEST)) if (sideNumber(path) === sequence) found.push(path);
  const manifest = await unlessDamaged(readManifest(store));
  const named = new Set(manifest?.index.map(({ path }) => path));
  for await (const { path } of store.list(INDEX))
    if (indexNumber(path) === sequence || (manifest && !named.has(path) && !isHidden(path))) found.push(path);
  return found;
}
