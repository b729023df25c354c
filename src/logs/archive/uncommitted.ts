import { isSvcError } from '../../base/errors.ts';
import { INDEX, indexNumber } from './index/ref.ts';
import { unlessDamaged } from './index/upkeep.ts';
import { readManifest } from './manifest.ts';
import { isHidden, MANIFEST, partNumber, recordPath, sideNumber } from './record.ts';
import type { ArchiveStore } from './store.ts';

/**
 * Removes the files of a record that could not be committed, for example on a full disk. Otherwise `svc logs verify` would
 * report them as added by somebody until the next commit. The caller must have the store's lock. Buckets are skipped, because
 * a writer on another machine may be about to commit a file with the same name.
 */
export async function removeUncommitted(store: ArchiveStore, sequence: number): Promise<void> {
  if (store.isRemote) return;
  try {
    if ((await store.readText(recordPath(sequence))) !== undefined) return;
    for (const path of await uncommitted(store, sequence)) await store.remove(path);
  } catch (error) {
    // The caller reports the failure of the run, and the next commit removes these files.
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
