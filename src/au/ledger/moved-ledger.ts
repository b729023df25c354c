import { isSvcError, SvcError } from '../../base/errors.ts';
import { AbsentPlace, type ObjectStore } from '../../client/store/objects.ts';
import { hasLedger, readCopy, requireCondition, SETTINGS_BYTES, settingsName } from './ledger.ts';
import { PlannedObjects } from './planned-objects.ts';
import { repairLedger } from './repair-ledger.ts';
import { MAX_SET_BYTES } from './row-set.ts';

/** Where a ledger was, where it is now, and what this machine copied of it in the old place. */
export interface MovedLedger {
  readonly from: ObjectStore;
  readonly to: ObjectStore;
  readonly copies: ObjectStore;
  /** Whether this machine may only read the ledger, so that its store is tried later. */
  readonly onlyReads: boolean;
}

/**
 * Checks that a tenant's ledger is in another place now: nothing of it is left in the old one, and the new one has all that
 * this machine read. That no other machine uses the old place is the operator's word.
 * @throws SvcError `config`
 */
export async function requireMoved(tenant: string, { from, to, copies, onlyReads }: MovedLedger): Promise<void> {
  const settings = settingsName(tenant);
  const kept = await readCopy(copies, settings, SETTINGS_BYTES);
  if (kept === undefined) throw notMoved(to, from, `this machine has no copy of what it read in ${from.name}`);
  if (await isLeft(from, tenant)) throw stillThere(from, to);
  const found = await to.read(settings, SETTINGS_BYTES);
  if (found === undefined || Buffer.compare(found, kept) !== 0)
    throw notMoved(to, from, 'it is not the ledger that this machine used');
  const differences = await repairLedger(new PlannedObjects(to), copies, tenant);
  const problem = differences.find(({ status }) => status !== 'freed');
  if (problem)
    throw notMoved(to, from, `${problem.object} is ${problem.status === 'put_back' ? 'missing' : problem.status}`);
  if (!onlyReads) await requireCondition(to, settings, kept);
}

/** Keeps the copies of the old place as those of the new one. */
export async function keepCopies(copies: ObjectStore, moved: ObjectStore): Promise<void> {
  for await (const { path } of copies.list('')) {
    const bytes = await readCopy(copies, path, MAX_SET_BYTES);
    if (bytes !== undefined) await moved.create(path, bytes);
  }
}

/** Tells whether anything of the ledger is left in a place, which may be gone. */
async function isLeft(objects: ObjectStore, tenant: string): Promise<boolean> {
  try {
    return await hasLedger(objects, tenant);
  } catch (error) {
    const isNoBucket = isSvcError(error) && error.facts?.['store_code'] === 'NoSuchBucket';
    if (isNoBucket || error instanceof AbsentPlace) return false;
    throw error;
  }
}

function stillThere(from: ObjectStore, to: ObjectStore): SvcError {
  return new SvcError('config', `the ledger is still in ${from.name}, so it was not moved to ${to.name}`, {
    hint: `Nothing was changed. Two copies of a ledger must never be used, because each lacks what is entered in the other: set ${from.name} again, or let whoever administers the places put the old one away once no machine uses it.`,
    facts: { ledger: from.name },
  });
}

function notMoved(to: ObjectStore, from: ObjectStore, why: string): SvcError {
  return new SvcError('config', `the ledger in ${to.name} does not have all that this machine read: ${why}`, {
    hint: `Nothing was changed. An older copy, or a part, of the ledger in ${from.name} does not know all rows that were paid for. Move the whole ledger, or set ${from.name} again.`,
    facts: { ledger: from.name },
  });
}
