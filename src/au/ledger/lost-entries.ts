import { isSvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { ObjectStore } from '../../client/store/objects.ts';
import { abandonedClaim, isCut } from './cut-entry.ts';
import { damagedLedger } from './damage.ts';
import { MAX_ENTRY_BYTES, parseEntry } from './entry.ts';
import { cutName, cyclesPrefix, entryName, readCopy, readObject } from './ledger.ts';

/**
 * Checks that a tenant's ledger has every entry of which this machine has a copy, by a list of both. Only what the list lacks
 * or shows with another size is read. A cycle with two histories is left to the commands that send rows in it, because
 * nothing mends it.
 * @throws SvcError `config` for an entry that is missing, cut or no entry
 */
export async function requireEntries(objects: ObjectStore, copies: ObjectStore, tenant: string): Promise<void> {
  const prefix = cyclesPrefix(tenant);
  const sizes = new Map<string, number>();
  for await (const { path, bytes } of objects.list(prefix)) sizes.set(path, bytes);
  const doubtful: string[] = [];
  for await (const { path, bytes } of copies.list(prefix))
    if (/\/\d{8}\.json$/.test(path) && sizes.get(path) !== bytes) doubtful.push(path);
  const forked = new Set<string>();
  for (const path of doubtful.toSorted()) {
    const [, top = '', number = ''] = /^(.*)\/(\d{8})\.json$/.exec(path) ?? [];
    if (!forked.has(top) && !(await hasEntry(objects, copies, top, Number(number)))) forked.add(top);
  }
}

/** Returns false for a cycle in which the ledger went on without entries that this machine read. */
async function hasEntry(objects: ObjectStore, copies: ObjectStore, top: string, number: number): Promise<boolean> {
  const [before, name, after] = [number - 1, number, number + 1].map((each) => `${top}/${entryName(each)}`) as [
    string,
    string,
    string,
  ];
  const kept = await readCopy(copies, name, MAX_ENTRY_BYTES);
  const previous = kept && previousIn(kept);
  // A copy that is damaged proves nothing.
  if (kept === undefined || previous === undefined) return true;
  const place = `${objects.name}/${name}`;
  const bytes = await readObject(objects, name, MAX_ENTRY_BYTES);
  if (bytes === undefined) {
    const last = await readObject(objects, before, MAX_ENTRY_BYTES);
    if (last !== undefined && sha256Of(last) !== previous) return false;
    throw damagedLedger(place, 'it is missing');
  }
  if (!isCut(bytes)) {
    if (previousIn(bytes) === undefined) throw damagedLedger(place, 'it is not what svc writes');
    return Buffer.compare(bytes, kept) === 0;
  }
  const cut = { name: cutName(top, number), previous, bytes };
  if (abandonedClaim(cut, await readObject(objects, after, MAX_ENTRY_BYTES)) === undefined)
    throw damagedLedger(place, 'it is cut');
  return true;
}

/** Returns the hash in an entry of the one before it; undefined for what is no entry. */
function previousIn(bytes: Uint8Array): string | null | undefined {
  try {
    return parseEntry(bytes, '').previous;
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}
