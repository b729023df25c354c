import type { ObjectStore, StoredFile } from '../../client/store/store.ts';
import { isoTime, parseTime } from '../../cli/output/time.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import { folderOf } from '../../base/files/names.ts';
import { hasClaim, isDone, openJobs } from './claims.ts';
import { CLOSED, LedgerCycle, type LedgerHost, type LedgerPlace, markName } from './cycle.ts';
import { cycleFolder } from './cycle-names.ts';
import { ForkedLedger } from './damage.ts';
import { saltsOf } from './earlier-keys.ts';
import { type ClaimEntry, type Entry, type Keys, markBytes, parseMark } from './entry.ts';
import { LedgerFolder, requireSeen } from './objects.ts';
import { saltOf } from './row-set.ts';

/** The object that says that a ledger is in use. */
const BEGUN = 'begun.json';

/** A cycle with jobs whose results nobody received. */
export interface OpenCycle {
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
  /** These jobs. */
  readonly open: readonly string[];
}

/**
 * The memory of what a tenant paid for: numbered entries, each created once under the condition that its number is free.
 * Machines that share it need no lock and no clock.
 */
export class Ledger {
  readonly #place: LedgerPlace;
  readonly #cycles = new Map<string, LedgerCycle>();
  /** What the keys of rows begin with, so that all ledgers of a tenant have the same keys, and those of two tenants differ. */
  readonly salt: string;

  private constructor(place: LedgerPlace, salt: string) {
    this.#place = place;
    this.salt = salt;
  }

  /**
   * Opens the ledger of a tenant, which need not have begun.
   * @throws SvcError `config` for a place that has nothing of a ledger that this machine used there, and for a store that
   *   ignores the condition
   */
  static async open(objects: ObjectStore, tenant: string, host: LedgerHost): Promise<Ledger> {
    const folder = new LedgerFolder(objects, tenant, host.cache);
    const salt = saltOf(tenant);
    const salts = await saltsOf(folder, salt);
    await requireSeen(objects, tenant, host.cache);
    if (host.isFirstUse !== false) await folder.try();
    return new Ledger({ folder, host, saltOf: salts }, salt);
  }

  /** Whether the first use showed that this machine may only read the ledger, so that its store was not tried. */
  get isReadOnly(): boolean {
    return this.#folder.isReadOnly;
  }

  /** Checks that the first use did not show that this machine may only read the ledger. @throws ReadOnlyPlace */
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

  /** Returns the names of the cycles that have entries. */
  async cycleNames(): Promise<readonly string[]> {
    return this.#folder.cycles();
  }

  /** Returns the cycles with jobs whose results nobody received. */
  async *openCycles(): AsyncGenerator<OpenCycle> {
    for (const name of await this.cycleNames()) {
      const cycle = this.cycle(name);
      const entries = [...(await cycle.read())];
      const open = openJobs(entries);
      if (open.length > 0) yield { cycle, entries, open };
    }
  }

