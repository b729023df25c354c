/*
 * The keys of ledgers that builds before the first release began: their salt stands in `ledger.json`. All that reads such
 * ledgers is in this file, which goes after the first release.
 */

import { damagedLedger } from './damage.ts';
import type { ClaimEntry, Entry, Keys } from './entry.ts';
import { fileCycle } from './file-cycle.ts';
import { RowSet } from './row-set.ts';

/** Returns the keys of a file's rows, or of its tokens, under a salt. */
export type KeysUnder = (salt: string) => Promise<RowSet>;

/** The rows of a file, as the keys of the tenant and under any salt. */
export interface FileRows {
  readonly rows: RowSet;
  readonly under: KeysUnder;
}

/** The salts of the sets of one ledger. */
export class Salts {
  readonly tenant: string;
  readonly #earlier: string | undefined;
  readonly #settings: string;

  /** `earlier` is the salt of an earlier build; `settings` is the place where it stands, in messages. */
  constructor(tenant: string, earlier: string | undefined, settings: string) {
    this.tenant = tenant;
    this.#earlier = earlier;
    this.#settings = settings;
  }

  /** Returns the salt of an entry's sets. @throws SvcError `config` if it is lost, so that nobody knows the rows of the entry */
  of({ keys, salt = this.#earlier }: Keys): string {
    if (keys === 2) return this.tenant;
    if (salt !== undefined) return salt;
    throw damagedLedger(this.#settings, 'it is missing, and claims need its salt');
  }

  /** Returns the salts besides the tenant's, under which files without a cycle may have their names. */
  get others(): readonly string[] {
    return this.#earlier === undefined ? [] : [this.#earlier];
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

interface Cycles {
  readonly salts: Salts;
  cycle(name: string): { read(): Promise<readonly Entry[]>; readFirst(): Promise<Entry | undefined> };
  cycleNames(): Promise<readonly string[]>;
}

/** Returns the names that a file without a cycle may have in a ledger, its own first. */
export async function fileCycles(salts: Salts, file: FileRows): Promise<readonly string[]> {
  const earlier = await Promise.all(salts.others.map(async (salt) => fileCycle(await file.under(salt))));
  return [fileCycle(file.rows), ...earlier];
}

/**
 * Returns the cycle of a file that belongs to none: the one that an earlier build began for it, if there is one.
 * @throws SvcError `config` if an earlier build began such cycles and the salt of their names is lost
 */
export async function fileCycleIn(ledger: Cycles, file: FileRows): Promise<string> {
  const [own = '', ...earlier] = await fileCycles(ledger.salts, file);
  for (const name of earlier) if ((await ledger.cycle(name).read()).length > 0) return name;
  if (earlier.length > 0) return own;
  for (const name of (await ledger.cycleNames()).filter((each) => each.startsWith('file-'))) {
    const first = await ledger.cycle(name).readFirst();
    // Throws for an entry whose salt is lost.
    if (first?.kind === 'claim' && first.row_set !== null) ledger.salts.of(first);
  }
  return own;
}
