import { sideBySide } from '../../base/side-by-side.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import type { StoredFile } from '../../client/store/store.ts';
import { standingClaims } from './claims.ts';
import { damagedLedger, forkedLedger, unreadableEntry } from './damage.ts';
import { lackingSettings } from './earlier-keys.ts';
import { type Entry, entryName, isEntry } from './entry.ts';
import { markBytes, parseMark } from './mark.ts';
import { MAX_ENTRY_BYTES, readCopy, readObject } from './objects.ts';
import { MAX_SET_BYTES } from './row-set.ts';

/** How many objects are opened at a time. */
const AT_ONCE = 8;

/** The bytes of a row's key in a set. */
const KEY_BYTES = 8;

/** A cycle as this machine knows it. */
export interface KnownCycle {
  /** The folder of the ledger. */
  readonly ledger: string;
  /** The folder of the cycle. */
  readonly top: string;
  readonly entries: readonly Entry[];
  /** The bytes of the entries. */
  readonly bytes: readonly Uint8Array[];
  /** The copies of this machine; undefined for the ledger that it has alone. */
  readonly copies: ObjectStore | undefined;
  /** Returns the name of the mark of a job. */
  readonly markOf: (job: string) => string;
  /** The folder of the marks. */
  readonly marks: string;
}

export interface LackingObject {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Compares a place with what this machine has of a cycle. Returns the objects that the place lacks, in the order in which they
 * are put back: sets and marks before the entries that need them. A list proves nothing, so that each object that it
 * lacks is opened.
 * @throws SvcError `config` for an object that differs, and for an entry that is missing and that this machine does not have
 */
export async function lackingObjects(objects: ObjectStore, known: KnownCycle): Promise<readonly LackingObject[]> {
  const listed = await listedIn(objects, `${known.top}/`);
  const entries = await lackingEntries(objects, known);
  await requireNoGap(objects, known, listed);
  const settings = await lackingSettings(objects, known.ledger, known.copies);
  const sets = await lackingSets(objects, known, listed);
  const marks = await lackingMarks(objects, known, await listedIn(objects, known.marks));
  return [...settings, ...sets, ...marks, ...entries];
}

/** Compares the entries only. @throws as `lackingObjects` */
export async function lackingEntries(
  objects: ObjectStore,
  { top, entries, bytes }: Pick<KnownCycle, 'top' | 'entries' | 'bytes'>,
): Promise<LackingObject[]> {
  const own = bytes.map((each, index) => ({ name: `${top}/${entryName(index + 1)}`, bytes: each, number: index + 1 }));
  const lacking: LackingObject[] = [];
  const compared = sideBySide(own, AT_ONCE, async (each) => ({
    ...each,
    stored: await readObject(objects, each.name, MAX_ENTRY_BYTES),
  }));
  for await (const { name, bytes: kept, number, stored } of compared) {
    if (stored === undefined) lacking.push({ name, bytes: kept });
    else if (Buffer.compare(stored, kept) !== 0)
      throw isEntry(stored)
        ? forkedLedger(`${objects.name}/${name}`, 'it is not the one that this machine read', jobsFrom(entries, number))
        : await unreadableEntry(objects, { name, next: `${top}/${entryName(number + 1)}` });
  }
  return lacking;
}

/** Returns the jobs that entries from a number on claim. */
function jobsFrom(entries: readonly Entry[], number: number): string[] {
  return entries.slice(number - 1).flatMap((entry) => (entry.kind === 'claim' ? entry.job : []));
}

/** Checks that no entry is missing before one that the list shows and that this machine does not have. */
async function requireNoGap(
  objects: ObjectStore,
  { top, bytes }: KnownCycle,
  listed: ReadonlyMap<string, StoredFile>,
): Promise<void> {
  const numbers = [...listed.keys()].flatMap((name) => {
    const [, number] = /^(\d{8})\.json$/.exec(name.slice(top.length + 1)) ?? [];
    return number === undefined ? [] : [Number(number)];
  });
  const newest = Math.max(0, ...numbers);
  for (let number = bytes.length + 1; number <= newest; number += 1) {
    const name = `${top}/${entryName(number)}`;
    if ((await readObject(objects, name, MAX_ENTRY_BYTES)) === undefined)
      throw damagedLedger(`${objects.name}/${name}`, 'it is missing');
  }
}

async function lackingSets(
  objects: ObjectStore,
  { top, entries, copies }: KnownCycle,
  listed: ReadonlyMap<string, StoredFile>,
): Promise<LackingObject[]> {
  const sets = new Map<string, number | undefined>();
  for (const { row_set: set, rows } of standingClaims(entries)) if (set !== null) sets.set(set, rows * KEY_BYTES);
  for (const entry of entries)
    for (const set of entry.kind === 'done' ? [entry.born, entry.closed] : []) if (set) sets.set(set, undefined);
  const lacking: LackingObject[] = [];
  for (const [sha256, size] of sets) {
    const name = `${top}/rows/${sha256}`;
    // A machine that reads its copies would not notice other bytes of the same size, at which all other machines stop.
    if (copies === undefined && size !== undefined && listed.get(name)?.bytes === size) continue;
    const stored = await readObject(objects, name, MAX_SET_BYTES);
    if (stored !== undefined && sha256Of(stored) === sha256) continue;
    if (stored !== undefined) throw damagedLedger(`${objects.name}/${name}`, 'it has another hash');
    const kept = await readCopy(copies, name, MAX_SET_BYTES);
    // A command that needs a set that nobody has ends when it reads it.
    if (kept !== undefined && sha256Of(kept) === sha256) lacking.push({ name, bytes: kept });
  }
  return lacking;
}

/** Finds marks that standing claims lack. A claim names its cycle, so that every machine can write its mark. */
async function lackingMarks(
  objects: ObjectStore,
  { top, entries, markOf }: KnownCycle,
  listed: ReadonlyMap<string, StoredFile>,
): Promise<LackingObject[]> {
  const bytes = markBytes(top.slice(top.lastIndexOf('/') + 1));
  const lacking: LackingObject[] = [];
  for (const { job } of standingClaims(entries)) {
    const name = markOf(job);
    if (listed.get(name)?.bytes === bytes.byteLength) continue;
    const stored = await readObject(objects, name, MAX_ENTRY_BYTES);
    if (stored === undefined) lacking.push({ name, bytes });
    else parseMark(stored, `${objects.name}/${name}`);
  }
  return lacking;
}

async function listedIn(objects: ObjectStore, prefix: string): Promise<ReadonlyMap<string, StoredFile>> {
  const listed = new Map<string, StoredFile>();
  for await (const file of objects.list(prefix)) listed.set(file.path, file);
  return listed;
}
