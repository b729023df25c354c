// Removes files from a store.

import { type SvcError, isSvcError } from '../../base/errors.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { Store } from './store.ts';

const REMOVALS = 8;

/** The codes of errors about a single file that cannot be removed, such as a file under a legal hold. */
const REMOVAL_ERRORS = ['forbidden', 'local', 'rejected'] as const;

/** Removes files. Returns the errors of files that cannot be removed, by path. @throws any other error */
export async function removeAll(store: Store, paths: readonly string[]): Promise<ReadonlyMap<string, SvcError>> {
  const kept = new Map<string, SvcError>();
  const remove = async (path: string): Promise<void> => {
    try {
      await store.remove(path);
    } catch (error) {
      if (!isSvcError(error, ...REMOVAL_ERRORS)) throw error;
      kept.set(path, error);
    }
  };
  for await (const _ of sideBySide(paths, REMOVALS, remove));
  return kept;
}

/** Removes a file, or leaves it where the store does not allow removing it. */
export async function removeIfAllowed(store: Store, path: string): Promise<void> {
  await removeAll(store, [path]);
}
