import { once } from '../../base/once.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { findJob } from '../job/job.ts';
import { boundJob, claimRows } from '../ledger/claim-rows.ts';
import { areTokensKnown, hasClaim, isDone, standingClaims, type Taken } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { doubtError } from '../ledger/doubt.ts';
import { claimsWithoutRows, enteredWithoutRows, fileCycleIn, fileCycles } from '../ledger/earlier-keys.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FileRows, readRows, type RequestRows, tokensOf } from '../ledger/request-rows.ts';
import type { RowSet } from '../ledger/row-set.ts';
import { readNewTokens } from '../results/job-results.ts';
import { divideRows, type Division } from './divide-rows.ts';
import { settleClaims, type SettleOptions } from './settle-claims.ts';
import { failedElsewhere, type NamedFile } from './submission-errors.ts';

/** The rows of one job, or those of a whole file. */
interface JobRows {
  /** The SHA-256 of the file with the rows. */
  readonly sha256: string;
  readonly source: Pick<UploadSource, 'open'>;
}

/** A file and its cycle, as the operator named them. */
interface SubmittedFile {
  readonly name: string;
  /** The cycle that the operator named; undefined for a file without one. */
  readonly cycle: string | undefined;
  /** All of its rows. */
  readonly whole: JobRows;
  /** The SHA-256 of the file as it was submitted, with rows that stand twice. */
  readonly submitted: string;
}

interface ToCompare extends Omit<SettleOptions, 'stored'> {
  readonly tenant: string;
  readonly file: SubmittedFile;
}

/** The rows of a file, compared with what their cycle has. */
export interface Compared {
  readonly named: NamedFile;
  readonly rows: FileRows;
  /** Whether the cycle has entries. */
  readonly isBegun: boolean;
  readonly taken: readonly Taken[];
  /** Undefined if all rows are free. */
  readonly division: Division | undefined;
}

/** The rows to bind to a job that was created for them. */
interface RowsToClaim extends JobRows, Pick<ClaimEntry, 'part' | 'file' | 'bytes'> {
  readonly job: AccountUpdaterJob;
  /** The name of the cycle in the ledger. */
  readonly cycle: string;
}

