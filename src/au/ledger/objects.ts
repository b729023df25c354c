import { isSvcError } from '../../base/errors.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import { damagedLedger } from './damage.ts';

/** The most bytes of an object that is no set of rows. */
export const MAX_ENTRY_BYTES = 64 * 1024;

/** Reads an object of a ledger. @throws SvcError `config` for one that svc did not write */
export async function readObject(objects: ObjectStore, name: string, most: number): Promise<Uint8Array | undefined> {
  try {
    return await objects.read(name, most);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) throw damagedLedger(`${objects.name}/${name}`, error.message);
    throw error;
  }
}

/** Reads this machine's copy of an object. One that cannot be read is of no use. */
export async function readCopy(
  copies: ObjectStore | undefined,
  name: string,
  most: number,
): Promise<Uint8Array | undefined> {
  try {
    return await copies?.read(name, most);
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}

/** Keeps a copy. Without one, the object is read again. */
export async function writeCopy(copies: ObjectStore | undefined, name: string, bytes: Uint8Array): Promise<void> {
  try {
    await copies?.create(name, bytes);
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}
