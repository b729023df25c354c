/*
 * The keys of ledgers that builds before the first release began: their salt stands in `ledger.json`. All that reads such
 * ledgers is in this file, which goes after the first release.
 */

import { refuseNewer } from '../../base/errors.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import { damagedLedger } from './damage.ts';
import type { ClaimEntry, Entry, Keys } from './entry.ts';
import { fileCycle, isFileCycle } from './file-cycle.ts';
import { MAX_ENTRY_BYTES, readCopy, readObject, writeCopy } from './objects.ts';
import { RowSet } from './row-set.ts';

/** Returns the keys of a file's rows, or of its tokens, under a salt. */
export type KeysUnder = (salt: string) => Promise<RowSet>;

/** The rows of a file, as the keys of the tenant and under any salt. */
export interface FileRows {
  readonly rows: RowSet;
  readonly under: KeysUnder;
}

/** Returns the name of the object with the salt, below the folder of a ledger. */
function settingsName(top: string): string {
  return `${top}/ledger.json`;
}

/**
 * Reads the salt of a ledger that an earlier build began; undefined if there is none. Where the place lacks it, the copy of
 * this machine counts, which the next command that sends rows puts back.
 * @throws SvcError `config` for a damaged object, and for another one than this machine read there
 */
export async function earlierSalt(
  objects: ObjectStore,
  top: string,
  copies: ObjectStore | undefined,
): Promise<string | undefined> {
  const name = settingsName(top);
  const place = `${objects.name}/${name}`;
  const kept = await readCopy(copies, name, MAX_ENTRY_BYTES);
  const bytes = await readObject(objects, name, MAX_ENTRY_BYTES);
  if (kept !== undefined && bytes !== undefined && Buffer.compare(kept, bytes) !== 0)
    throw damagedLedger(place, 'it is not the one that this machine read');
  const found = bytes ?? kept;
  if (found === undefined) return undefined;
  const value = parsedJson(Buffer.from(found).toString());
  refuseNewer(value, 1, name);
  // No schema checks it: this file loads when TAB is pressed.
  const salt = isObject(value) && value['version'] === 1 && value['keys'] === 1 ? value['salt'] : undefined;
  if (typeof salt !== 'string' || !/^[0-9a-f]{64}$/.test(salt)) throw damagedLedger(place, 'it is not what svc writes');
  if (kept === undefined) await writeCopy(copies, name, found);
  return salt;
}

/** Returns the object with the salt if a place lacks it and this machine has a copy. */
export async function lackingSettings(objects: ObjectStore, top: string, copies: ObjectStore | undefined) {
  const name = settingsName(top);
  const kept = await readCopy(copies, name, MAX_ENTRY_BYTES);
  if (kept === undefined || (await readObject(objects, name, MAX_ENTRY_BYTES)) !== undefined) return [];
  return [{ name, bytes: kept }];
}

/** The salts of the sets of one ledger. */
export class Salts {
  readonly tenant: string;
  readonly earlier: string | undefined;
  readonly #place: string;

  /** `earlier` is the salt of an earlier build; `place` is that of the ledger, in messages. */
  constructor(tenant: string, earlier: string | undefined, place: string) {
    this.tenant = tenant;
    this.earlier = earlier;
    this.#place = place;
  }

