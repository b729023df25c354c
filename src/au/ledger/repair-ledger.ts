import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { ObjectStore } from '../../client/store/objects.ts';
import { byText } from './claims.ts';
import { abandonedClaim, isCut } from './cut-entry.ts';
import { absentLedger } from './damage.ts';
import { type Entry, MAX_ENTRY_BYTES, parseEntry } from './entry.ts';
import {
  cutName,
  cyclesPrefix,
  entryName,
  hasLedger,
  readCopy,
  refuseReplaced,
  SETTINGS_BYTES,
  settingsName,
} from './ledger.ts';
import { MAX_SET_BYTES } from './row-set.ts';

/** What was found of an object of a ledger that is not as svc wrote it. */
export interface RepairedObject {
  readonly object: string;
  /**
   * `changed` has other bytes than it had, and `cut` only the first of them. `forked` is an entry of the ledger in whose
   * place this machine read another one. `freed` is a cut claim that the operator abandoned, and that this machine has.
   * None of them is replaced.
   */
  readonly status: 'put_back' | 'missing' | 'cut' | 'changed' | 'forked' | 'freed';
  /** The hash of this machine's copy of a cut or changed object, and null without a copy. */
  readonly sha256: string | null;
  /** The name by which the operator can abandon a cut last entry or a lost claim of which this machine has no copy, or else null. */
  readonly abandon: string | null;
  /** The job whose claim this machine read in the place of a forked or freed entry, or else null. */
  readonly job: string | null;
  /** Who abandoned a freed entry, or else null. */
  readonly freed_by: string | null;
}

/**
 * Puts missing objects of a tenant's ledger back from this machine's copies. Each is created under the condition that its
 * name is free, so that nothing that exists is replaced. Returns what was put back and what remains.
 * @throws SvcError `config` if nothing of the ledger is there, unless it is to be put back whole, and if another one is
 */
export async function repairLedger(
  objects: ObjectStore,
  cache: ObjectStore | undefined,
  tenant: string,
  { whole = false } = {},
): Promise<RepairedObject[]> {
  const settings = settingsName(tenant);
  const newest = new Map<string, number>();
  for (const store of [objects, ...(cache ? [cache] : [])])
    for await (const { path } of store.list(cyclesPrefix(tenant))) {
      const [, top = '', number] = /^(.*)\/(\d{8})\.json$/.exec(path) ?? [];
      if (number !== undefined) newest.set(top, Math.max(newest.get(top) ?? 0, Number(number)));
    }
  const repair = new Repair(objects, cache);
  const kept = await readCopy(cache, settings, SETTINGS_BYTES);
  await refuseReplaced(objects, tenant, kept, await repair.read(settings, SETTINGS_BYTES));
  const isBegun = newest.size > 0 || kept !== undefined;
  if (isBegun && !whole && !(await hasLedger(objects, tenant))) throw absentLedger(objects.name);
  if (isBegun) await repair.settle(settings, SETTINGS_BYTES, () => true);
  for (const top of [...newest.keys()].toSorted()) await repair.cycle(top, newest.get(top) ?? 0);
  return repair.found;
}

type Bytes = Uint8Array | undefined;

/** What the entries of a cycle so far tell about the next one. */
interface Before {
  /** The hash of the previous entry, in hexadecimal; null before the first entry, undefined if its bytes are unknown. */
  previous: string | null | undefined;
  /** Whether the ledger went on without entries that this machine read. */
  isForked: boolean;
  /** Whether no object has to be restored first. */
  mayPutBack: boolean;
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
    const before: Before = { previous: null, isForked: false, mayPutBack: true };
    for (let number = 1; number <= newest; number += 1) {
      const bytes = await this.#entry(top, number, before);
      before.previous = bytes && sha256Of(bytes);
      const entry = bytes && parsed(bytes);
      if (entry?.kind === 'claim' && entry.row_set !== null) sets.add(entry.row_set);
      if (entry?.kind === 'done' && entry.born !== null) sets.add(entry.born);
    }
    for (const name of sets) await this.settle(`${top}/rows/${name}`, MAX_SET_BYTES, (it) => sha256Of(it) === name);
  }

  /** Repairs one entry, and notes what it tells about the next. Returns its bytes, or undefined if they are not known. */
  async #entry(top: string, number: number, before: Before): Promise<Bytes> {
    const [object, next] = [number, number + 1].map((each) => `${top}/${entryName(each)}`) as [string, string];
    const after = await this.read(next, MAX_ENTRY_BYTES);
    const copy = await readCopy(this.#cache, object, MAX_ENTRY_BYTES);
    // Copies follow each other, and not the entries of a ledger that went on without them.
    const own = copy && (before.isForked ? parsed(copy) : follows(copy, before.previous)) ? copy : undefined;
    // If the next entry of the ledger names another hash, the copy does not belong here.
    const named = after && parsed(after)?.previous;
    const kept = own && !before.isForked && (!named || sha256Of(own) === named) ? own : undefined;
    const stored = await this.#readOrPutBack(object, MAX_ENTRY_BYTES, before.mayPutBack ? kept : undefined);
    if (stored === undefined) {
      if (own && before.isForked) this.#report({ object, status: 'forked', job: claimedJob(own) });
      else this.#report({ object, status: 'missing' });
      before.isForked ||= own !== kept;
      return undefined;
    }
    const cut = { name: cutName(top, number), previous: before.previous ?? null, bytes: stored };
    const abandoned = abandonedClaim(cut, after);
    const isSound = follows(stored, before.previous) || abandoned !== undefined;
    if (own ? Buffer.compare(stored, own) === 0 : isSound) return stored;
    if (abandoned) {
      const job = claimedJob(own);
      if (job !== null) this.#report({ object, status: 'freed', job, freed_by: byText(abandoned) });
      return stored;
    }
    if (parsed(stored) && (own || before.isForked)) {
      this.#report({ object, status: 'forked', job: claimedJob(own) });
      before.isForked = true;
      return stored;
    }
    const abandon = after === undefined && isCut(stored) && kept === undefined ? cut.name : null;
    const sha256 = kept ? sha256Of(kept) : null;
    this.#report({ object, status: isCut(stored) ? 'cut' : 'changed', sha256, abandon });
    before.mayPutBack &&= own === undefined;
    return kept;
  }

  /** Compares the settings or a set of rows with this machine's copy, and puts it back if it is missing. */
  async settle(object: string, most: number, isSound: (bytes: Uint8Array) => boolean): Promise<void> {
    const copy = await readCopy(this.#cache, object, most);
    const kept = copy && isSound(copy) ? copy : undefined;
    const stored = await this.#readOrPutBack(object, most, kept);
    if (stored === undefined) return this.#report({ object, status: 'missing' });
    if (isSound(stored) && (kept === undefined || Buffer.compare(stored, kept) === 0)) return;
    const sha256 = kept ? sha256Of(kept) : null;
    this.#report({ object, status: most === SETTINGS_BYTES && isCut(stored) ? 'cut' : 'changed', sha256 });
  }

  /** Reads an object, or puts it back from a copy if it is missing. Returns the bytes that stand. */
  async #readOrPutBack(object: string, most: number, kept: Bytes): Promise<Bytes> {
    const stored = await this.read(object, most);
    if (stored !== undefined || kept === undefined) return stored;
    if ((await this.#objects.create(object, kept)) === 'exists') return this.read(object, most);
    this.#report({ object, status: 'put_back' });
    return kept;
  }

  #report({
    object,
    status,
    sha256 = null,
    abandon = null,
    job = null,
    freed_by = null,
  }: Pick<RepairedObject, 'object' | 'status'> & Partial<RepairedObject>): void {
    this.found.push({ object: `${this.#objects.name}/${object}`, status, sha256, abandon, job, freed_by });
  }

  /** Reads an object. What svc cannot have written counts as an object with other bytes. */
  async read(object: string, most: number): Promise<Uint8Array | undefined> {
    try {
      return await this.#objects.read(object, most);
    } catch (error) {
      if (isSvcError(error, 'checksum_mismatch')) return Buffer.from('<unreadable>');
      throw error;
    }
  }
}

