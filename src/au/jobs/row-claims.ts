// Compares the rows of a file with the claims of their cycle, divides them, and claims rows for a job.

import { findJob } from '../job/job.ts';
import { NOTHING_SENT, type NamedFile, failedElsewhereError } from './claim-texts.ts';
import { type Division, divideRows } from './divide-rows.ts';
import { type SettleOptions, settleClaims } from './settle-claims.ts';
import { type RowsToClaim, claimRows } from '../ledger/claim-rows.ts';
import { type SettledClaim, areTokensKnown, hasClaim, standingClaims, wereResultsRead } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { doubtError } from '../ledger/doubt.ts';
import { claimsWithoutRows, enteredWithoutRows, fileCycleIn, fileCycles } from '../ledger/earlier-keys.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FileRows, type RequestRows, readRows } from '../ledger/request-rows.ts';
import { RowSet } from '../ledger/row-set.ts';
import { rowsWithoutJob } from '../ledger/rows-without-job.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readNewTokens } from '../results/job-results.ts';
import { once } from '../../base/once.ts';
import type { Context } from '../../cli/app/command.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { type UploadSource, fileSource } from '../../client/transfer/source.ts';

/** The rows of one job, or of a whole file. */
interface JobRows {
  /** The SHA-256 of the file with the rows. */
  readonly sha256: string;
  readonly source: Pick<UploadSource, 'open'>;
}

interface FileToCompare extends SettleOptions {
  readonly tenant: string;
  readonly file: Pick<RequestFile, 'name' | 'check' | 'source' | 'submitted'>;
  /** The cycle that the operator named; undefined for a file without a cycle. */
  readonly cycle?: string | undefined;
}

/** The most row sets that a claim names, so that its entry stays small. With more jobs, each set has the rows of several. */
const MAX_ROW_SETS = 100;

/** A file, compared with the claims of its cycle. */
export interface ComparedFile {
  readonly named: NamedFile;
  readonly rows: FileRows;
  /** Whether a claim of the cycle stands. Without one, the file begins the cycle, also after all jobs of the cycle failed. */
  readonly isBegun: boolean;
  /** When the cycle began, in epoch milliseconds, if a claim of it ended since: another cycle may have those rows now. */
  readonly freedSince: number | undefined;
  /** The standing claims that have rows of the file. */
  readonly taken: readonly SettledClaim[];
  /** Undefined if all rows are free. */
  readonly division: Division | undefined;
}

/** Compares and claims rows for one command, which reads each file and each job's results only once. */
export class RowClaims {
  readonly #ledger: CommandLedger;
  /** The keys of the rows that were read, by the salt of the ledger and the hash of the file. */
  readonly #rows = new Map<string, Promise<RequestRows>>();
  /** Jobs whose new tokens need not be read again. */
  readonly #jobsWithReadResults = new Set<string>();
  /** The last claim of this command. The next one waits for it. */
  #lastClaim: Promise<unknown> = Promise.resolve();

  constructor(ledger: CommandLedger) {
    this.#ledger = ledger;
  }

