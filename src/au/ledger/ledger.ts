import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { Clock } from '../../base/system.ts';
import { type ObjectStore, ReadOnlyPlace } from '../../client/store/store.ts';
import { isoTime, parseTime } from '../../cli/output/time.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { absentLedger, damagedLedger, forkedLedger, unreadableEntry } from './damage.ts';
import {
  type ClaimEntry,
  type Entry,
  type EntryBody,
  type Keys,
  entryBytes,
  entryName,
  isEntry,
  parseEntry,
  type Who,
} from './entry.ts';
import { earlierSalt, Salts } from './earlier-keys.ts';
import { folderOf } from '../folder-of.ts';
import { isDone } from './is-done.ts';
import { hasClaim } from './has-claim.ts';
import { lackingEntries, lackingObjects } from './lacking-objects.ts';
import { markBytes, parseMark } from './mark.ts';
import { MAX_ENTRY_BYTES, readCopy, readObject, writeCopy } from './objects.ts';
import { MAX_SET_BYTES, RowSet, saltOf } from './row-set.ts';

/** Returns the beginning of the names of all entries and row sets of a tenant's ledger. */
export function cyclesPrefix(tenant: string): string {
  return `${folderOf(tenant)}/cycles/`;
}

/** The object that closes a ledger. */
const CLOSED = 'moved.json';

/** The object that says that a ledger is in use. */
const BEGUN = 'begun.json';

const closedSchema = z.looseObject({ ledger: z.string() });

const begunSchema = z.looseObject({ since: z.optional(z.nullable(z.string())) });

export interface LedgerHost {
  readonly clock: Clock;
  readonly who: Who;
  /** A place on this machine that keeps what was read, because entries never change. */
  readonly cache?: ObjectStore | undefined;
  /** Whether this machine has yet to try whether the store honors the condition. */
  readonly isFirstUse?: boolean | undefined;
  /** Whether only this machine uses the ledger, which it may leave for one that it shares. */
  readonly isOwn?: boolean | undefined;
  /** Called with the names of objects that the place lacked and that were put back from this machine's copies. */
  readonly onPutBack?: ((place: string, names: readonly string[]) => void) | undefined;
  /** Called before a command adds its first entry, once the place is whole. */
  readonly onFirstEntry?: (() => Promise<void>) | undefined;
}

/**
 * The memory of what a tenant paid for: numbered entries, each created once under the condition that its number is free.
 * Machines that share it need no lock and no clock.
 */
export class Ledger {
  readonly #objects: ObjectStore;
  readonly #host: LedgerHost;
  readonly #top: string;
  readonly #cycles = new Map<string, LedgerCycle>();
  readonly salts: Salts;
  /** Whether the first use showed that this machine may only read the ledger, so that its store was not tried. */
  readonly isReadOnly: boolean;

  private constructor(objects: ObjectStore, host: LedgerHost, top: string, salts: Salts, isReadOnly: boolean) {
    this.isReadOnly = isReadOnly;
    this.#objects = objects;
    this.#host = host;
    this.#top = top;
    this.salts = salts;
  }

  /**
   * Opens the ledger of a tenant, which need not have begun.
   * @throws SvcError `config` for a place that has nothing of a ledger that this machine used there, and for a store that
   *   ignores the condition
   */
  static async open(objects: ObjectStore, tenant: string, host: LedgerHost): Promise<Ledger> {
    const top = folderOf(tenant);
    const salts = new Salts(saltOf(tenant), await earlierSalt(objects, top, host.cache), `${objects.name}/${top}`);
    await requireSeen(objects, tenant, host.cache);
    const refusal = host.isFirstUse === false ? undefined : await refusalToWrite(objects, top);
    // A store that was not tried must get no entry, even if it takes one.
    const used = refusal ? readOnly(objects, refusal) : objects;
    return new Ledger(used, host, top, salts, refusal !== undefined);
  }

