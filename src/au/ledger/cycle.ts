import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { Clock } from '../../base/system.ts';
import type { StoredFile } from '../../client/store/store.ts';
import { isoTime } from '../../cli/output/time.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import { folderOf } from '../../base/files/names.ts';
import { hasClaim, isWanted, standingClaims } from './claims.ts';
import { damagedLedger, forkedLedger, unreadableEntry } from './damage.ts';
import { lackingSalt } from './earlier-keys.ts';
import {
  bodyOf,
  type ClaimEntry,
  type DoneEntry,
  type EndBody,
  type Entry,
  type EntryBody,
  entryBytes,
  entryName,
  isEntry,
  type Keys,
  markBytes,
  parseEntry,
  parseMark,
  type Who,
} from './entry.ts';
import { type Copies, type LedgerFolder, MAX_ENTRY_BYTES } from './objects.ts';
import { KEY_BYTES, MAX_SET_BYTES, RowSet } from './row-set.ts';

/** The object that closes a ledger. */
export const CLOSED = 'moved.json';

/** How many objects are opened at a time. */
const AT_ONCE = 8;

export interface LedgerHost {
  readonly clock: Clock;
  readonly who: Who;
  /** A place on this machine that keeps what was read, because entries never change. */
  readonly cache?: Copies | undefined;
  /** Whether this machine has yet to try whether the store honors the condition. */
  readonly isFirstUse?: boolean | undefined;
  /** Whether only this machine uses the ledger, which it may leave for one that it shares. */
  readonly isOwn?: boolean | undefined;
  /** Called with the names of objects that the place lacked and that were put back from this machine's copies. */
  readonly onPutBack?: ((place: string, names: readonly string[]) => void) | undefined;
  /** Called before a command adds its first entry, once the place is whole. */
  readonly onFirstEntry?: (() => Promise<void>) | undefined;
}

/** What the cycles of a ledger share. */
export interface LedgerPlace {
  readonly folder: LedgerFolder;
  readonly host: LedgerHost;
  /** Returns what the keys of an entry's sets begin with. */
  readonly saltOf: (entry: Keys) => string;
}

/** An object that the place lacks and this machine has. */
interface Lacking {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The entries of a cycle, in the order of their numbers. */
export class LedgerCycle {
  /** The name of the cycle, as the ledger has it. */
  readonly name: string;
  readonly #place: LedgerPlace;
  readonly #folder: LedgerFolder;
  readonly #host: LedgerHost;
  readonly #top: string;
  readonly #entries: Entry[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #sets = new Map<string, RowSet>();
  #last: string | null = null;
  /** The first number under which this machine's copies have another history. */
  #otherFrom = Infinity;
  /** The last such number. */
  #otherUntil = 0;
  /** The entries of that history which the place may lack, each with how many of its kind about its job it makes there. */
  readonly #untold: { readonly entry: Entry; readonly nth: number }[] = [];
  /** Whether this command compared the place with what this machine has. */
  #isCompared = false;

  constructor(place: LedgerPlace, folder: string) {
    this.name = folder;
    this.#place = place;
    this.#folder = place.folder;
    this.#host = place.host;
    this.#top = `cycles/${folder}`;
  }

  /** Reads to the first number that does not exist. A list never tells the end, because it may lag. */
  async read(): Promise<readonly Entry[]> {
    for (;;) {
      const number = this.#entries.length + 1;
      const name = this.#nameOf(number);
      const bytes =
        number < this.#otherFrom
          ? await this.#folder.get(name, MAX_ENTRY_BYTES, (kept) => this.#follows(kept))
          : await this.#folder.read(name);
      if (bytes === undefined) return this.#entries;
      await this.#add(bytes, number);
    }
  }

