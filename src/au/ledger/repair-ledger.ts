import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { ObjectStore } from '../../client/store/objects.ts';
import { abandonedClaim, isCut } from './cut-entry.ts';
import { type Entry, MAX_ENTRY_BYTES, parseEntry } from './entry.ts';
import { cutName, entryName, readCopy, SETTINGS_BYTES, settingsName } from './ledger.ts';
import { MAX_SET_BYTES } from './row-set.ts';

/** What was found of an object of a ledger that is not as svc wrote it. */
export interface RepairedObject {
  readonly object: string;
  /** `changed` has other bytes than it had, and `cut` only the first of them. Neither is replaced. */
  readonly status: 'put_back' | 'missing' | 'cut' | 'changed';
  /** The hash of this machine's copy of a cut or changed object, and null without a copy. */
  readonly sha256: string | null;
  /** The name by which the operator can abandon a cut last entry of which this machine has no copy, or else null. */
  readonly abandon: string | null;
}

/**
 * Puts missing objects of a tenant's ledger back from this machine's copies. Each is created under the condition that its
 * name is free, so that nothing that exists is replaced. Returns what was put back and what remains.
 */
export async function repairLedger(
  objects: ObjectStore,
  cache: ObjectStore | undefined,
  tenant: string,
): Promise<RepairedObject[]> {
  const settings = settingsName(tenant);
  const prefix = settings.replace('ledger.json', 'cycles/');
  const newest = new Map<string, number>();
  for (const store of [objects, ...(cache ? [cache] : [])])
    for await (const { path } of store.list(prefix)) {
      const [, top = '', number] = /^(.*)\/(\d{8})\.json$/.exec(path) ?? [];
      if (number !== undefined) newest.set(top, Math.max(newest.get(top) ?? 0, Number(number)));
    }
  const repair = new Repair(objects, cache);
  const isBegun = newest.size > 0 || (await readCopy(cache, settings, SETTINGS_BYTES)) !== undefined;
  if (isBegun) await repair.settle(settings, SETTINGS_BYTES, () => true);
  for (const top of [...newest.keys()].toSorted()) await repair.cycle(top, newest.get(top) ?? 0);
  return repair.found;
}

class Repair {
  readonly found: RepairedObject[] = [];
  readonly #objects: ObjectStore;
  readonly #cache: ObjectStore | undefined;

  constructor(objects: ObjectStore, cache: ObjectStore | undefined) {
    this.#objects = objects;
    this.#cache = cache;
  }

  /** Repairs the entries of a cycle up to a number, and then the sets that they name. */
  async cycle(top: string, newest: number): Promise<void> {
    const sets = new Set<string>();
    // Undefined after an entry that nobody here has.
    let previous: string | null | undefined = null;
    for (let number = 1; number <= newest; number += 1) {
      const bytes: Uint8Array | undefined = await this.#entry(top, number, previous);
      previous = bytes && sha256Of(bytes);
      const entry = bytes && parsed(bytes);
      if (entry?.kind === 'claim' && entry.row_set !== null) sets.add(entry.row_set);
      if (entry?.kind === 'done' && entry.born !== null) sets.add(entry.born);
    }
    for (const name of sets) await this.settle(`${top}/rows/${name}`, MAX_SET_BYTES, (it) => sha256Of(it) === name);
  }

