// The ledger of a tenant: its cycles, its marks of jobs, and the time since which every job is in it.

import type { ObjectStore, StoredFile } from '../../client/store/store.ts';
import { isoTime, parseTime } from '../../cli/output/time.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import { folderOf } from '../../base/files/names.ts';
import { creationOf, hasClaim, wereResultsRead, openJobs } from './claims.ts';
import { closeLedger } from './closed-ledger.ts';
import { LedgerCycle, type LedgerHost, type LedgerPlace } from './cycle.ts';
import { markName } from './cycle-objects.ts';
import { cycleFolder } from './cycle-names.ts';
import { ForkedLedger } from './damage.ts';
import { saltsOf } from './earlier-keys.ts';
import { type ClaimEntry, type Entry, type Keys, markBytes, parseMark } from './entry.ts';
import { LedgerFolder, requireNotEmpty } from './objects.ts';
import { saltOf } from './row-set.ts';
import { lostRows, type RowsWithoutJob } from './rows-without-job.ts';

/** The object that a shared ledger gets once older jobs were compared with it. */
const BEGUN = 'begun.json';

/** The object with the jobs that were pending when a machine's own ledger was first used. */
const PENDING_BEFORE = 'pending-before.json';

/** A cycle with jobs whose results nobody received, or with rows that no job has. */
export interface OpenCycle {
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
  /** The jobs whose results nobody received. */
  readonly open: readonly string[];
  /** The rows that no job has. */
  readonly lost: readonly RowsWithoutJob[];
}

/**
 * The ledger records what a tenant paid for, in numbered entries. An entry is created only if its number is free, so that
 * machines share a ledger without a lock or a clock.
 */
export class Ledger {
  readonly #place: LedgerPlace;
  readonly #cycles = new Map<string, LedgerCycle>();
  /** The salt of row keys: the same in all ledgers of a tenant, and another for each tenant. */
  readonly salt: string;

  private constructor(place: LedgerPlace, salt: string) {
    this.#place = place;
    this.salt = salt;
  }

  /**
   * Opens the ledger of a tenant, with or without entries.
   * @throws SvcError `config` for an empty place where this machine used a ledger before, and for a store that ignores
   *   `If-None-Match`
   */
  static async open(objects: ObjectStore, tenant: string, host: LedgerHost): Promise<Ledger> {
    const folder = new LedgerFolder(objects, tenant, host.cache);
    const salt = saltOf(tenant);
    const salts = await saltsOf(folder, salt);
    await requireNotEmpty(objects, tenant, host.cache);
    if (host.isFirstUse !== false) await folder.try();
    return new Ledger({ folder, host, saltOf: salts }, salt);
  }

  /** Whether the first use showed that this machine may only read the ledger. */
  get isReadOnly(): boolean {
    return this.#folder.isReadOnly;
  }

  /** Checks that this machine may write to the ledger. @throws ReadOnlyPlace */
  requireWritable(): void {
    this.#folder.requireWritable();
  }

  /** The location in messages. */
  get name(): string {
    return this.#folder.place;
  }

  /** Returns the salt of an entry's sets. @throws SvcError `config` if it is lost */
  saltOf(entry: Keys): string {
    return this.#place.saltOf(entry);
  }

  /** Returns a cycle by its name. */
  cycle(cycle: string): LedgerCycle {
    const folder = cycleFolder(cycle);
    const opened = this.#cycles.get(folder) ?? new LedgerCycle(this.#place, folder);
    this.#cycles.set(folder, opened);
    return opened;
  }

