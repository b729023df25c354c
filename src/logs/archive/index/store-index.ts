import path from 'node:path';
import { isSvcError } from '../../../base/errors.ts';
import { Draft } from '../../../base/files/draft.ts';
import type { Store } from '../../../client/store/store.ts';
import type { Segment } from '../records/record.ts';
import { unlessDamaged } from '../unless-damaged.ts';
import { indexPath, MAX_INDEX_BYTES } from './segment-index.ts';

/** Writes the index of a segment beside the segments. Where that fails, a search makes it. The caller must have the lock. */
export async function writeIndex(store: Store, { path: segment }: Pick<Segment, 'path'>, index: Uint8Array) {
  let draft: Draft | undefined;
  try {
    draft = await Draft.begin(path.join(store.workDirectory, 'index'));
    await draft.write(index);
    await store.create(indexPath(segment), { path: draft.path, ...(await draft.seal()) });
  } catch (error) {
    if (!isSvcError(error)) throw error;
  } finally {
    await draft?.discard();
  }
}

/** Reads the bytes of the index that is beside the segments; undefined without one, and where it cannot be read. */
export function readIndex(store: Store, { path: segment }: Pick<Segment, 'path'>): Promise<Buffer | undefined> {
  return unlessDamaged(readAll(store, indexPath(segment)), 'local');
}

async function readAll(store: Store, file: string): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of store.stream(file)) {
    pieces.push(piece);
    length += piece.byteLength;
    if (length > MAX_INDEX_BYTES) return undefined;
  }
  return Buffer.concat(pieces);
}