  /** Returns the salt of an entry's sets. @throws SvcError `config` if it is lost, so that nobody knows the rows of the entry */
  of({ keys, salt = this.earlier }: Keys): string {
    if (keys === 2) return this.tenant;
    if (salt !== undefined) return salt;
    throw damagedLedger(settingsName(this.#place), 'it is missing, and claims need its salt');
  }
}

interface Sets {
  rowSet(sha256: string): Promise<RowSet>;
  saltOf(entry: Keys): string;
}

/** Returns how many rows of a file a claim has. A claim of an earlier build whose rows are unknown may have all of them. */
export async function sharedRows(
  cycle: Sets,
  claim: Pick<ClaimEntry, 'row_set' | 'keys' | 'salt'>,
  file: FileRows,
): Promise<number> {
  if (claim.row_set === null) return file.rows.size;
  const set = await cycle.rowSet(claim.row_set);
  return (await rowsUnder(file, claim, cycle)).shared(set);
}

/** Tells whether some rows of a file are in no claim. Claims with keys of several salts are not compared with each other. */
export async function leavesAny(
  cycle: Sets,
  file: FileRows,
  taken: readonly { readonly claim: Pick<ClaimEntry, 'row_set' | 'keys' | 'salt'> }[],
): Promise<boolean> {
  const sets = await Promise.all(
    taken.flatMap(({ claim }) => (claim.row_set === null ? [] : [saltedSet(cycle, claim, claim.row_set)])),
  );
  const salts = new Set(sets.map(({ salt }) => salt));
  const [salt = cycle.saltOf({ keys: 2 })] = salts;
  if (salts.size > 1) return true;
  return (await file.under(salt)).shared(RowSet.union(sets.map(({ set }) => set))) < file.rows.size;
}

/** Returns the rows of a file under the salt of an entry. */
export async function rowsUnder(file: FileRows, entry: Keys, cycle: Pick<Sets, 'saltOf'>): Promise<RowSet> {
  return entry.keys === 2 ? file.rows : file.under(cycle.saltOf(entry));
}

/** A set with the salt of its keys. */
interface SaltedSet {
  readonly set: RowSet;
  readonly salt: string;
}

export async function saltedSet(cycle: Sets, entry: Keys, name: string): Promise<SaltedSet> {
  return { set: await cycle.rowSet(name), salt: cycle.saltOf(entry) };
}

/** Returns the position of the first set that has a key. One that is undefined has every key. */
export function firstWith(sets: readonly (SaltedSet | undefined)[], keyUnder: (salt: string) => bigint): number {
  let last: { readonly salt: string; readonly key: bigint } | undefined;
  return sets.findIndex((one) => {
    if (one === undefined) return true;
    if (last?.salt !== one.salt) last = { salt: one.salt, key: keyUnder(one.salt) };
    return one.set.has(last.key);
  });
}

/** Tells whether the sets of two entries have the same salt. */
export function hasSameKeys(one: Keys, other: Keys): boolean {
  return one.keys === other.keys && one.salt === other.salt;
}

/** Tells whether some claim with keys of another salt has the rows of a claim, because its file had the same bytes. */
export function hasSameRows(claims: readonly ClaimEntry[], claim: ClaimEntry): boolean {
  return claims.some((other) => !hasSameKeys(other, claim) && other.sha256 === claim.sha256);
}

/** Returns the salt that a copy of an entry names in another ledger. Sets of rows and of tokens are copied as they are. */
export function copiedKeys(cycle: Pick<Sets, 'saltOf'>, entry: Keys, set: string | null): Keys {
  if (set === null) return {};
  return entry.keys === 2 ? { keys: 2 } : { salt: cycle.saltOf(entry) };
}

interface Cycles {
  readonly salts: Salts;
  cycle(name: string): { read(): Promise<readonly Entry[]>; readFirst(): Promise<Entry | undefined> };
  cycleNames(): Promise<readonly string[]>;
}

/** How many first entries are read at a time. */
const AT_ONCE = 8;

/**
 * Returns the names that a file without a cycle may have in a ledger, its own first: earlier builds made them from the
 * salted rows, also in another ledger from which they were copied.
 * @throws SvcError `config` if the salt of such names is lost
 */
export async function fileCycles(ledger: Cycles, file: FileRows): Promise<readonly string[]> {
  const names = (await ledger.cycleNames()).filter(isFileCycle);
  const salts = new Set<string>();
  for await (const first of sideBySide(names, AT_ONCE, (name) => ledger.cycle(name).readFirst()))
    if (first?.kind === 'claim' && first.row_set !== null && first.keys !== 2) salts.add(ledger.salts.of(first));
  const earlier = await Promise.all([...salts].map(async (salt) => fileCycle(await file.under(salt))));
  return [fileCycle(file.rows), ...earlier];
}

/** Returns the cycle of a file that belongs to none: the one that an earlier build began for it, if there is one. */
export async function fileCycleIn(ledger: Cycles, file: FileRows): Promise<string> {
  const [own = '', ...earlier] = await fileCycles(ledger, file);
  for (const name of earlier) if ((await ledger.cycle(name).read()).length > 0) return name;
  return own;
}