  /** Returns the names of the cycles that have entries, here or in the copies of this machine. */
  async cycleNames(): Promise<readonly string[]> {
    return [...(await this.#knownCycles()).keys()];
  }

  /** Returns the cycles that have entries, as `LedgerFolder.cycles`. A list may lag, so those that marks or the operator named are read. */
  async #knownCycles(): Promise<ReadonlyMap<string, number>> {
    const cycles = new Map(await this.#folder.cycles());
    for (const [name, cycle] of this.#cycles)
      if (!cycles.has(name) && (await cycle.read()).length > 0) cycles.set(name, 0);
    return cycles;
  }

  /**
   * Returns the cycles with jobs whose results nobody received, or with rows that no job has.
   * @throws SvcError `config` for a cycle that lacks an entry
   */
  async *openCycles(): AsyncGenerator<OpenCycle> {
    for (const [name, last] of await this.#knownCycles()) {
      const cycle = this.cycle(name);
      const entries = [...(await cycle.readWhole(last))];
      const open = openJobs(entries);
      const lost = await lostRows({ cycle, entries });
      if (open.length > 0 || lost.length > 0) yield { cycle, entries, open, lost };
    }
  }

  /** Compares all cycles with this machine's copies, and puts back missing objects. @throws as `LedgerCycle.heal` */
  async heal(): Promise<void> {
    for (const name of await this.cycleNames()) await this.cycle(name).heal();
  }

  /**
   * Puts back objects that the list does not show and of which this machine has copies. Other machines cannot do so, and stop
   * without them. A cycle with two histories is skipped: it stops only the commands that use it.
   * @throws SvcError `config` for an object that differs
   */
  async restore(): Promise<void> {
    const kept = [...(await this.#folder.cycles('copies')).keys()].map((name) => this.cycle(name));
    const listed = kept.length === 0 ? new Map<string, StoredFile>() : await this.#folder.list('');
    for (const cycle of kept) {
      try {
        await cycle.read();
        if (!cycle.isListed(listed)) await cycle.heal();
      } catch (error) {
        if (!(error instanceof ForkedLedger)) throw error;
      }
    }
  }

  /** Notes that a machine which begins to share the ledger will copy its claim of a job, once no other job is unknown. */
  async announce(job: string): Promise<void> {
    await this.#note(`announced/${folderOf(job)}`, {}, 'announced_at');
  }

  /** Tells whether a machine announced its claim of a job. */
  async isAnnounced(job: string): Promise<boolean> {
    return (await this.#folder.read(`announced/${folderOf(job)}`)) !== undefined;
  }

  /** Tells whether older jobs were compared with the ledger. A machine's own ledger begins with its first entry instead. */
  async isBegun(): Promise<boolean> {
    if ((await this.#folder.read(BEGUN)) !== undefined) return true;
    return this.#place.host.isOwn === true && (await this.cycleNames()).length > 0;
  }

  /**
   * Records that every older job is in the ledger or belongs to another system. `since` is the creation time of the ledger's
   * first job, in the service's time.
   */
  async begin(since: string | null | undefined): Promise<void> {
    if (this.#place.host.isOwn !== true) await this.#note(BEGUN, { since }, 'begun_at');
  }

  /**
   * Returns the jobs that were pending when this machine's own ledger was first used, which `pending` are if that is now. They
   * may have files that a lost ledger knew. Returns none once the ledger has begun.
   */
  async pendingBefore(pending: readonly string[]): Promise<ReadonlySet<string>> {
    if (await this.isBegun()) return new Set();
    await this.#note(PENDING_BEFORE, { jobs: pending }, 'noted_at');
    const bytes = await this.#folder.read(PENDING_BEFORE);
    const note = bytes && parsedJson(Buffer.from(bytes).toString());
    return new Set(isObject(note) && Array.isArray(note['jobs']) ? note['jobs'] : pending);
  }

  /** Returns the time since which every job is in the ledger, in the service's time; undefined before the first claim. */
  async since(): Promise<number | undefined> {
    const bytes = await this.#folder.read(BEGUN);
    const note = bytes && parsedJson(Buffer.from(bytes).toString());
    const begun = isObject(note) && typeof note['since'] === 'string' ? parseTime(note['since']) : undefined;
    if (begun !== undefined) return begun;
    // A machine's own ledger begins with its first claim, without a note.
    const claims: ClaimEntry[] = [];
    for (const name of await this.cycleNames())
      claims.push(...(await this.cycle(name).read()).filter((entry) => entry.kind === 'claim'));
    const times = claims.map(creationOf);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Tells whether somebody read the results of a job that was created at or after a time of the service. */
  async hasResultsSince(time: number): Promise<boolean> {
    for (const name of await this.cycleNames()) {
      const entries = await this.cycle(name).read();
      const recent = entries.filter((entry) => entry.kind === 'claim' && creationOf(entry) >= time);
      if (recent.some(({ job }) => wereResultsRead(entries, job))) return true;
    }
    return false;
  }

  /** Records that this machine moved to another ledger. From then on, adding an entry here fails. */
  async close(next: string): Promise<void> {
    await closeLedger(this.#folder, next);
  }

  /**
   * Marks a job with its cycle. A new job is marked before its claim; a job that may have its file, after its claim. A mark is
   * never replaced. Returns false if the job has the mark of another cycle.
   */
  async mark(job: string, cycle: string): Promise<boolean> {
    const name = markName(job);
    if ((await this.#folder.create(name, markBytes(cycle))) === 'created') return true;
    if (!(await this.isMarked(job))) throw this.#folder.notShownError(name);
    return (await this.cycleOfJob(job)) === this.cycle(cycle);
  }

  /** Marks a job as one of another system, which gets no claim. */
  async ignore(job: string): Promise<void> {
    await this.#note(markName(job), {}, 'ignored_at');
  }

  async isMarked(job: string): Promise<boolean> {
    return (await this.#readMark(job)) !== undefined;
  }

  /** Returns the cycle of a job; undefined for a job that the ledger does not know. */
  async cycleOfJob(job: string): Promise<LedgerCycle | undefined> {
    const mark = await this.#readMark(job);
    if (mark?.cycle !== undefined) return mark.cycle;
    // An ignored job may have got its claim later. A restored ledger may lack the mark of a job whose claim this machine has. And
    // a list may not show yet the cycles to which this process added entries.
    const names = await this.#folder.cycles(mark === undefined ? 'copies' : 'all');
    for (const cycle of new Set([...this.#cycles.values(), ...[...names.keys()].map((name) => this.cycle(name))]))
      if (hasClaim(await cycle.read(), job)) return cycle;
    return undefined;
  }

  /**
   * Tells whether the ledger knows a job that has its file. The claim comes before the file, so a cycle without the claim of a
   * marked job has lost entries.
   * @throws SvcError `config` for a cycle that has lost the claim
   */
  async hasSent(job: string): Promise<boolean> {
    for (const cycle of this.#cycles.values()) if (cycle.hasRead(job)) return true;
    const mark = await this.#readMark(job);
    if (mark?.cycle === undefined) return mark !== undefined;
    try {
      if (!(await this.#isLost(mark.cycle, job))) return true;
      // The entries may come from this machine's copies, and the ledger may have continued without them.
      await mark.cycle.heal();
      if (await this.#isLost(mark.cycle, job)) throw mark.cycle.missingClaimError(job);
    } catch (error) {
      // In a forked cycle, the claim may be in the history that this machine did not read, so the job counts as known.
      if (!(error instanceof ForkedLedger)) throw error;
    }
    return true;
  }

  /** Returns the cycle that lost the claim of a job; undefined if the claim exists or was given up. */
  async cycleWithoutClaim(job: string): Promise<string | undefined> {
    const cycle = (await this.#readMark(job))?.cycle;
    return cycle && (await this.#isLost(cycle, job)) ? cycle.name : undefined;
  }

  /** Records that the operator gives up the lost claim of a job. From then on, the job stops no upload. */
  async giveUpClaim(job: string): Promise<void> {
    await this.#note(`lost/${folderOf(job)}`, {}, 'given_up_at');
  }

  async #isLost(cycle: LedgerCycle, job: string): Promise<boolean> {
    return !hasClaim(await cycle.read(), job) && (await this.#folder.read(`lost/${folderOf(job)}`)) === undefined;
  }

  /** Reads the mark of a job. An ignored job has a mark without a cycle. */
  async #readMark(job: string): Promise<{ readonly cycle?: LedgerCycle } | undefined> {
    const name = markName(job);
    const bytes = await this.#folder.read(name);
    if (bytes === undefined) return undefined;
    const mark = parseMark(bytes, this.#folder.shownName(name));
    return 'cycle' in mark ? { cycle: this.cycle(mark.cycle) } : {};
  }

  /** Creates a note with its author and time. `timeMember` is the name of the member for the time. */
  async #note(name: string, members: object, timeMember: string): Promise<void> {
    const { clock, who } = this.#place.host;
    const note = { version: 1, ...members, [timeMember]: isoTime(clock.now()), by: who };
    await this.#folder.create(name, Buffer.from(`${JSON.stringify(note)}\n`));
  }

  get #folder(): LedgerFolder {
    return this.#place.folder;
  }
}