/** Returns the job that a copy claims, or null if it is no claim. */
function claimedJob(copy: Bytes): string | null {
  const entry = copy && parsed(copy);
  return entry?.kind === 'claim' ? entry.job : null;
}

/** Tells whether an entry follows another one, or any if that one is not known. */
function follows(bytes: Uint8Array, previous: string | null | undefined): boolean {
  const entry = parsed(bytes);
  return entry !== undefined && (previous === undefined || entry.previous === previous);
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
  const damaged = left.filter(({ status }) => status !== 'freed');
  const freed = left.find(({ status }) => status === 'freed');
  const [first] = damaged;
  if (first === undefined) return freed && freedError(freed, left);
  const abandon = left.find((each) => each.abandon !== null)?.abandon;
  const forked = left.find(({ status, job }) => status === 'forked' && job !== null)?.job ?? undefined;
  const hints = [
    left.some(({ status }) => status === 'forked') &&
      'The ledger was restored to an older time and went on without entries that this machine read. Remove none of the entries above, and put none of the older ones in their place: each names rows that may have been paid for. Send no more rows of this cycle, from any machine. The jobs in the column job are not in the ledger: svc au status <job> says whether the service has the file of one, and svc au download <job> gets the tokens that were paid for with it. Then submit the rows that neither these jobs nor those of svc au status <cycle> have, as a file of their own in another cycle.',
    left.some(({ status }) => status === 'missing') &&
      'Run this command on each machine that used the ledger: it puts back what that machine has a copy of. What none of them has comes from a backup or an older version of the bucket.',
    left.some(({ status, sha256 }) => isBad(status) && sha256 !== null) &&
      "An object that exists is never replaced: whoever administers the place of the ledger removes exactly the objects above that are cut or changed and have a hash, which is that of this machine's copy, and this command then puts the copies back.",
    left.some(({ status, sha256 }) => isBad(status) && sha256 === null) &&
      'Of an object that is cut or changed this machine has no copy: run this command on the other machines, or let whoever administers the place of the ledger restore an older version.',
    abandon &&
      'Only if no machine and no backup has a cut last entry or a lost claim, free its rows with the command below, whatever they were: those that were sent are then paid for twice.',
    'Never remove the ledger: the rows that it names would be paid for again.',
  ];
  const more = damaged.length > 1 ? ` and ${damaged.length - 1} more` : '';
  return new SvcError('config', `the ledger is damaged: ${first.object} is ${first.status}${more}; nothing was sent`, {
    hint: hints.filter(Boolean).join(' '),
    next: abandon ? ['au', 'abandon', abandon] : forked === undefined ? undefined : ['au', 'status', forked],
    facts: { damaged: left },
  });
}

/** Returns the error for rows that were freed because no machine seemed to have their entry, although this one has it. */
function freedError({ object, job, freed_by: by }: RepairedObject, all: readonly RepairedObject[]): SvcError {
  return new SvcError(
    'config',
    `the rows of job ${job} were freed by ${by}, although this machine has ${object} whole`,
    {
      hint: 'Those that were sent may be paid for twice. This machine does not send them again, and goes on; other machines send them if a file has them. See what became of the job:',
      next: ['au', 'status', job ?? ''],
      facts: { damaged: all },
    },
  );
}

function isBad(status: RepairedObject['status']): boolean {
  return status === 'cut' || status === 'changed';
}