  /** Reads the first entry; undefined if there is none. */
  async readFirst(): Promise<Entry | undefined> {
    if (this.#entries.length > 0) return this.#entries[0];
    const name = this.#nameOf(1);
    const bytes = await this.#folder.get(name, MAX_ENTRY_BYTES, (kept) => this.#follows(kept));
    return bytes && parseEntry(bytes, this.#folder.shown(name));
  }

  /** Tells whether the entries that were read so far have a claim of a job. */
  hasRead(job: string): boolean {
    return hasClaim(this.#known(), job);
  }

  /** Returns the entries of the place, and those that are still to be added to it. */
  #known(): readonly Entry[] {
    return this.#untold.length === 0 ? this.#entries : [...this.#entries, ...this.#untold.map(({ entry }) => entry)];
  }

  /** Returns the error for a job that has its file, and whose claim the cycle lacks. */
  lacksClaim(job: string): SvcError {
    return damagedLedger(this.#folder.shown(this.#top), `the claim of job ${job} is missing`);
  }

  /**
   * Adds an entry under the next free number. Before each attempt, `wanted` sees all entries so far and returns the entry,
   * or undefined if it is no longer wanted. Returns whether the entry stands.
   * @throws SvcError `network`, `server` if the store does not tell
   */
  async append(wanted: (entries: readonly Entry[]) => Promise<EntryBody | undefined>): Promise<boolean> {
    await this.heal();
    return this.#appendNext(wanted, async () => this.#host.onFirstEntry?.());
  }

  async #appendNext(
    wanted: (entries: readonly Entry[]) => Promise<EntryBody | undefined>,
    before: () => Promise<void> = async () => undefined,
  ): Promise<boolean> {
    for (;;) {
      const number = (await this.read()).length + 1;
      const body = await wanted(this.#entries);
      if (body === undefined) return false;
      this.#folder.requireWritable();
      await before();
      // Other work of this process may have added an entry that was not looked at.
      if (this.#entries.length >= number) continue;
      const { clock, who } = this.#host;
      const bytes = entryBytes(body, { previous: this.#last, at: isoTime(clock.now()), by: who });
      const name = this.#nameOf(number);
      if (!(await this.#folder.put(name, bytes))) continue;
      await this.#requireCondition(name, bytes);
      await this.#folder.keep(name, bytes);
      await this.#add(bytes, number);
      await this.#requireOpen();
      return true;
    }
  }

  /**
   * Ends the claim of a job, unless it has ended. A release names the job and not the rows, so that a late one does not free
   * a newer claim.
   */
  async endClaim(end: EndBody): Promise<void> {
    await this.append(async (entries) => (isWanted(entries, end) ? end : undefined));
  }

  /**
   * Checks that the place still honors the condition, before an entry counts that this machine made: a property of a place
   * may change after its first use, as where the versioning of a bucket is switched on.
   * @throws SvcError `config` if it does not
   */
  async requireCondition(): Promise<void> {
    const name = this.#nameOf((await this.read()).length);
    const bytes = await this.#folder.read(name);
    if (bytes !== undefined) await this.#requireCondition(name, bytes);
  }

  async #requireCondition(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#host.isOwn !== true) await this.#folder.requireCondition(name, bytes);
  }

  /**
   * Checks that this machine did not leave the ledger before the entry was made: whoever leaves it closes it first, and
   * then reads all entries.
   */
  async #requireOpen(): Promise<void> {
    if (this.#host.isOwn !== true) return;
    const closed = await this.#folder.read(CLOSED);
    if (closed === undefined) return;
    const value = parsedJson(Buffer.from(closed).toString());
    const known = isObject(value) && typeof value['ledger'] === 'string' ? value['ledger'] : undefined;
    throw new SvcError('config', `this machine uses the ledger ${known ?? 'of other machines'} now; nothing was sent`, {
      hint: 'Set that ledger, and run the same command again.',
      next: ['profile', 'set', 'ledger', known ?? '<location>'],
    });
  }

  /** Reads the rows of a claim; undefined for one whose rows nobody knows, which may have any row. @throws as `rowSet` */
  async rowSetOf(claim: Pick<ClaimEntry, 'row_set' | keyof Keys>): Promise<RowSet | undefined> {
    return claim.row_set === null ? undefined : this.rowSet(claim.row_set, claim);
  }

  /** Reads the sets of the tokens that results of this cycle made. @throws as `rowSet` */
  async newTokens(entries: readonly Entry[]): Promise<readonly RowSet[]> {
    return this.#setsOf('born', entries);
  }

  /** Reads the sets of the accounts that results of this cycle said to be closed. @throws as `rowSet` */
  async closedAccounts(): Promise<readonly RowSet[]> {
    return this.#setsOf('closed', await this.read());
  }

  #setsOf(member: 'born' | 'closed', entries: readonly Entry[]): Promise<RowSet[]> {
    const sets = new Map<string, Keys>();
    for (const entry of entries) {
      if (entry.kind !== 'done') continue;
      const set = entry[member];
      if (set) sets.set(set, entry);
    }
    return Promise.all([...sets].map(([set, done]) => this.rowSet(set, done)));
  }

  /** Reads a set that an entry names. @throws SvcError `config` if it is absent or damaged */
  async rowSet(sha256: string, entry: Keys): Promise<RowSet> {
    const known = this.#sets.get(sha256);
    if (known) return known;
    const salt = this.#place.saltOf(entry);
    const name = this.#nameOfSet(sha256);
    const bytes = await this.#folder.get(name, MAX_SET_BYTES, (kept) => sha256Of(kept) === sha256);
    if (bytes === undefined) throw damagedLedger(this.#folder.shown(name), 'it is missing');
    if (sha256Of(bytes) !== sha256) throw damagedLedger(this.#folder.shown(name), 'it has another hash');
    const rows = RowSet.parse(bytes, this.#folder.shown(name), salt);
    this.#sets.set(sha256, rows);
    return rows;
  }

  /** Creates a set of rows before the entry that names it. One left over is harmless. Returns its name. */
  async createRowSet(rows: RowSet): Promise<string> {
    await this.heal();
    this.#folder.requireWritable();
    await this.#host.onFirstEntry?.();
    const bytes = rows.bytes();
    const sha256 = sha256Of(bytes);
    const name = this.#nameOfSet(sha256);
    if (!(await this.#folder.put(name, bytes))) throw damagedLedger(this.#folder.shown(name), 'it has another hash');
    await this.#folder.keep(name, bytes);
    this.#sets.set(sha256, rows);
    return sha256;
  }

  /** Adds what was read under a number, unless other work of this process did meanwhile. */
  async #add(bytes: Uint8Array, number: number): Promise<void> {
    const name = this.#nameOf(number);
    if (!isEntry(bytes)) throw await unreadableEntry(this.#folder, { name, next: this.#nameOf(number + 1) });
    if (this.#entries.length !== number - 1) return;
    const entry = parseEntry(bytes, this.#folder.shown(name));
    if (entry.previous !== this.#last) {
      // The ledger may have gone on from an older time, beyond what this machine read of it.
      await this.#lackingEntries();
      if (this.#otherFrom <= number) return;
      throw damagedLedger(this.#folder.shown(name), 'it does not follow the entry before it');
    }
    this.#entries.push(entry);
    this.#bytes.push(bytes);
    this.#last = sha256Of(bytes);
  }

  /** Tells whether a list shows all that this machine has of the cycle, in the sizes that it has. */
  isListed(listed: ReadonlyMap<string, StoredFile>): boolean {
    const isThere = (name: string, size: number | undefined): boolean =>
      size === undefined ? listed.has(name) : listed.get(name)?.bytes === size;
    const mark = markBytes(this.name).byteLength;
    return (
      this.#untold.length === 0 &&
      this.#bytes.every((bytes, index) => isThere(this.#nameOf(index + 1), bytes.byteLength)) &&
      [...this.#namedSets()].every(([set, size]) => isThere(this.#nameOfSet(set), size)) &&
      standingClaims(this.#entries).every(({ job }) => isThere(markName(job), mark))
    );
  }

  /**
   * Compares the place with what this machine has of the cycle, and puts back what is missing there. This comes before any
   * entry is added or any row is sent. Nothing that exists is replaced: where the place went on from an older time, the
   * entries that only this machine has are added after its own, and any other difference ends the command. Later additions of
   * the same command look at the newest entry only.
   * @throws SvcError `config` for an object that differs, and for an entry that is missing and that this machine does not have
   */
  async heal(): Promise<void> {
    await this.read();
    // An outage may have cut what follows the comparison.
    if (this.#isCompared && (await this.#hasNewest())) return this.#endOtherHistory();
    const lacking = await this.#lacking();
    for (const { name, bytes } of lacking)
      if (!(await this.#folder.put(name, bytes)))
        throw forkedLedger(this.#folder.shown(name), 'another machine went on without it', []);
    if (lacking.length > 0)
      this.#host.onPutBack?.(
        this.#folder.place,
        lacking.map(({ name }) => this.#folder.nameOf(name)),
      );
    this.#isCompared = true;
    await this.#endOtherHistory();
  }

  /**
   * Returns the objects that the place lacks, in the order in which they are put back: sets and marks before the entries that
   * need them. A list proves nothing, so that each object that it lacks is opened.
   */
  async #lacking(): Promise<readonly Lacking[]> {
    const listed = await this.#folder.list(`${this.#top}/`);
    const entries = await this.#lackingEntries();
    await this.#requireNoGap(listed);
    const salt = await lackingSalt(this.#folder);
    return [...salt, ...(await this.#lackingSets(listed)), ...(await this.#lackingMarks()), ...entries];
  }

  async #lackingEntries(): Promise<Lacking[]> {
    const lacking: Lacking[] = [];
    const own = this.#bytes.map((bytes, index) => ({ name: this.#nameOf(index + 1), bytes, number: index + 1 }));
    const compared = sideBySide(own, AT_ONCE, async (each) => ({
      ...each,
      stored: await this.#folder.read(each.name),
    }));
    for await (const { name, bytes, number, stored } of compared) {
      if (stored === undefined) lacking.push({ name, bytes });
      else if (Buffer.compare(stored, bytes) === 0) continue;
      else if (!isEntry(stored)) throw await unreadableEntry(this.#folder, { name, next: this.#nameOf(number + 1) });
      else {
        const own = this.#entries.slice(number - 1);
        const [here, there] = [claimedIn(own), claimedIn(await this.#storedFrom(number))];
        const isSafe = here.every((job) => there.includes(job)) || there.every((job) => here.includes(job));
        if (lacking.length > 0 || !isSafe)
          throw forkedLedger(this.#folder.shown(name), 'it is not the one that this machine read', here);
        await this.#goOver(number, own);
        return [];
      }
    }
    return lacking;
  }

  /** Returns the entries that the place has from a number on. */
  async #storedFrom(from: number): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (;;) {
      const name = this.#nameOf(from + entries.length);
      const bytes = await this.#folder.read(name);
      if (bytes === undefined) return entries;
      entries.push(parseEntry(bytes, this.#folder.shown(name)));
    }
  }

  /**
   * Goes over to the history of the place, which went on from an older time without entries that this machine read. That is
   * safe unless both have claims that the other lacks: these may be of the same rows.
   */
  async #goOver(from: number, own: readonly Entry[]): Promise<void> {
    this.#otherFrom = Math.min(this.#otherFrom, from);
    this.#otherUntil = Math.max(this.#otherUntil, from + own.length - 1);
    this.#untold.push(...own.map((entry, at) => ({ entry, nth: countLike(entry, this.#entries.slice(0, from + at)) })));
    this.#entries.length = from - 1;
    this.#bytes.length = from - 1;
    const last = this.#bytes.at(-1);
    this.#last = last === undefined ? null : sha256Of(last);
    await this.read();
  }

  /** Adds what the other history says and the place does not, then replaces this machine's copies of it. */
  async #endOtherHistory(): Promise<void> {
    if (this.#otherFrom === Infinity) return;
    const added: string[] = [];
    for (const { entry, nth } of this.#untold) {
      // Results that made tokens which nobody knows any more have to be read again.
      if (entry.kind === 'done' && !(await this.#hasSets(entry))) continue;
      const body = bodyOf(entry);
      // A claim that the place released must not stand again, and a release must not end a claim that was made after it.
      const isLacking = (entries: readonly Entry[]): boolean =>
        entry.kind === 'done' || countLike(entry, entries) < nth;
      const wanted = async (entries: readonly Entry[]) =>
        isLacking(entries) && isWanted(entries, body) ? body : undefined;
      if (await this.#appendNext(wanted)) added.push(this.#folder.nameOf(this.#nameOf(this.#entries.length)));
    }
    this.#untold.length = 0;
    // Copies without one before them would be of no use.
    for (let number = this.#otherFrom; number <= Math.max(this.#otherUntil, this.#bytes.length); number += 1)
      await this.#folder.replaceCopy(this.#nameOf(number), this.#bytes[number - 1]);
    this.#otherFrom = Infinity;
    if (added.length > 0) this.#host.onPutBack?.(this.#folder.place, added);
  }

  async #hasSets(done: DoneEntry): Promise<boolean> {
    for (const set of setsOf(done))
      if ((await this.#folder.read(this.#nameOfSet(set), MAX_SET_BYTES)) === undefined) return false;
    return true;
  }

  /** Checks that no entry is missing before one that the list shows and that this machine does not have. */
  async #requireNoGap(listed: ReadonlyMap<string, StoredFile>): Promise<void> {
    const numbers = [...listed.keys()].map((name) =>
      Number(/^(\d{8})\.json$/.exec(name.slice(this.#top.length + 1))?.[1] ?? 0),
    );
    for (let number = this.#bytes.length + 1; number <= Math.max(0, ...numbers); number += 1) {
      const name = this.#nameOf(number);
      if ((await this.#folder.read(name)) === undefined) throw damagedLedger(this.#folder.shown(name), 'it is missing');
    }
  }

  async #lackingSets(listed: ReadonlyMap<string, StoredFile>): Promise<Lacking[]> {
    const lacking: Lacking[] = [];
    for (const [sha256, size] of this.#namedSets()) {
      const name = this.#nameOfSet(sha256);
      // A machine that reads its copies would not notice other bytes of the same size, at which all other machines stop.
      if (!this.#folder.hasCopies && size !== undefined && listed.get(name)?.bytes === size) continue;
      const stored = await this.#folder.read(name, MAX_SET_BYTES);
      if (stored !== undefined && sha256Of(stored) === sha256) continue;
      if (stored !== undefined) throw damagedLedger(this.#folder.shown(name), 'it has another hash');
      const bytes = await this.#folder.readCopy(name, MAX_SET_BYTES);
      // A command that needs a set that nobody has ends when it reads it.
      if (bytes !== undefined && sha256Of(bytes) === sha256) lacking.push({ name, bytes });
    }
    return lacking;
  }

  /** Returns the sets that the entries name, with their sizes where the entries say them. */
  #namedSets(): ReadonlyMap<string, number | undefined> {
    const sets = new Map<string, number | undefined>();
    const known = this.#known();
    for (const { row_set: set, rows } of standingClaims(known)) if (set !== null) sets.set(set, rows * KEY_BYTES);
    for (const entry of known) for (const set of setsOf(entry)) sets.set(set, undefined);
    return sets;
  }

  /** Finds marks that standing claims lack. A claim names its cycle, so that every machine can write its mark. */
  async #lackingMarks(): Promise<Lacking[]> {
    const listed = await this.#folder.list('jobs/');
    const bytes = markBytes(this.name);
    const lacking: Lacking[] = [];
    for (const { job } of standingClaims(this.#known())) {
      const name = markName(job);
      if (listed.get(name)?.bytes === bytes.byteLength) continue;
      const stored = await this.#folder.read(name);
      if (stored === undefined) lacking.push({ name, bytes });
      else parseMark(stored, this.#folder.shown(name));
    }
    return lacking;
  }

  /** Tells whether the newest entry that this machine knows is there. The hashes prove the entries before it. */
  async #hasNewest(): Promise<boolean> {
    const [number, last] = [this.#entries.length, this.#last];
    if (number === 0) return true;
    const bytes = await this.#folder.read(this.#nameOf(number));
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

  #nameOf(number: number): string {
    return `${this.#top}/${entryName(number)}`;
  }

  #nameOfSet(sha256: string): string {
    return `${this.#top}/rows/${sha256}`;
  }
}

/** Counts the entries of the same kind about the same job. */
function countLike({ kind, job }: Entry, entries: readonly Entry[]): number {
  return entries.filter((entry) => entry.kind === kind && entry.job === job).length;
}

/** Returns the jobs that have claims in some entries. */
function claimedIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'claim' ? entry.job : []));
}

/** Returns the sets that an entry names, but that of a claim. */
function setsOf(entry: Entry): readonly string[] {
  return entry.kind === 'done' ? [entry.born, entry.closed].filter((set) => typeof set === 'string') : [];
}

/** Returns the name of the mark of a job. */
export function markName(job: string): string {
  return `jobs/${folderOf(job)}`;
}