  /**
   * Divides the rows of a file into free rows and the rows of each standing claim. Ends the claims of jobs that failed, whose
   * rows become free for the next command. Without a client, no job is read.
   * @throws SvcError `job_failed` for a job that failed, `outcome_unknown` for a job whose rows are unknown, `config` for a
   *   damaged ledger
   */
  async compare(
    context: Context,
    client: Client | undefined,
    { tenant, file, cycle: typed, ...settling }: FileToCompare,
  ): Promise<ComparedFile> {
    const { name, source } = file;
    const whole = { sha256: file.check.sha256, source };
    const ledger = await this.#ledger.open(tenant);
    const rows = await this.#fileRows(ledger, whole);
    const named = { name, cycle: typed ?? (await fileCycleIn(ledger, rows)), isNamed: typed !== undefined };
    await this.#refuseFileOfEarlierBuild(tenant, ledger, named, { whole, submitted: file.submitted.sha256 });
    const cycle = ledger.cycle(named.cycle);
    const entries = await cycle.readWhole();
    const wasBegun = standingClaims(entries).length > 0;
    const { taken, failed } = await settleClaims(client, cycle, rows, {
      ...settling,
      isStored: this.#ledger.isStored,
      warn: (text) => context.notices.warn(text),
    });
    if (failed.length > 0) throw failedElsewhereError(named, failed);
    // An abandoned job may have got its claim back.
    const isBegun = wasBegun || standingClaims(entries).length > 0;
    const claims = taken.map(({ claim }) => claim);
    refuseUnknownRows(
      named,
      claims.filter(({ row_set: set }) => set === null),
    );
    const isAnyFree = (await rows.countFree(await rowSetsOf(cycle, claims))) > 0;
    // A claim puts back lost entries by itself. A command that only reads has to look for them here.
    if (this.#ledger.onlyReads && isAnyFree) await cycle.heal();
    if (client && isAnyFree) await this.#readCompleted(context, client, tenant, entries);
    const { isMixed } = await this.#readRows(ledger.salt, whole);
    const division = await divideRows(context, cycle, { salt: ledger.salt, source, isMixed }, taken);
    return { named, rows, isBegun, freedSince: freedSince(entries), taken, division };
  }

  /** Stores the row sets of several slices of a file. Returns their names; undefined if there is only one slice. */
  async createRowSets(tenant: string, cycle: string, slices: readonly JobRows[]): Promise<string[] | undefined> {
    if (slices.length < 2) return undefined;
    const ledger = await this.#ledger.open(tenant);
    const sets: RowSet[] = [];
    for (const slice of slices) sets.push((await this.#fileRows(ledger, slice)).rows);
    const count = Math.ceil(sets.length / MAX_ROW_SETS);
    const names: string[] = [];
    for (let at = 0; at < sets.length; at += count)
      names.push(await ledger.cycle(cycle).createRowSet(RowSet.union(sets.slice(at, at + count), ledger.salt)));
    return names;
  }

  /** Leaves rows out of a cycle whose tokens came from its results, if the ledger still asks for a job for them. */
  async leaveOutUpToDate(tenant: string, name: string, upToDate: RowSet): Promise<void> {
    const cycle = (await this.#ledger.open(tenant)).cycle(name);
    const entries = [...(await cycle.read())];
    for (const { claim, rows } of await rowsWithoutJob({ cycle, entries })) {
      const others = rows.without([upToDate]);
      const current = rows.without([others]);
      if (current.size === 0) continue;
      const row_set = await cycle.createRowSet(current);
      await cycle.endClaim({ kind: 'left_out', job: claim.job, keys: 2, row_set });
    }
  }

  /** Reads the rows of a file, as keys. */
  async read(tenant: string, file: JobRows): Promise<FileRows> {
    return this.#fileRows(await this.#ledger.open(tenant), file);
  }

  /**
   * Claims rows of a file for their job, before the first byte is sent. Returns false if the claim existed already.
   * @throws SvcError as `claimRows`
   */
  async claim(context: Context, client: Client, claiming: Omit<RowsToClaim, 'rows'>): Promise<boolean> {
    const tenant = this.#ledger.tenantOf(claiming.job);
    const ledger = await this.#ledger.open(tenant);
    const { id } = claiming.job;
    const before = this.#lastClaim;
    const claimed = (async () => {
      await before.catch(() => undefined);
      const entries = await ledger.cycle(claiming.cycle).read();
      // An existing claim was compared with the new tokens of its time, so later results do not matter.
      if (!hasClaim(entries, id)) await this.#readCompleted(context, client, tenant, entries);
      // This command is about to send the job's file, so the job has no results yet.
      this.#jobsWithReadResults.add(id);
      return claimRows(ledger, { ...claiming, rows: await this.#fileRows(ledger, claiming) });
    })();
    this.#lastClaim = claimed;
    return claimed;
  }

  /**
   * Enters the new tokens of completed jobs in the ledger before rows are claimed: a row with such a token is up to date and
   * need not be sent.
   */
  async #readCompleted(context: Context, client: Client, tenant: string, entries: readonly Entry[]): Promise<void> {
    const unread = standingClaims(entries).filter(
      ({ job }) => !areTokensKnown(entries, job) && !this.#jobsWithReadResults.has(job),
    );
    for (const claim of unread) {
      const { job } = claim;
      if (wereResultsRead(entries, job) || (await findJob(client, job))?.status === 'completed')
        await readNewTokens(context, client, { ledger: this.#ledger, tenant }, claim);
      this.#jobsWithReadResults.add(job);
    }
  }

  /**
   * Counts the rows of the file with this hash that a cycle lacks: none if it ever had a claim of the file, also an ended one.
   * The rows are at the path `file`; without it they are compared by the hash only, and undefined says that some are lacking.
   */
  async countLacking(
    tenant: string,
    cycle: string,
    sha256: string,
    file: string | undefined,
  ): Promise<number | undefined> {
    const ledger = await this.#ledger.open(tenant);
    const opened = ledger.cycle(cycle);
    const claims = (await opened.read()).filter((entry) => entry.kind === 'claim');
    if (claims.some((claim) => claim.file.sha256 === sha256)) return 0;
    if (file === undefined) return undefined;
    const rows = await this.#fileRows(ledger, { sha256, source: await fileSource(file) });
    return rows.countFree(await rowSetsOf(opened, claims));
  }

  /**
   * Checks that the same file was not sent by an earlier build, whose claims have no rows.
   * @throws SvcError `outcome_unknown`
   */
  async #refuseFileOfEarlierBuild(
    tenant: string,
    ledger: Ledger,
    named: NamedFile,
    { whole, submitted }: { readonly whole: JobRows; readonly submitted: string },
  ): Promise<void> {
    // The operator may type the name of a file's cycle in this machine's former ledger.
    if (named.isNamed && !isFileCycle(named.cycle)) return;
    refuseUnknownRows(named, await claimsWithoutRows(ledger, [whole.sha256, submitted]));
    if (!this.#ledger.isShared) return;
    const ownLedger = await this.#ledger.openOwn(tenant, { onlyReads: true });
    if (!(await ownLedger.cycleNames()).some(isFileCycle)) return;
    const cycles = [
      ...(await fileCycles(ownLedger, await this.#fileRows(ownLedger, whole))),
      ...(named.isNamed ? [named.cycle] : []),
    ];
    refuseUnknownRows(named, await enteredWithoutRows(ownLedger, ledger, cycles));
  }

  async #fileRows(ledger: Ledger, file: JobRows): Promise<FileRows> {
    return FileRows.of(ledger.salt, async (salt) => (await this.#readRows(salt, file)).rows);
  }

  #readRows(salt: string, { sha256, source }: JobRows): Promise<RequestRows> {
    return once(this.#rows, `${salt}${sha256}`, () => readRows(salt, { open: () => source.open(), sha256 }));
  }
}

/** Returns when a cycle began, in epoch milliseconds, if one of its claims ended; undefined if all of them stand. */
function freedSince(entries: readonly Entry[]): number | undefined {
  const begin = entries.find((entry) => entry.kind === 'claim');
  const hasEndedClaim = entries.some((entry) => entry.kind === 'release');
  return begin && hasEndedClaim ? (parseTime(begin.created_at) ?? 0) : undefined;
}

/** Refuses claims of unknown rows: they may have any row of the file. @throws SvcError `outcome_unknown` */
function refuseUnknownRows({ cycle }: NamedFile, claims: readonly ClaimEntry[]): void {
  const doubts = claims.map((claim) => ({ claim, why: 'unknown' }) as const);
  // These doubts do not depend on the time.
  const doubt = doubtError(doubts, { cycle, now: 0, ending: NOTHING_SENT });
  if (doubt) throw doubt;
}

/** Returns the row sets of claims, without the claims whose rows are unknown. */
async function rowSetsOf(cycle: LedgerCycle, claims: readonly ClaimEntry[]): Promise<RowSet[]> {
  const sets = await Promise.all(claims.map((claim) => cycle.rowSetOf(claim)));
  return sets.filter((set) => set !== undefined);
}
