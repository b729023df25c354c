// The objects that the entries of a cycle need: sets of rows and marks of jobs. Finds those that a ledger lacks.

import { damagedLedger } from './damage.ts';
import { type DoneEntry, type Entry, entryName, markBytes, parseMark } from './entry.ts';
import type { LedgerFolder } from './objects.ts';
import { KEY_BYTES, MAX_SET_BYTES } from './row-set.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { folderOf } from '../../base/files/names.ts';
import type { StoredFile } from '../../client/store/store.ts';

/** An object that is missing in the ledger, and that this machine has. */
export interface MissingObject {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Returns the folder of a cycle's objects. */
export function cyclePath(cycle: string): string {
  return `cycles/${cycle}`;
}

/** Returns the name of the entry with a number. */
export function entryPath(cycle: string, number: number): string {
  return `${cyclePath(cycle)}/${entryName(number)}`;
}

/** Returns the name of a set of rows. */
export function setPath(cycle: string, sha256: string): string {
  return `${cyclePath(cycle)}/rows/${sha256}`;
}

/** Returns the name of the mark of a job. */
export function markName(job: string): string {
  return `jobs/${folderOf(job)}`;
}

/** Tells whether a list of the ledger shows the sets and marks that entries need, with the same sizes. */
export function areListed(cycle: string, entries: readonly Entry[], listed: ReadonlyMap<string, StoredFile>): boolean {
  const mark = markBytes(cycle).byteLength;
  const areSets = [...namedSets(entries)].every(([set, size]) => isListed(listed, setPath(cycle, set), size));
  return areSets && claimedJobs(entries).every((job) => isListed(listed, markName(job), mark));
}

/** Tells whether a list shows an object, with its size if that is known. */
export function isListed(listed: ReadonlyMap<string, StoredFile>, name: string, size: number | undefined): boolean {
  return size === undefined ? listed.has(name) : listed.get(name)?.bytes === size;
}

/** Finds the sets of entries that the ledger lacks. A list may lag, so each set that it does not show is opened. */
export async function missingSets(
  folder: LedgerFolder,
  cycle: string,
  entries: readonly Entry[],
  listed: ReadonlyMap<string, StoredFile>,
): Promise<MissingObject[]> {
  const lacking: MissingObject[] = [];
  for (const [sha256, size] of namedSets(entries)) {
    const name = setPath(cycle, sha256);
    // With copies, the set itself is read: bytes that differ in a set of the same size would stop all other machines.
    if (!folder.hasCopies && size !== undefined && isListed(listed, name, size)) continue;
    const stored = await folder.read(name, MAX_SET_BYTES);
    if (stored !== undefined && sha256Of(stored) === sha256) continue;
    if (stored !== undefined) throw damagedLedger(folder.shownName(name), 'it has another hash');
    const bytes = await folder.readCopy(name, MAX_SET_BYTES);
    // A set that nobody has ends the command that reads it.
    if (bytes !== undefined && sha256Of(bytes) === sha256) lacking.push({ name, bytes });
  }
  return lacking;
}

/**
 * Finds claims without a mark, also ended ones: a failed job without a mark stops every upload. A mark contains only the name of the
 * cycle, so every machine can write it.
 */
export async function missingMarks(
  folder: LedgerFolder,
  cycle: string,
  entries: readonly Entry[],
  listed: ReadonlyMap<string, StoredFile>,
): Promise<MissingObject[]> {
  const bytes = markBytes(cycle);
  const lacking: MissingObject[] = [];
  for (const job of new Set(claimedJobs(entries))) {
    const name = markName(job);
    if (isListed(listed, name, bytes.byteLength)) continue;
    const stored = await folder.read(name);
    if (stored === undefined) lacking.push({ name, bytes });
    else parseMark(stored, folder.shownName(name));
  }
  return lacking;
}

/** Tells whether the ledger has the sets of new tokens and closed accounts of an entry. */
export async function hasTokenSets(folder: LedgerFolder, cycle: string, done: DoneEntry): Promise<boolean> {
  for (const set of tokenSetsOf(done))
    if ((await folder.read(setPath(cycle, set), MAX_SET_BYTES)) === undefined) return false;
  return true;
}

/** Returns the sets that entries name, with their sizes if the entries have them. */
function namedSets(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
  const sets = new Map<string, number | undefined>();
  // The rows of a claim that ended are compared until another job has them.
  for (const entry of entries)
    if (entry.kind === 'claim' && entry.row_set !== null) sets.set(entry.row_set, entry.rows * KEY_BYTES);
  for (const entry of entries) for (const set of otherSetsOf(entry)) if (!sets.has(set)) sets.set(set, undefined);
  return sets;
}

/** Returns the sets that an entry names, other than the rows of a claim. */
function otherSetsOf(entry: Entry): readonly string[] {
  if (entry.kind === 'claim') return entry.file.row_sets ?? [];
  return entry.kind === 'left_out' ? [entry.row_set] : tokenSetsOf(entry);
}

/** Returns the token sets that a done entry names. */
function tokenSetsOf(entry: Entry): readonly string[] {
  return entry.kind === 'done' ? [entry.born, entry.closed].filter((set) => typeof set === 'string') : [];
}

/** Returns the jobs of the claims. */
export function claimedJobs(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'claim' ? entry.job : []));
}
