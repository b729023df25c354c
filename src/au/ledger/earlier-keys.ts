// Reads ledgers that a build before the first release began. Their keys begin with the salt in `ledger.json`, and shared
// ledgers may have claims without rows. This file can go after the first release.

import { refuseNewer } from '../../base/errors.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import { standingClaims } from './claims.ts';
import { fileCycle, isFileCycle } from './cycle-names.ts';
import { damagedLedger } from './damage.ts';
import type { ClaimEntry, Entry, Keys } from './entry.ts';
import type { LedgerFolder } from './objects.ts';
import type { FileRows } from './request-rows.ts';
import type { RowSet } from './row-set.ts';

/** The object with the salt. */
const SALT = 'ledger.json';

/**
 * Returns a function that gives the salt of an entry's sets: the tenant's, or for earlier entries the salt in `ledger.json`. If
 * that object is missing, this machine's copy is used. The function throws `config` for a lost salt.
 * @throws SvcError `config` for an object that is damaged or differs from this machine's copy
 */
export async function saltsOf(folder: LedgerFolder, tenant: string): Promise<(entry: Keys) => string> {
  const place = folder.shownName(SALT);
  const kept = await folder.readCopy(SALT);
  const bytes = await folder.read(SALT);
  if (kept !== undefined && bytes !== undefined && Buffer.compare(kept, bytes) !== 0)
    throw damagedLedger(place, 'it is not the one that this machine read');
  const object = bytes ?? kept;
  const earlier = object && parseSalt(object, place);
  if (object !== undefined && kept === undefined) await folder.keep(SALT, object);
  return ({ keys, salt = earlier }) => {
    if (keys === 2) return tenant;
    if (salt !== undefined) return salt;
    throw damagedLedger(place, 'it is missing, and claims need its salt');
  };
}

function parseSalt(bytes: Uint8Array, place: string): string {
  const value = parsedJson(Buffer.from(bytes).toString());
  refuseNewer(value, 1, place);
  // No schema checks it: this file loads when TAB is pressed.
  const salt = isObject(value) && value['version'] === 1 && value['keys'] === 1 ? value['salt'] : undefined;
  if (typeof salt === 'string' && /^[0-9a-f]{64}$/.test(salt)) return salt;
  throw damagedLedger(place, 'it is not what svc writes');
}

/** Returns this machine's copy of the salt if the ledger lacks the object. */
export async function missingSalt(folder: LedgerFolder) {
  const bytes = await folder.readCopy(SALT);
  return bytes === undefined || (await folder.read(SALT)) !== undefined ? [] : [{ name: SALT, bytes }];
}

/** Returns the key members for an entry that is copied to another ledger. */
export function keysOfCopy({ keys }: Keys, set: RowSet | undefined): Keys {
  if (set === undefined) return {};
  return keys === 2 ? { keys } : { salt: set.salt };
}

interface Cycle {
  read(): Promise<readonly Entry[]>;
  readFirst(): Promise<Entry | undefined>;
}

interface Cycles {
  cycle(name: string): Cycle;
  cycleOfJob(job: string): Promise<Cycle | undefined>;
  cycleNames(): Promise<readonly string[]>;
  saltOf(entry: Keys): string;
}

/** How many first entries are read at a time. */
const AT_ONCE = 8;

/**
 * Returns the cycles that a file without a named cycle may have in a ledger, today's name first. Earlier builds made the name
 * from salted rows, so each salt gives another name.
 * @throws SvcError `config` if a salt is lost
 */
export async function fileCycles(ledger: Cycles, file: FileRows): Promise<readonly string[]> {
  const names = (await ledger.cycleNames()).filter(isFileCycle);
  const salts = new Set<string>();
  for await (const first of sideBySide(names, AT_ONCE, (name) => ledger.cycle(name).readFirst()))
    if (first?.kind === 'claim' && first.row_set !== null && first.keys !== 2) salts.add(ledger.saltOf(first));
  const earlier = await Promise.all([...salts].map(async (salt) => fileCycle(await file.keysUnder(salt))));
  return [fileCycle(file.rows), ...earlier];
}

/** Returns the cycle of a file without a named one: the cycle that an earlier build began for it, or else today's. */
export async function fileCycleIn(ledger: Cycles, file: FileRows): Promise<string> {
  const [own = '', ...earlier] = await fileCycles(ledger, file);
  for (const name of earlier) if ((await ledger.cycle(name).read()).length > 0) return name;
  return own;
}

/** Returns the cycle of a file without a named one, whose rows are unknown. */
export function unknownRowsCycle(sha256: string): string {
  return `file-unknown-${sha256.slice(0, 16)}`;
}

/** Returns the claims of unknown rows whose file has one of these hashes. */
export async function claimsWithoutRows(ledger: Cycles, hashes: Iterable<string>): Promise<readonly ClaimEntry[]> {
  const claims: ClaimEntry[] = [];
  for (const sha256 of new Set(hashes))
    claims.push(...standingClaims(await ledger.cycle(unknownRowsCycle(sha256)).read()));
  return claims;
}

/**
 * Returns the claims without rows in a shared ledger whose jobs have claims in these cycles of this machine's own ledger. The
 * own ledger knows their rows, and so finds the file again if its rows are in another order.
 */
export async function enteredWithoutRows(
  own: Cycles,
  shared: Cycles,
  cycles: readonly string[],
): Promise<readonly ClaimEntry[]> {
  const entered: ClaimEntry[] = [];
  for (const name of cycles)
    for (const { job } of standingClaims(await own.cycle(name).read())) {
      const claims = standingClaims((await (await shared.cycleOfJob(job))?.read()) ?? []);
      entered.push(...claims.filter((claim) => claim.job === job && claim.row_set === null));
    }
  return entered;
}
