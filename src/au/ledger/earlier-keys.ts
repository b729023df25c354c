/*
 * Ledgers that a build before the first release began: their keys begin with the salt in `ledger.json`, and a machine that
 * began to share entered its files without a cycle there without their rows. All that reads them is in this file, which goes
 * after the first release.
 */

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
 * Returns a function that gives the salt of an entry's sets: that of the tenant, or that of the build which began the ledger.
 * Where the place lacks the latter, the copy of this machine counts, which the next command that sends rows puts back. The
 * function throws `config` for a salt that is lost, so that nobody knows the rows of the entry.
 * @throws SvcError `config` for a damaged object, and for another one than this machine read there
 */
export async function saltsOf(folder: LedgerFolder, tenant: string): Promise<(entry: Keys) => string> {
  const place = folder.shown(SALT);
  const kept = await folder.readCopy(SALT);
  const bytes = await folder.read(SALT);
  if (kept !== undefined && bytes !== undefined && Buffer.compare(kept, bytes) !== 0)
    throw damagedLedger(place, 'it is not the one that this machine read');
  const found = bytes ?? kept;
  const earlier = found && parseSalt(found, place);
  if (found !== undefined && kept === undefined) await folder.keep(SALT, found);
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

/** Returns the object with the salt if a place lacks it and this machine has a copy. */
export async function lackingSalt(folder: LedgerFolder) {
  const bytes = await folder.readCopy(SALT);
  return bytes === undefined || (await folder.read(SALT)) !== undefined ? [] : [{ name: SALT, bytes }];
}

/** Returns what a copy of an entry in another ledger says of the keys of its set. */
export function copiedKeys({ keys }: Keys, set: RowSet | undefined): Keys {
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
 * Returns the names that a file without a cycle may have in a ledger, its own first: earlier builds made them from the
 * salted rows, also in another ledger from which they were copied.
 * @throws SvcError `config` if the salt of such names is lost
 */
export async function fileCycles(ledger: Cycles, file: FileRows): Promise<readonly string[]> {
  const names = (await ledger.cycleNames()).filter(isFileCycle);
  const salts = new Set<string>();
  for await (const first of sideBySide(names, AT_ONCE, (name) => ledger.cycle(name).readFirst()))
    if (first?.kind === 'claim' && first.row_set !== null && first.keys !== 2) salts.add(ledger.saltOf(first));
  const earlier = await Promise.all([...salts].map(async (salt) => fileCycle(await file.under(salt))));
  return [fileCycle(file.rows), ...earlier];
}

/** Returns the cycle of a file that belongs to none: the one that an earlier build began for it, if there is one. */
export async function fileCycleIn(ledger: Cycles, file: FileRows): Promise<string> {
  const [own = '', ...earlier] = await fileCycles(ledger, file);
  for (const name of earlier) if ((await ledger.cycle(name).read()).length > 0) return name;
  return own;
}

/** Returns the cycle of a file without one whose rows are unknown. */
export function unknownRowsCycle(sha256: string): string {
  return `file-unknown-${sha256.slice(0, 16)}`;
}

/** Returns the claims of unknown rows that were made for a file with some bytes. */
export async function claimsWithoutRows(ledger: Cycles, hashes: Iterable<string>): Promise<readonly ClaimEntry[]> {
  const claims: ClaimEntry[] = [];
  for (const sha256 of new Set(hashes))
    claims.push(...standingClaims(await ledger.cycle(unknownRowsCycle(sha256)).read()));
  return claims;
}

/**
 * Returns the claims that a shared ledger has without their rows, of files whose rows this machine's former ledger has in
 * some cycles: only there they show once the rows of the file are in another order.
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
