import { isSvcError } from '../../../base/errors.ts';
import type { Store } from '../../../client/store/store.ts';
import type { Segment } from '../records/record.ts';
import { unlessDamaged } from '../unless-damaged.ts';
import { indexPath, MAX_INDEX_BYTES } from './segment-index.ts';

/** Writes the index of a segment beside the segments. Where that fails, a search makes it. The caller must have the lock. */
export async function writeIndex(store: Store, { path: segment }: Pick<Segment, 'path'>, index: Uint8Array) {
  try {
    await store.create(indexPath(segment), index);
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}

/** Reads the bytes of the index that is beside the segments; undefined without one, and where it cannot be read. */
export function readIndex(store: Store, { path: segment }: Pick<Segment, 'path'>): Promise<Uint8Array | undefined> {
  return unlessDamaged(store.read(indexPath(segment), MAX_INDEX_BYTES), 'local');
}