  /** Compares all cycles with what this machine has of them, and puts back what is missing. @throws as `LedgerCycle.heal` */
  async heal(): Promise<void> {
    const names = new Set([...(await this.cycleNames()), ...(await this.#folder.cycles('copies'))]);
    for (const name of names) await this.cycle(name).heal();
  }

  /**
   * Reads the cycles of which this machine has copies, and puts back what a list of the place lacks of them. Another machine
   * cannot do it, and would stop. A cycle with two histories stops only the commands that use it.
   * @throws SvcError `config` for an object that differs
   */
  async restore(): Promise<void> {
    const kept = (await this.#folder.cycles('copies')).map((name) => this.cycle(name));
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

  /** Notes that a machine which begins to share the ledger has the claim of a job, and copies it once no other job is unknown. */
  async announce(job: string): Promise<void> {
    await this.#note(`announced/${folderOf(job)}`, {}, 'announced_at');
  }

  /** Tells whether a machine that begins to share the ledger has the claim of a job. */
  async isAnnounced(job: string): Promise<boolean> {
    return (await this.#folder.read(`announced/${folderOf(job)}`)) !== undefined;
  }

  /**
   * Tells whether the jobs from before the ledger were compared with it. Until then, the machine that sent them may have
   * been stopped while it entered them. What a machine has alone is begun with its first entry.
   */
  async isBegun(): Promise<boolean> {
    if ((await this.#folder.read(BEGUN)) !== undefined) return true;
    return this.#place.host.isOwn === true && (await this.cycleNames()).length > 0;
  }

  /**
   * Records that every older job is in the ledger or belongs to another system. `since` is when the first job of the ledger
   * was created, in the service's time.
   */
  async begin(since: string | null | undefined): Promise<void> {
    // What a machine has alone begins with its first claim.
    if (this.#place.host.isOwn !== true) await this.#note(BEGUN, { since }, 'begun_at');
  }

  /**
   * Returns since when all jobs are in the ledger, in the service's time, because the clock of the machine that began it may
   * be wrong. Undefined before its first claim.
   */
  async since(): Promise<number | undefined> {
    const bytes = await this.#folder.read(BEGUN);
    const note = bytes && parsedJson(Buffer.from(bytes).toString());
    const begun = isObject(note) && typeof note['since'] === 'string' ? parseTime(note['since']) : undefined;
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
    await this.#folder.create(CLOSED, bytes);
  }

  /**
   * Marks a job as one that the ledger knows, with its cycle. The mark of a new job comes before its claim, and that of a
   * job that may have its file comes after it. A mark is never replaced. Returns whether it is of this cycle.
   */
  async mark(job: string, cycle: string): Promise<boolean> {
    const name = markName(job);
    if ((await this.#folder.create(name, markBytes(cycle))) === 'created') return true;
    if (!(await this.isMarked(job))) throw this.#folder.notShown(name);
    return (await this.cycleOfJob(job)) === this.cycle(cycle);
  }

  /** Marks a job as one of another system. No claim ever names it. */
  async ignore(job: string): Promise<void> {
    await this.#note(markName(job), {}, 'ignored_at');
  }

  async isMarked(job: string): Promise<boolean> {
    return (await this.#readMark(job)) !== undefined;
  }

  /** Returns the cycle that a claim binds a job in; undefined for a job that the ledger does not know. */
  async cycleOfJob(job: string): Promise<LedgerCycle | undefined> {
    const mark = await this.#readMark(job);
    if (mark?.cycle !== undefined) return mark.cycle;
    // The claim of an ignored job may have been entered later. A place that was restored to an older time lacks the mark of a job
    // whose claim this machine may have. And a list may not show yet the cycles that this process added entries to.
    const names = await this.#folder.cycles(mark === undefined ? 'copies' : 'place');
    for (const cycle of new Set([...this.#cycles.values(), ...names.map((name) => this.cycle(name))]))
      if (hasClaim(await cycle.read(), job)) return cycle;
    return undefined;
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
    try {
      if (!(await this.#isLost(mark.cycle, job))) return true;
      // What was read may be copies of this machine, and the place may have gone on without them.
      await mark.cycle.heal();
      if (await this.#isLost(mark.cycle, job)) throw mark.cycle.lacksClaim(job);
    } catch (error) {
      // The claim may be in the history that this machine did not read. Machines without a history of their own look for it.
      if (!(error instanceof ForkedLedger)) throw error;
    }
    return true;
  }

  /** Returns the cycle that has lost the claim of a job; undefined for a job that has its claim, or that was given up. */
  async cycleWithoutClaim(job: string): Promise<string | undefined> {
    const cycle = (await this.#readMark(job))?.cycle;
    return cycle && (await this.#isLost(cycle, job)) ? cycle.name : undefined;
  }

  /** Records the operator's word that no machine has the lost claim of a job. From then on the job stops no upload. */
  async giveUpClaim(job: string): Promise<void> {
    await this.#note(`lost/${folderOf(job)}`, {}, 'given_up_at');
  }

  async #isLost(cycle: LedgerCycle, job: string): Promise<boolean> {
    return !hasClaim(await cycle.read(), job) && (await this.#folder.read(`lost/${folderOf(job)}`)) === undefined;
  }

  /** Reads the mark of a job. That of an ignored job has no cycle. */
  async #readMark(job: string): Promise<{ readonly cycle?: LedgerCycle } | undefined> {
    const name = markName(job);
    const bytes = await this.#folder.read(name);
    if (bytes === undefined) return undefined;
    const mark = parseMark(bytes, this.#folder.shown(name));
    return 'cycle' in mark ? { cycle: this.cycle(mark.cycle) } : {};
  }

  /** Creates a note with who made it and when, under the name of this time. */
  async #note(name: string, note: object, time: string): Promise<void> {
    const { clock, who } = this.#place.host;
    const said = { version: 1, ...note, [time]: isoTime(clock.now()), by: who };
    await this.#folder.create(name, Buffer.from(`${JSON.stringify(said)}\n`));
  }

  get #folder(): LedgerFolder {
    return this.#place.folder;
  }
}