/** The rows of files, as one command compares them with what their cycle has and binds them to jobs. */
export class RowClaims {
  readonly #ledger: CommandLedger;
  /** The keys of rows that were read already, by ledger and by the hash of their file. */
  readonly #rows = new Map<string, Promise<RequestRows>>();
  /** The jobs whose results were looked for already. */
  readonly #looked = new Set<string>();
  /** The claims of a process are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(ledger: CommandLedger) {
    this.#ledger = ledger;
  }

  /**
   * Finds out which rows of a file are free, and divides the others by the claims that have them. The rows of jobs that
   * failed elsewhere become free, and are not sent by this command. Without a client, no job is read.
   * @throws SvcError `job_failed` for such a job, `outcome_unknown` for a job whose rows are unknown, `config` for a damaged
   *   ledger
   */
  async compare(context: Context, client: Client | undefined, { tenant, file, ...how }: ToCompare): Promise<Compared> {
    const { name, whole } = file;
    const ledger = await this.#ledger.open(tenant);
    const rows = await this.#rowsOf(ledger, whole);
    const isNamed = file.cycle !== undefined;
    const named = { name, cycle: file.cycle ?? (await fileCycleIn(ledger, rows)), isNamed };
    await this.#requireKnownRows(tenant, ledger, named, file);
    const cycle = ledger.cycle(named.cycle);
    const entries = await cycle.read();
    const isBegun = entries.length > 0;
    const { taken, failed } = await settleClaims(client, cycle, rows, { ...how, stored: this.#ledger.isStored });
    if (failed.length > 0) throw failedElsewhere(named, failed);
    const claims = taken.map(({ claim }) => claim);
    requireKnownRows(
      named,
      claims.filter(({ row_set: set }) => set === null),
    );
    const isAnyFree = (await rows.left(await setsOf(cycle, claims))) > 0;
    // A command that sends rows finds lost entries when it claims them. What is read here may be copies of this machine.
    if (this.#ledger.onlyReads && isAnyFree) await cycle.heal();
    if (client && isAnyFree) await this.#readCompleted(context, client, tenant, entries);
    const { isMixed } = await this.#readRows(ledger.salt, whole);
    const division = await divideRows(context, cycle, { source: whole.source, isMixed }, taken);
    return { named, rows, isBegun, taken, division };
  }

  /**
   * Binds rows of a file to their job, before the first byte is sent. Returns whether this call made the claim.
   * @throws SvcError as `claimRows`
   */
  async claim(context: Context, client: Client, { source, sha256, ...claiming }: RowsToClaim): Promise<boolean> {
    const tenant = this.#ledger.tenantOf(claiming.job);
    const ledger = await this.#ledger.open(tenant);
    const { id } = claiming.job;
    const before = this.#last;
    const claimed = (async () => {
      await before.catch(() => undefined);
      const entries = await ledger.cycle(claiming.cycle).read();
      // A job that has its claim may be older than the results.
      if (!hasClaim(entries, id)) await this.#readCompleted(context, client, tenant, entries);
      // The job gets its file from this command, which needs none of its results.
      this.#looked.add(id);
      const rows = await this.#rowsOf(ledger, { sha256, source });
      const tokens = (salt: string): Promise<RowSet> => tokensOf(salt, source);
      return claimRows(ledger, { ...claiming, sha256, rows, tokens });
    })();
    this.#last = claimed;
    return claimed;
  }

  /**
   * Checks that the rows of a job are still claimed for it alone, before more of its file is sent.
   * @throws SvcError as `claimRows`
   */
  async requireClaim(
    { part, file, bytes, sha256 }: ClaimEntry,
    job: AccountUpdaterJob,
    source: UploadSource,
  ): Promise<void> {
    const ledger = await this.#ledger.open(this.#ledger.tenantOf(job));
    const cycle = await ledger.cycleOfJob(job.id);
    if (cycle === undefined) throw boundJob(job.id);
    const rows = await this.#rowsOf(ledger, { sha256, source });
    const tokens = (salt: string): Promise<RowSet> => tokensOf(salt, source);
    await claimRows(ledger, { job, cycle: cycle.name, part, file, bytes, sha256, rows, tokens });
  }

  /**
   * Reads the results of all completed jobs of a cycle whose new tokens the ledger does not know, before rows are claimed: a
   * row may have one of these tokens.
   */
  async #readCompleted(context: Context, client: Client, tenant: string, entries: readonly Entry[]): Promise<void> {
    const unread = standingClaims(entries).filter(({ job }) => !areTokensKnown(entries, job) && !this.#looked.has(job));
    for (const claim of unread) {
      const { job } = claim;
      if (isDone(entries, job) || (await findJob(client, job))?.status === 'completed')
        await readNewTokens(context, client, { ledger: this.#ledger, tenant }, claim);
      this.#looked.add(job);
    }
  }

  /** Tells whether a cycle has claims of a file, or of all of its rows, whatever became of these. `file` is a path. */
  async hasClaimed(tenant: string, cycle: string, sha256: string, file: string | undefined): Promise<boolean> {
    const ledger = await this.#ledger.open(tenant);
    const opened = ledger.cycle(cycle);
    const claims = (await opened.read()).filter((entry) => entry.kind === 'claim');
    if (claims.some((claim) => claim.file.sha256 === sha256)) return true;
    if (file === undefined || claims.length === 0) return false;
    const rows = await this.#rowsOf(ledger, { sha256, source: await fileSource(file) });
    return (await rows.left(await setsOf(opened, claims))) === 0;
  }

  /**
   * Checks that no earlier job got the same file without a cycle, where the ledger knows only the hash of the file.
   * @throws SvcError `outcome_unknown`
   */
  async #requireKnownRows(
    tenant: string,
    ledger: Ledger,
    named: NamedFile,
    { whole, submitted }: SubmittedFile,
  ): Promise<void> {
    // The operator may type the name that the cycle had in this machine's former ledger.
    if (named.isNamed && !isFileCycle(named.cycle)) return;
    requireKnownRows(named, await claimsWithoutRows(ledger, [whole.sha256, submitted]));
    if (!this.#ledger.isShared) return;
    const own = await this.#ledger.openOwn(tenant, { onlyReads: true });
    if (!(await own.cycleNames()).some(isFileCycle)) return;
    const cycles = [
      ...(await fileCycles(own, await this.#rowsOf(own, whole))),
      ...(named.isNamed ? [named.cycle] : []),
    ];
    requireKnownRows(named, await enteredWithoutRows(own, ledger, cycles));
  }

  async #rowsOf(ledger: Ledger, file: JobRows): Promise<FileRows> {
    return FileRows.of(ledger.salt, async (salt) => (await this.#readRows(salt, file)).rows);
  }

  #readRows(salt: string, { sha256, source }: JobRows): Promise<RequestRows> {
    return once(this.#rows, `${salt}${sha256}`, () => readRows(salt, { open: () => source.open(), sha256 }));
  }
}

export const NOTHING = '; nothing was sent';

/** Checks that there are no claims of unknown rows, among which any row of a file may be. @throws SvcError `outcome_unknown` */
function requireKnownRows({ cycle }: NamedFile, claims: readonly ClaimEntry[]): void {
  const doubts = claims.map((claim) => ({ claim, why: 'unknown' }) as const);
  const doubt = doubtError(doubts, { cycle, now: 0, ending: NOTHING });
  if (doubt) throw doubt;
}

/** Returns the known sets of rows of some claims. */
async function setsOf(cycle: LedgerCycle, claims: readonly ClaimEntry[]): Promise<RowSet[]> {
  const sets = await Promise.all(claims.map((claim) => cycle.rowsOf(claim)));
  return sets.filter((set) => set !== undefined);
}