  /** Repairs one entry. Returns its bytes as they stand now, or undefined if they are not known. */
  async #entry(top: string, number: number, previous: string | null | undefined): Promise<Uint8Array | undefined> {
    const [name, next] = [number, number + 1].map((each) => `${top}/${entryName(each)}`) as [string, string];
    const after = await this.#read(next, MAX_ENTRY_BYTES);
    const named = after && parsed(after)?.previous;
    const follows = (bytes: Uint8Array): boolean => {
      const entry = parsed(bytes);
      return entry !== undefined && (previous === undefined || entry.previous === previous);
    };
    const cut = cutName(top, number);
    const isSound = (bytes: Uint8Array): boolean =>
      follows(bytes) || abandonedClaim({ name: cut, previous: previous ?? null, bytes }, after) !== undefined;
    // A copy that another entry follows than the one that was read would not fit either.
    const isNamed = (bytes: Uint8Array): boolean => follows(bytes) && (!named || sha256Of(bytes) === named);
    return this.settle(name, MAX_ENTRY_BYTES, isSound, { isNamed, cut: after === undefined ? cut : null });
  }

  /**
   * Compares an object with this machine's copy, and puts it back if it is missing. Returns the bytes that stand, or
   * undefined if they are not known.
   */
  async settle(
    object: string,
    most: number,
    isSound: (bytes: Uint8Array) => boolean,
    { isNamed = isSound, cut = null }: { isNamed?: (bytes: Uint8Array) => boolean; cut?: string | null } = {},
  ): Promise<Uint8Array | undefined> {
    const copy = await readCopy(this.#cache, object, most);
    const kept = copy && isNamed(copy) ? copy : undefined;
    let stored = await this.#read(object, most);
    if (stored === undefined && kept !== undefined) {
      const made = await this.#objects.create(object, kept);
      if (made === 'created') {
        this.#report({ object, status: 'put_back' });
        return kept;
      }
      stored = await this.#read(object, most);
    }
    if (stored === undefined) {
      this.#report({ object, status: 'missing' });
      return undefined;
    }
    if (isSound(stored) && (kept === undefined || Buffer.compare(stored, kept) === 0)) return stored;
    const status = most === MAX_ENTRY_BYTES && isCut(stored) ? 'cut' : 'changed';
    const sha256 = kept ? sha256Of(kept) : null;
    this.#report({ object, status, sha256, abandon: status === 'cut' && sha256 === null ? cut : null });
    return kept;
  }

  #report({
    object,
    status,
    sha256 = null,
    abandon = null,
  }: Pick<RepairedObject, 'object' | 'status'> & Partial<RepairedObject>): void {
    this.found.push({ object: `${this.#objects.name}/${object}`, status, sha256, abandon });
  }

  /** Reads an object. What svc cannot have written counts as an object with other bytes. */
  async #read(object: string, most: number): Promise<Uint8Array | undefined> {
    try {
      return await this.#objects.read(object, most);
    } catch (error) {
      if (isSvcError(error, 'checksum_mismatch')) return Buffer.from('<unreadable>');
      throw error;
    }
  }
}

function parsed(bytes: Uint8Array): Entry | undefined {
  try {
    return parseEntry(bytes, '');
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}

/** Returns the error for what could not be put back; undefined if nothing remains. */
export function remainingDamage(found: readonly RepairedObject[]): SvcError | undefined {
  const left = found.filter(({ status }) => status !== 'put_back');
  const [first] = left;
  if (first === undefined) return undefined;
  const abandon = left.find((each) => each.abandon !== null)?.abandon;
  const hints = [
    left.some(({ status }) => status === 'missing') &&
      'Run this command on each machine that used the ledger: it puts back what that machine has a copy of. What none of them has comes from a backup or an older version of the bucket.',
    left.some(({ status, sha256 }) => status !== 'missing' && sha256 !== null) &&
      'An object that exists is never replaced: whoever administers the place of the ledger removes exactly the objects with a hash below, and this command then puts back what this machine read.',
    left.some(({ status, sha256 }) => status !== 'missing' && sha256 === null) &&
      'Of an object that is cut or changed this machine has no copy: run this command on the other machines, or let whoever administers the place of the ledger restore an older version.',
    abandon &&
      'Only if no machine and no backup has a cut last entry, free its rows with the command below, whatever they were: those that were sent are then paid for twice.',
    'Never remove the ledger: the rows that it names would be paid for again.',
  ];
  const more = left.length > 1 ? ` and ${left.length - 1} more` : '';
  return new SvcError('config', `the ledger is damaged: ${first.object} is ${first.status}${more}; nothing was sent`, {
    hint: hints.filter(Boolean).join(' '),
    next: abandon ? ['au', 'abandon', abandon] : undefined,
    facts: { damaged: left },
  });
}
