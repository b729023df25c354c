// Reads and adds the entries of one cycle, and repairs a restored ledger from this machine's copies.

import { type SvcError, isSvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { Clock } from '../../base/system.ts';
import type { StoredFile } from '../../client/store/store.ts';
import { isoTime } from '../../cli/output/time.ts';
import { hasClaim, addsToEntries } from './claims.ts';
import { requireOpen } from './closed-ledger.ts';
import {
  type MissingObject,
  areListed,
  claimedJobs,
  cyclePath,
  entryPath,
  hasTokenSets,
  isListed,
  missingMarks,
  missingSets,
  setPath,
} from './cycle-objects.ts';
import { damagedLedger, forkedLedger, unreadableEntry } from './damage.ts';
import { missingSalt } from './earlier-keys.ts';
import {
  bodyOf,
  type ClaimEntry,
  type EndBody,
  type Entry,
  type EntryBody,
  entryBytes,
  isEntry,
  type Keys,
  parseEntry,
  type Who,
} from './entry.ts';
import { type Copies, type LedgerFolder, MAX_ENTRY_BYTES, entryNumber } from './objects.ts';
import { MAX_SET_BYTES, RowSet } from './row-set.ts';

/** How many objects are opened at a time. */
const AT_ONCE = 8;

/** The machine that uses a ledger. */
export interface LedgerHost {
  readonly clock: Clock;
  readonly who: Who;
  /** This machine's copies of objects that it read. Entries never change. */
  readonly cache?: Copies | undefined;
  /** Whether this machine must still check that the store honors `If-None-Match`. */
  readonly isFirstUse?: boolean | undefined;
  /** Whether the ledger is this machine's own. */
  readonly isOwn?: boolean | undefined;
  /** Called with the names of missing objects that were put back from this machine's copies. */
  readonly onPutBack?: ((place: string, names: readonly string[]) => void) | undefined;
  /** Called before a command adds its first entry, after missing objects were put back. */
  readonly onFirstEntry?: (() => Promise<void>) | undefined;
}

/** The folder, host and salts that all cycles of a ledger share. */
export interface LedgerPlace {
  readonly folder: LedgerFolder;
  readonly host: LedgerHost;
  /** Returns the salt of the keys in an entry's sets. */
  readonly saltOf: (entry: Keys) => string;
}

/**
 * The entries of a cycle, in the order of their numbers. Each entry has the hash of the one before it, and this machine's
 * copies can therefore differ from the ledger only from some number on: then the ledger was restored to an older time and
 * continued.
 */
export class LedgerCycle {
  /** The name of the cycle, as the ledger has it. */
  readonly name: string;
  readonly #place: LedgerPlace;
  readonly #folder: LedgerFolder;
  readonly #host: LedgerHost;
  readonly #entries: Entry[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #sets = new Map<string, RowSet>();
  #lastHash: string | null = null;
  /** The first number at which this machine's copies differ from the ledger. */
  #copiesDifferFrom = Infinity;
  /** The last number at which they differ. */
  #copiesDifferUntil = 0;
  /** Entries of this machine's copies that the ledger may lack. `nth` counts entries of the same kind for the same job. */
  readonly #entriesOnlyHere: { readonly entry: Entry; readonly nth: number }[] = [];
  /** Whether this command compared the ledger with what this machine has. */
  #isCompared = false;

  constructor(place: LedgerPlace, folder: string) {
    this.name = folder;
    this.#place = place;
    this.#folder = place.folder;
    this.#host = place.host;
  }

  /** Reads entries up to the first number without one. A list could lag, so it does not decide where the entries end. */
  async read(): Promise<readonly Entry[]> {
    for (;;) {
      const number = this.#entries.length + 1;
      const name = this.#nameOf(number);
      const bytes =
        number < this.#copiesDifferFrom
          ? await this.#folder.get(name, MAX_ENTRY_BYTES, (kept) => this.#follows(kept))
          : await this.#folder.read(name);
      if (bytes === undefined) return this.#entries;
      await this.#add(bytes, number);
    }
  }

  /**
   * Reads the entries, and checks that none before the last one in a list of the ledger is missing: `read` would end there.
   * @throws SvcError `config`
   */
  async readWhole(lastListed?: number): Promise<readonly Entry[]> {
    const last = lastListed ?? this.#lastOf(await this.#folder.list(`${cyclePath(this.name)}/`));
    await this.read();
    await this.#requireNoGap(last);
    return this.read();
  }

  /** Reads the first entry; undefined if there is none. */
  async readFirst(): Promise<Entry | undefined> {
    if (this.#entries.length > 0) return this.#entries[0];
    const name = this.#nameOf(1);
    const bytes = await this.#folder.get(name, MAX_ENTRY_BYTES, (kept) => this.#follows(kept));
    return bytes && parseEntry(bytes, this.#folder.shownName(name));
  }

  /** Tells whether the entries read so far have a claim of a job. */
  hasRead(job: string): boolean {
    return hasClaim(this.#allEntries(), job);
  }

  /** Returns the entries of the ledger and the entries that only this machine has. */
  #allEntries(): readonly Entry[] {
    return this.#entriesOnlyHere.length === 0
      ? this.#entries
      : [...this.#entries, ...this.#entriesOnlyHere.map(({ entry }) => entry)];
  }

  /** Returns the error for a job that has its file, but no claim in this cycle. */
  missingClaimError(job: string): SvcError {
    const error = damagedLedger(this.#folder.shownName(cyclePath(this.name)), `the claim of job ${job} is missing`);
    return error.with({
      hint: `${error.hint ?? ''} Only if no machine has the claim, svc au abandon ${job} gives it up.`,
      alternatives: [['au', 'abandon', job]],
    });
  }

  /**
   * Adds an entry under the next free number. Before each attempt, `makeEntry` gets all entries so far and returns the new one,
   * or undefined if it is no longer needed. Returns whether an entry was added.
   * @throws SvcError `network`, `server` if the store does not respond
   */
  async append(makeEntry: (entries: readonly Entry[]) => Promise<EntryBody | undefined>): Promise<boolean> {
    await this.heal();
    return this.#appendNext(makeEntry, async () => this.#host.onFirstEntry?.());
  }

  async #appendNext(
    makeEntry: (entries: readonly Entry[]) => Promise<EntryBody | undefined>,
    beforeEntry: () => Promise<void> = async () => undefined,
  ): Promise<boolean> {
    for (;;) {
      const number = (await this.read()).length + 1;
      const body = await makeEntry(this.#entries);
      if (body === undefined) return false;
      this.#folder.requireWritable();
      await beforeEntry();
      // Other work of this process may have added an entry that `makeEntry` did not see.
      if (this.#entries.length >= number) continue;
      const { clock, who } = this.#host;
      const bytes = entryBytes(body, { previous: this.#lastHash, at: isoTime(clock.now()), by: who });
      const name = this.#nameOf(number);
      if (!(await this.#folder.put(name, bytes))) continue;
      await this.#requireCondition(name, bytes);
      await this.#folder.keep(name, bytes);
      await this.#add(bytes, number);
      if (this.#host.isOwn === true) await requireOpen(this.#folder);
      return true;
    }
  }

  /** Ends the claim of a job, unless it has ended. A release names the job, so a late one cannot free the rows of a newer job. */
  async endClaim(end: EndBody): Promise<void> {
    await this.append(async (entries) => (addsToEntries(entries, end) ? end : undefined));
  }

  /** Lets an ended claim stand again. */
  async claimAgain(claim: ClaimEntry): Promise<void> {
    const body = bodyOf(claim);
    await this.append(async (entries) => (addsToEntries(entries, body) ? body : undefined));
  }

  /**
   * Checks before an entry of this machine counts that the store still honors `If-None-Match`. A store may stop doing so, as a
   * bucket whose versioning is switched on.
   * @throws SvcError `config`
   */
  async requireCondition(): Promise<void> {
    const name = this.#nameOf((await this.read()).length);
    const bytes = await this.#folder.read(name);
    if (bytes !== undefined) await this.#requireCondition(name, bytes);
  }

  async #requireCondition(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#host.isOwn !== true) await this.#folder.requireCondition(name, bytes);
  }

  /** Reads the rows of a claim; undefined if nobody knows them, so that the claim may have any row. @throws as `rowSet` */
  async rowSetOf(claim: Pick<ClaimEntry, 'row_set' | keyof Keys>): Promise<RowSet | undefined> {
    return claim.row_set === null ? undefined : this.rowSet(claim.row_set, claim);
  }

  /** Reads the sets of new tokens in results of this cycle. @throws as `rowSet` */
  async newTokens(entries: readonly Entry[]): Promise<readonly RowSet[]> {
    return this.#setsOf('born', entries);
  }

  /** Reads the sets of closed accounts in results of this cycle. @throws as `rowSet` */
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
    const cached = this.#sets.get(sha256);
    if (cached) return cached;
    const salt = this.#place.saltOf(entry);
    const name = this.#nameOfSet(sha256);
    const bytes = await this.#folder.get(name, MAX_SET_BYTES, (kept) => sha256Of(kept) === sha256);
    if (bytes === undefined) throw damagedLedger(this.#folder.shownName(name), 'it is missing');
    if (sha256Of(bytes) !== sha256) throw damagedLedger(this.#folder.shownName(name), 'it has another hash');
    const rows = RowSet.parse(bytes, this.#folder.shownName(name), salt);
    this.#sets.set(sha256, rows);
    return rows;
  }

  /** Stores a set of rows for the entry that will name it, and returns its name. A set without an entry is harmless. */
  async createRowSet(rows: RowSet): Promise<string> {
    await this.heal();
    this.#folder.requireWritable();
    await this.#host.onFirstEntry?.();
    const bytes = rows.bytes();
    const sha256 = sha256Of(bytes);
    const name = this.#nameOfSet(sha256);
    if (!(await this.#folder.put(name, bytes)))
      throw damagedLedger(this.#folder.shownName(name), 'it has another hash');
    await this.#folder.keep(name, bytes);
    this.#sets.set(sha256, rows);
    return sha256;
  }

  /** Adds the entry that was read under a number, unless other work of this process added it meanwhile. */
  async #add(bytes: Uint8Array, number: number): Promise<void> {
    const name = this.#nameOf(number);
    if (!isEntry(bytes)) throw await unreadableEntry(this.#folder, { name, next: this.#nameOf(number + 1) });
    if (this.#entries.length !== number - 1) return;
    const entry = parseEntry(bytes, this.#folder.shownName(name));
    if (entry.previous !== this.#lastHash) {
      // The ledger may have been restored and continued beyond the entries that this machine read.
      await this.#missingEntries();
      if (this.#copiesDifferFrom <= number) return;
      throw damagedLedger(this.#folder.shownName(name), 'it does not follow the entry before it');
    }
    this.#entries.push(entry);
    this.#bytes.push(bytes);
    this.#lastHash = sha256Of(bytes);
  }

  /** Tells whether a list of the ledger shows every object that this machine has of the cycle, with the same size. */
  isListed(listed: ReadonlyMap<string, StoredFile>): boolean {
    return (
      this.#entriesOnlyHere.length === 0 &&
      this.#bytes.every((bytes, index) => isListed(listed, this.#nameOf(index + 1), bytes.byteLength)) &&
      areListed(this.name, this.#entries, listed)
    );
  }

  /**
   * Compares the ledger with what this machine has of the cycle, and puts back missing objects, before any entry is added or any
   * row is sent. No existing object is replaced: if the ledger was restored and continued, the entries that only this machine
   * has are added after the others. Any other difference ends the command. Later calls check the newest entry only.
   * @throws SvcError `config` for an object that differs, and for a missing entry that this machine does not have either
   */
  async heal(): Promise<void> {
    await this.read();
    // An outage may have interrupted the merge after an earlier comparison.
    if (this.#isCompared && (await this.#hasNewest())) return this.#mergeOwnHistory();
    const lacking = await this.#missingObjects();
    for (const { name, bytes } of lacking)
      if (!(await this.#folder.put(name, bytes)))
        throw forkedLedger(this.#folder.shownName(name), 'another machine went on without it', []);
    if (lacking.length > 0)
      this.#host.onPutBack?.(
        this.#folder.place,
        lacking.map(({ name }) => this.#folder.fullName(name)),
      );
    this.#isCompared = true;
    await this.#mergeOwnHistory();
  }

  /**
   * Returns the missing objects in the order in which they are put back: sets and marks before the entries that need them.
   * A list may lag, so each object that it does not show is opened.
   */
  async #missingObjects(): Promise<readonly MissingObject[]> {
    const listed = await this.#folder.list(`${cyclePath(this.name)}/`);
    const entries = await this.#missingEntries();
    await this.#requireNoGap(this.#lastOf(listed));
    const salt = await missingSalt(this.#folder);
    const sets = await missingSets(this.#folder, this.name, this.#allEntries(), listed);
    const listedMarks = await this.#folder.list('jobs/');
    const marks = await missingMarks(this.#folder, this.name, this.#allEntries(), listedMarks);
    return [...salt, ...sets, ...marks, ...entries];
  }

  async #missingEntries(): Promise<MissingObject[]> {
    const lacking: MissingObject[] = [];
    const ownEntries = this.#bytes.map((bytes, index) => ({ name: this.#nameOf(index + 1), bytes, number: index + 1 }));
    const compared = sideBySide(ownEntries, AT_ONCE, async (each) => ({
      ...each,
      stored: await this.#folder.read(each.name),
    }));
    for await (const { name, bytes, number, stored } of compared) {
      if (stored === undefined) lacking.push({ name, bytes });
      else if (Buffer.compare(stored, bytes) === 0) continue;
      else if (!isEntry(stored)) throw await unreadableEntry(this.#folder, { name, next: this.#nameOf(number + 1) });
      else {
        const ownEntriesFrom = this.#entries.slice(number - 1);
        const [here, there] = [claimedJobs(ownEntriesFrom), claimedJobs(await this.#storedFrom(number))];
        const isSafe = here.every((job) => there.includes(job)) || there.every((job) => here.includes(job));
        if (lacking.length > 0 || !isSafe)
          throw forkedLedger(this.#folder.shownName(name), 'it is not the one that this machine read', here);
        await this.#adoptHistory(number, ownEntriesFrom);
        return [];
      }
    }
    return lacking;
  }

  /** Reads the ledger's entries from a number on, past this machine's copies. */
  async #storedFrom(from: number): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (;;) {
      const name = this.#nameOf(from + entries.length);
      const bytes = await this.#folder.read(name);
      if (bytes === undefined) return entries;
      entries.push(parseEntry(bytes, this.#folder.shownName(name)));
    }
  }

  /**
   * Takes over the ledger's entries from a number on, in place of this machine's copies. The caller has checked that only one of
   * the two has claims that the other lacks: otherwise both could have claims of the same rows.
   */
  async #adoptHistory(from: number, own: readonly Entry[]): Promise<void> {
    this.#copiesDifferFrom = Math.min(this.#copiesDifferFrom, from);
    this.#copiesDifferUntil = Math.max(this.#copiesDifferUntil, from + own.length - 1);
    this.#entriesOnlyHere.push(
      ...own.map((entry, at) => ({ entry, nth: countSameKind(entry, this.#entries.slice(0, from + at)) })),
    );
    this.#entries.length = from - 1;
    this.#bytes.length = from - 1;
    const last = this.#bytes.at(-1);
    this.#lastHash = last === undefined ? null : sha256Of(last);
    await this.read();
  }

  /** Adds the entries that only this machine has to the ledger, then replaces this machine's copies. */
  async #mergeOwnHistory(): Promise<void> {
    if (this.#copiesDifferFrom === Infinity) return;
    const added: string[] = [];
    for (const { entry, nth } of this.#entriesOnlyHere) {
      // Without the sets of its new tokens, a done entry is not added: the results have to be read again.
      if (entry.kind === 'done' && !(await hasTokenSets(this.#folder, this.name, entry))) continue;
      const body = bodyOf(entry);
      // Counting keeps a released claim from standing again, and a release from ending a claim that came after it.
      const isMissing = (entries: readonly Entry[]): boolean =>
        entry.kind === 'done' || countSameKind(entry, entries) < nth;
      const makeEntry = async (entries: readonly Entry[]) =>
        isMissing(entries) && addsToEntries(entries, body) ? body : undefined;
      if (await this.#appendNext(makeEntry)) added.push(this.#folder.fullName(this.#nameOf(this.#entries.length)));
    }
    this.#entriesOnlyHere.length = 0;
    // Each copy has the hash of the one before it, so all copies from the difference on are replaced.
    for (
      let number = this.#copiesDifferFrom;
      number <= Math.max(this.#copiesDifferUntil, this.#bytes.length);
      number += 1
    )
      await this.#folder.replaceCopy(this.#nameOf(number), this.#bytes[number - 1]);
    this.#copiesDifferFrom = Infinity;
    if (added.length > 0) this.#host.onPutBack?.(this.#folder.place, added);
  }

  /** Checks that no entry is missing between those that this machine has and the last one that a list shows. */
  async #requireNoGap(last: number): Promise<void> {
    for (let number = this.#bytes.length + 1; number <= last; number += 1) {
      const name = this.#nameOf(number);
      if ((await this.#folder.read(name)) === undefined)
        throw damagedLedger(this.#folder.shownName(name), 'it is missing');
    }
  }

  #lastOf(listed: ReadonlyMap<string, StoredFile>): number {
    return Math.max(0, ...[...listed.keys()].map((name) => entryNumber(name.slice(cyclePath(this.name).length + 1))));
  }

  /** Tells whether the ledger still has the newest entry that this machine read. Its hash proves the entries before it. */
  async #hasNewest(): Promise<boolean> {
    const [number, last] = [this.#entries.length, this.#lastHash];
    if (number === 0) return true;
    const bytes = await this.#folder.read(this.#nameOf(number));
    return bytes !== undefined && sha256Of(bytes) === last;
  }

  /** Tells whether a copy is an entry that follows the last one. */
  #follows(bytes: Uint8Array): boolean {
    try {
      return parseEntry(bytes, '').previous === this.#lastHash;
    } catch (error) {
      if (isSvcError(error)) return false;
      throw error;
    }
  }

  #nameOf(number: number): string {
    return entryPath(this.name, number);
  }

  #nameOfSet(sha256: string): string {
    return setPath(this.name, sha256);
  }
}

/** Counts the entries of the same kind for the same job. */
function countSameKind({ kind, job }: Entry, entries: readonly Entry[]): number {
  return entries.filter((entry) => entry.kind === kind && entry.job === job).length;
}