  /** Checks that the first use did not show that this machine may only read the ledger. @throws ReadOnlyPlace */
  requireWritable(): void {
    requireWritable(this.#objects);
  }

  /** The location in messages. */
  get name(): string {
    return this.#objects.name;
  }

  /** What the keys of rows begin with, so that all ledgers of a tenant have the same keys, and those of two tenants differ. */
  get salt(): string {
    return this.salts.tenant;
  }

  /** Returns a cycle by its name. */
  cycle(cycle: string): LedgerCycle {
    const folder = cycleFolder(cycle);
    const known = this.#cycles.get(folder);
    if (known) return known;
    const opened = new LedgerCycle(this.#objects, this.#host, this.#top, folder, this.salts);
    this.#cycles.set(folder, opened);
    return opened;
  }

  /** Returns the names of the cycles that have entries. A list of a bucket may lag. */
  async cycleNames(): Promise<readonly string[]> {
    return cyclesIn(this.#objects, this.#top);
  }

  /** Compares all cycles with what this machine has of them, and puts back what is missing. @throws as `LedgerCycle.heal` */
  async heal(): Promise<void> {
    const names = new Set([...(await this.cycleNames()), ...(await this.#keptNames())]);
    for (const name of names) await this.cycle(name).heal();
  }

  /** Reads the cycles of which this machine has copies, so that `hasSent` knows jobs that a restored place lacks. */
  async readKept(): Promise<void> {
    for (const name of await this.#keptNames()) await this.cycle(name).read();
  }

  async #keptNames(): Promise<readonly string[]> {
    return this.#host.cache === undefined ? [] : cyclesIn(this.#host.cache, this.#top);
  }

  /**
   * Tells whether the jobs from before the ledger were compared with it. Until then, the machine that sent them may have
   * been stopped while it entered them. What a machine has alone is begun with its first entry.
   */
  async isBegun(): Promise<boolean> {
    const begun = await readObject(this.#objects, `${this.#top}/${BEGUN}`, MAX_ENTRY_BYTES);
    return begun !== undefined || (this.#host.isOwn === true && (await this.cycleNames()).length > 0);
  }

  /**
   * Records that every older job is in the ledger or belongs to another system. `since` is when the first job of the ledger
   * was created, in the service's time.
   */
  async begin(since: string | null | undefined): Promise<void> {
    const { clock, who } = this.#host;
    const begun = { version: 1, since, begun_at: isoTime(clock.now()), by: who };
    await this.#objects.create(`${this.#top}/${BEGUN}`, Buffer.from(`${JSON.stringify(begun)}\n`));
  }

  /**
   * Returns since when all jobs are in the ledger, in the service's time, because the clock of the machine that began it may
   * be wrong. Undefined before its first claim.
   */
  async since(): Promise<number | undefined> {
    const bytes = await readObject(this.#objects, `${this.#top}/${BEGUN}`, MAX_ENTRY_BYTES);
    const { data } = begunSchema.safeParse(bytes && parsedJson(Buffer.from(bytes).toString()));
    const begun = parseTime(data?.since ?? '');
    if (begun !== undefined) return begun;
    // The ledger of one machine begins with its first claim, without a note.
    const claims: ClaimEntry[] = [];
    for (const name of await this.cycleNames())
      claims.push(...(await this.cycle(name).read()).filter((entry) => entry.kind === 'claim'));
    const times = claims.map(({ created_at: at }) => parseTime(at) ?? Date.parse(at));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Tells whether results were read of a job that was created since a time of the service. */
  async hasResultsSince(time: number): Promise<boolean> {
    for (const name of await this.cycleNames()) {
      const entries = await this.cycle(name).read();
      const recent = entries.filter((entry) => entry.kind === 'claim' && Date.parse(entry.created_at) >= time);
      if (recent.some(({ job }) => isDone(entries, job))) return true;
    }
    return false;
  }

  /** Records that this machine moved to another ledger. No entry may be added to this one any more. */
  async close(next: string): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify({ version: 1, ledger: next })}\n`);
    await this.#objects.create(`${this.#top}/${CLOSED}`, bytes);
  }

  /**
   * Marks a job as one that the ledger knows, with its cycle. The mark of a new job comes before its claim, and that of a
   * job that may have its file comes after it. A mark is never replaced. Returns whether it is of this cycle.
   */
  async mark(job: string, cycle: string): Promise<boolean> {
    const name = this.#markOf(job);
    if ((await this.#objects.create(name, markBytes(cycle))) === 'created') return true;
    if (!(await this.isMarked(job))) throw notShown(this.#objects, name);
    return (await this.cycleOfJob(job)) === this.cycle(cycle);
  }

  /** Marks a job as one of another system. No claim ever names it. */
  async ignore(job: string): Promise<void> {
    const { clock, who } = this.#host;
    const mark = { version: 1, ignored_at: isoTime(clock.now()), by: who };
    await this.#objects.create(this.#markOf(job), Buffer.from(`${JSON.stringify(mark)}\n`));
  }

  async isMarked(job: string): Promise<boolean> {
    return (await this.#readMark(job)) !== undefined;
  }

  /** Returns the cycle that a claim binds a job in; undefined for a job that the ledger does not know. */
  async cycleOfJob(job: string): Promise<LedgerCycle | undefined> {
    const mark = await this.#readMark(job);
    return mark === undefined ? undefined : (mark.cycle ?? this.#cycleWithClaim(job));
  }

  /**
   * Tells whether the ledger knows a job that has its file. The claim of such a job was made before its file was sent, so
   * that a cycle without it has lost entries.
   * @throws SvcError `config` for a cycle that has lost the claim
   */
  async hasSent(job: string): Promise<boolean> {
    for (const cycle of this.#cycles.values()) if (cycle.hasRead(job)) return true;
    const mark = await this.#readMark(job);
    if (mark?.cycle === undefined) return mark !== undefined;
    if (await this.#isLost(mark.cycle, job)) await mark.cycle.requireClaim(job);
    return true;
  }

  /** Returns the cycle that has lost the claim of a job; undefined for a job that has its claim, or that was given up. */
  async cycleWithoutClaim(job: string): Promise<string | undefined> {
    const cycle = (await this.#readMark(job))?.cycle;
    return cycle && (await this.#isLost(cycle, job)) ? cycle.name : undefined;
  }

  /** Records the operator's word that no machine has the lost claim of a job. From then on the job stops no upload. */
  async giveUpClaim(job: string): Promise<void> {
    const { clock, who } = this.#host;
    const lost = { version: 1, given_up_at: new Date(clock.now()).toISOString(), by: who };
    await this.#objects.create(this.#lostOf(job), Buffer.from(`${JSON.stringify(lost)}\n`));
  }

  async #isLost(cycle: LedgerCycle, job: string): Promise<boolean> {
    if (hasClaim(await cycle.read(), job)) return false;
    return (await readObject(this.#objects, this.#lostOf(job), MAX_ENTRY_BYTES)) === undefined;
  }

  /** Reads the mark of a job. That of an ignored job has no cycle. */
  async #readMark(job: string): Promise<{ readonly cycle?: LedgerCycle } | undefined> {
    const name = this.#markOf(job);
    const bytes = await readObject(this.#objects, name, MAX_ENTRY_BYTES);
    if (bytes === undefined) return undefined;
    const mark = parseMark(bytes, `${this.#objects.name}/${name}`);
    return 'cycle' in mark ? { cycle: this.cycle(mark.cycle) } : {};
  }

  /** Returns the cycle with a claim of an ignored job, whose mark names none: its claim was entered later. */
  async #cycleWithClaim(job: string): Promise<LedgerCycle | undefined> {
    // A list may not show yet the cycles that this process added entries to.
    const cycles = [...this.#cycles.values(), ...(await this.cycleNames()).map((name) => this.cycle(name))];
    for (const cycle of new Set(cycles)) if (hasClaim(await cycle.read(), job)) return cycle;
    return undefined;
  }

  #markOf(job: string): string {
    return markName(this.#top, job);
  }

  #lostOf(job: string): string {
    return `${this.#top}/lost/${folderOf(job)}`;
  }
}

/** The entries of a cycle, in the order of their numbers. */
export class LedgerCycle {
  readonly #objects: ObjectStore;
  readonly #host: LedgerHost;
  /** The folder of the ledger. */
  readonly #ledger: string;
  readonly #top: string;
  readonly #salts: Salts;
  readonly #entries: Entry[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #sets = new Map<string, RowSet>();
  #last: string | null = null;
  /** Whether this command compared the place with what this machine has. */
  #isCompared = false;

  constructor(objects: ObjectStore, host: LedgerHost, ledger: string, folder: string, salts: Salts) {
    this.#objects = objects;
    this.#salts = salts;
    this.#host = host;
    this.#ledger = ledger;
    this.#top = `${ledger}/cycles/${folder}`;
  }

  /** The name of the cycle, as the ledger has it. */
  get name(): string {
    return this.#top.slice(this.#top.lastIndexOf('/') + 1);
  }

  /** Reads to the first number that does not exist. A list never tells the end, because it may lag. */
  async read(): Promise<readonly Entry[]> {
    for (;;) {
      const number = this.#entries.length + 1;
      const bytes = await this.#get(this.#nameOf(number), MAX_ENTRY_BYTES, (kept) => this.#follows(kept));
      if (bytes === undefined) return this.#entries;
      await this.#add(bytes, number);
    }
  }

  /** Reads the first entry; undefined if there is none. */
  async readFirst(): Promise<Entry | undefined> {
    if (this.#entries.length > 0) return this.#entries[0];
    const name = this.#nameOf(1);
    const bytes = await this.#get(name, MAX_ENTRY_BYTES, (kept) => this.#follows(kept));
    return bytes && parseEntry(bytes, `${this.#objects.name}/${name}`);
  }

  /** Returns the salt of the sets that an entry names. @throws SvcError `config` if it is lost */
  saltOf(entry: Keys): string {
    return this.#salts.of(entry);
  }

  /** Tells whether the entries that were read so far have a claim of a job. */
  hasRead(job: string): boolean {
    return hasClaim(this.#entries, job);
  }

  /** Checks that the cycle has a claim of a job that has its file. @throws SvcError `config` */
  async requireClaim(job: string): Promise<void> {
    if (hasClaim(await this.read(), job)) return;
    await this.heal();
    if (hasClaim(await this.read(), job)) return;
    throw damagedLedger(`${this.#objects.name}/${this.#top}`, `the claim of job ${job} is missing`);
  }

  /**
   * Adds an entry under the next free number. Before each attempt, `wanted` sees all entries so far and returns the entry,
   * or undefined if it is no longer wanted. Returns whether the entry stands.
   * @throws SvcError `network`, `server` if the store does not tell
   */
  async append(wanted: (entries: readonly Entry[]) => Promise<EntryBody | undefined>): Promise<boolean> {
    await this.heal();
    for (;;) {
      const number = (await this.read()).length + 1;
      const body = await wanted(this.#entries);
      if (body === undefined) return false;
      requireWritable(this.#objects);
      await this.#host.onFirstEntry?.();
      // Other work of this process may have added an entry that was not looked at.
      if (this.#entries.length >= number) continue;
      const { clock, who } = this.#host;
      const common = { previous: this.#last, at: isoTime(clock.now()), by: who };
      const bytes = entryBytes(body, common);
      const name = this.#nameOf(number);
      const isOwn = (await this.#objects.create(name, bytes)) === 'created' || (await this.#stands(name, bytes));
      if (!isOwn) continue;
      await this.#requireCondition(name, bytes);
      await writeCopy(this.#host.cache, name, bytes);
      await this.#add(bytes, number);
      await this.#requireOpen();
      return true;
    }
  }

  /**
   * Checks that the place still honors the condition, before an entry counts that this machine made: a property of a place
   * may change after its first use, as where the versioning of a bucket is switched on.
   * @throws SvcError `config` if it does not
   */
  async requireCondition(): Promise<void> {
    const name = this.#nameOf((await this.read()).length);
    const bytes = await readObject(this.#objects, name, MAX_ENTRY_BYTES);
    if (bytes !== undefined) await this.#requireCondition(name, bytes);
  }

  async #requireCondition(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#host.isOwn !== true) await requireCondition(this.#objects, name, bytes);
  }

  /**
   * Checks that this machine did not leave the ledger before the entry was made: whoever leaves it closes it first, and
   * then reads all entries.
   */
  async #requireOpen(): Promise<void> {
    if (this.#host.isOwn !== true) return;
    const closed = await readObject(this.#objects, `${this.#ledger}/${CLOSED}`, MAX_ENTRY_BYTES);
    if (closed === undefined) return;
    const { data } = closedSchema.safeParse(parsedJson(Buffer.from(closed).toString()));
    throw new SvcError(
      'config',
      `this machine uses the ledger ${data?.ledger ?? 'of other machines'} now; nothing was sent`,
      {
        hint: 'Set that ledger, and run the same command again.',
        next: ['profile', 'set', 'ledger', data?.ledger ?? '<location>'],
      },
    );
  }

  /** Reads a set of rows. @throws SvcError `config` if it is absent or damaged */
  async rowSet(sha256: string): Promise<RowSet> {
    const known = this.#sets.get(sha256);
    if (known) return known;
    const name = `${this.#top}/rows/${sha256}`;
    const bytes = await this.#get(name, MAX_SET_BYTES, (kept) => sha256Of(kept) === sha256);
    const place = `${this.#objects.name}/${name}`;
    if (bytes === undefined) throw damagedLedger(place, 'it is missing');
    if (sha256Of(bytes) !== sha256) throw damagedLedger(place, 'it has another hash');
    const rows = RowSet.parse(bytes, place);
    this.#sets.set(sha256, rows);
    return rows;
  }

  /** Creates a set of rows before the entry that names it. One left over is harmless. Returns its name. */
  async createRowSet(rows: RowSet): Promise<string> {
    await this.heal();
    requireWritable(this.#objects);
    await this.#host.onFirstEntry?.();
    const bytes = rows.bytes();
    const sha256 = sha256Of(bytes);
    const name = `${this.#top}/rows/${sha256}`;
    if ((await this.#objects.create(name, bytes)) === 'exists') await this.rowSet(sha256);
    else await writeCopy(this.#host.cache, name, bytes);
    this.#sets.set(sha256, rows);
    return sha256;
  }

  /** Tells whether the object that took a number is this very entry, whose first response was lost. */
  async #stands(name: string, bytes: Uint8Array): Promise<boolean> {
    const winner = await readObject(this.#objects, name, MAX_ENTRY_BYTES);
    if (winner === undefined) throw notShown(this.#objects, name);
    return Buffer.compare(winner, bytes) === 0;
  }

  /** Adds what was read under a number, unless other work of this process did meanwhile. */
  async #add(bytes: Uint8Array, number: number): Promise<void> {
    const name = this.#nameOf(number);
    if (!isEntry(bytes)) throw await unreadableEntry(this.#objects, { name, next: this.#nameOf(number + 1) });
    if (this.#entries.length >= number) return;
    const place = `${this.#objects.name}/${name}`;
    const entry = parseEntry(bytes, place);
    if (entry.previous !== this.#last) {
      // The ledger may have gone on from an older time, beyond what this machine read of it.
      await lackingEntries(this.#objects, this.#known);
      throw damagedLedger(place, 'it does not follow the entry before it');
    }
    this.#entries.push(entry);
    this.#bytes.push(bytes);
    this.#last = sha256Of(bytes);
  }

  /**
   * Compares the place with what this machine has of the cycle, and puts back what is missing there. This comes before any
   * entry is added or any row is sent. Nothing that exists is replaced: what differs ends the command. Later additions of the
   * same command look at the newest entry only.
   * @throws SvcError `config` for an object that differs, and for an entry that is missing and that this machine does not have
   */
  async heal(): Promise<void> {
    await this.read();
    if (this.#isCompared && (await this.#hasNewest())) return;
    const lacking = await lackingObjects(this.#objects, this.#known);
    for (const { name, bytes } of lacking) {
      if ((await this.#objects.create(name, bytes)) === 'created' || (await this.#stands(name, bytes))) continue;
      throw forkedLedger(`${this.#objects.name}/${name}`, 'another machine went on without it', []);
    }
    if (lacking.length > 0)
      this.#host.onPutBack?.(
        this.#objects.name,
        lacking.map(({ name }) => name),
      );
    this.#isCompared = true;
  }

  /** The cycle as this machine has it. */
  get #known() {
    return {
      ledger: this.#ledger,
      top: this.#top,
      entries: this.#entries,
      bytes: this.#bytes,
      copies: this.#host.cache,
      marks: `${this.#ledger}/jobs/`,
      markOf: (job: string) => markName(this.#ledger, job),
    };
  }

  /** Tells whether the newest entry that this machine knows is there. The hashes prove the entries before it. */
  async #hasNewest(): Promise<boolean> {
    const [number, last] = [this.#entries.length, this.#last];
    if (number === 0) return true;
    const bytes = await readObject(this.#objects, this.#nameOf(number), MAX_ENTRY_BYTES);
    return bytes !== undefined && sha256Of(bytes) === last;
  }

  /** Tells whether a copy of the next entry is sound. */
  #follows(bytes: Uint8Array): boolean {
    try {
      return parseEntry(bytes, '').previous === this.#last;
    } catch (error) {
      if (isSvcError(error)) return false;
      throw error;
    }
  }

  /** Reads an object from this machine's copies if it has a sound one, or else from the store, and keeps a copy. */
  async #get(name: string, most: number, isSound: (kept: Uint8Array) => boolean): Promise<Uint8Array | undefined> {
    const kept = await readCopy(this.#host.cache, name, most);
    if (kept !== undefined && isSound(kept)) return kept;
    const bytes = await readObject(this.#objects, name, most);
    if (bytes !== undefined && isSound(bytes)) await writeCopy(this.#host.cache, name, bytes);
    return bytes;
  }

  #nameOf(number: number): string {
    return `${this.#top}/${entryName(number)}`;
  }
}

/**
 * Creates what exists once more: a store that answers `created` ignores the condition, and would let two machines pay.
 * @throws SvcError `config` for such a store
 */
async function requireCondition(objects: ObjectStore, name: string, bytes: Uint8Array): Promise<void> {
  if ((await objects.create(name, bytes)) === 'exists') return;
  const why = objects.isVersioned ? ' while its versioning is on' : '';
  throw new SvcError(
    'config',
    `${objects.name} replaces objects that exist${why}, so machines cannot share a ledger there; nothing was sent`,
    {
      hint: objects.isVersioned
        ? 'Suspend the versioning of the bucket, or use a store that honors If-None-Match with versioning.'
        : 'Use a store that honors If-None-Match, or a directory that all machines see.',
    },
  );
}

/**
 * Tries with a new object whether a place creates nothing twice. The object stays there, since svc deletes nothing in
 * a ledger's place, and is tried again the next time.
 * @throws SvcError `config` for a place that creates it twice
 */
export async function tryPlace(objects: ObjectStore, tenant?: string): Promise<void> {
  const prefix = tenant === undefined ? PROBES : `${folderOf(tenant)}/${PROBES}`;
  let name = await firstIn(objects, prefix);
  if (name === undefined) {
    name = `${prefix}${randomBytes(8).toString('hex')}`;
    await objects.create(name, PROBE);
  }
  await requireCondition(objects, name, PROBE);
}

/** The folder of what places are tried with. */
const PROBES = 'probe/';

const PROBE = Buffer.from('svc tried here that an object is created only once.\n');

/** Tries the place of a ledger. Returns the error for a machine that may create nothing there. */
async function refusalToWrite(objects: ObjectStore, tenant: string): Promise<ReadOnlyPlace | undefined> {
  try {
    await tryPlace(objects, tenant);
    return undefined;
  } catch (error) {
    if (error instanceof ReadOnlyPlace) return error;
    throw error;
  }
}

/**
 * Checks that a place has something of the ledger of which this machine has copies: an empty one is what a volume leaves that
 * is not mounted.
 * @throws SvcError `config`
 */
export async function requireSeen(
  objects: ObjectStore,
  tenant: string,
  copies: ObjectStore | undefined,
): Promise<void> {
  const known = copies && (await firstIn(copies, cyclesPrefix(tenant)));
  if (known === undefined || (await isThere(objects, known))) return;
  const top = `${folderOf(tenant)}/`;
  for await (const { path } of objects.list(top)) if (!path.startsWith(`${top}${PROBES}`)) return;
  throw absentLedger(objects.name, copies?.name);
}

/** Tells whether there is something under a name, whatever it is. */
async function isThere(objects: ObjectStore, name: string): Promise<boolean> {
  try {
    return (await objects.read(name, MAX_SET_BYTES)) !== undefined;
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return true;
    throw error;
  }
}

async function firstIn(objects: ObjectStore, prefix: string): Promise<string | undefined> {
  for await (const { path } of objects.list(prefix)) return path;
  return undefined;
}

/** A place that takes nothing from this machine. */
interface ReadOnlyObjects extends ObjectStore {
  readonly refusal: ReadOnlyPlace;
}

function readOnly(objects: ObjectStore, refusal: ReadOnlyPlace): ReadOnlyObjects {
  return {
    refusal,
    name: objects.name,
    create: () => Promise.reject(refusal),
    read: (name, most) => objects.read(name, most),
    list: (prefix) => objects.list(prefix),
  };
}

/** Refuses a place that takes nothing, before a command creates a job or asks the service for what it writes there. */
function requireWritable(objects: ObjectStore | ReadOnlyObjects): void {
  if ('refusal' in objects) throw objects.refusal;
}

/** Returns the names of the cycles that have entries below the folder of a ledger. */
async function cyclesIn(objects: ObjectStore, top: string): Promise<readonly string[]> {
  const prefix = `${top}/cycles/`;
  const names = new Set<string>();
  for await (const { path } of objects.list(prefix)) {
    const [name = '', entry = ''] = path.slice(prefix.length).split('/');
    if (/^\d{8}\.json$/.test(entry)) names.add(name);
  }
  return [...names];
}

function notShown({ name: place }: ObjectStore, name: string): SvcError {
  return new SvcError('server', `${place}: ${name} exists, and is not shown; nothing was sent`, { retryable: true });
}

/** Returns the name of the mark of a job, from the folder of the ledger. */
function markName(top: string, job: string): string {
  return `${top}/jobs/${folderOf(job)}`;
}

/** Returns the folder of a cycle. A name that is no safe name of a folder gets one by its hash. */
function cycleFolder(cycle: string): string {
  const isSafe = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/.test(cycle) && !cycle.includes('..') && !DEVICE.test(cycle);
  return isSafe ? cycle : `old-${sha256Of(cycle).slice(0, 16)}`;
}

// Windows opens a device under these names, whatever follows a dot.
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;
