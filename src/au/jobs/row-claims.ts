import { SvcError } from '../../base/errors.ts';
import { once } from '../../base/once.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { findJob } from '../job/job.ts';
import { type Claiming, claimRows } from '../ledger/claim-rows.ts';
import { areTokensKnown, byText, hasClaim, isDone, standingClaims, type Taken } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { doubtError } from '../ledger/doubt.ts';
import { claimsWithoutRows, enteredWithoutRows, fileCycleIn, fileCycles } from '../ledger/earlier-keys.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FileRows, keyOfRequestRow, keyOfRequestToken, readRows, type RequestRows } from '../ledger/request-rows.ts';
import { RowSet } from '../ledger/row-set.ts';
import { readNewTokens } from '../results/job-results.ts';
import { settleClaims, type SettleOptions } from './settle-claims.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { type DividedRows, repeatsToken, RowsFile, withTokensOnce } from '../request/rows-file.ts';

/** The file that is to be sent, in the words of messages. */
export interface NamedFile {
  readonly name: string;
  readonly cycle: string;
  /** Whether the operator named the cycle. Otherwise the name is made from the rows of the file. */
  readonly isNamed: boolean;
}

/** The rows of one job, or those of a whole file. */
interface JobRows {
  /** The SHA-256 of the file with the rows. */
  readonly sha256: string;
  readonly source: Pick<UploadSource, 'open'>;
}

interface ToCompare extends Omit<SettleOptions, 'stored'> {
  readonly tenant: string;
  readonly file: Pick<RequestFile, 'name' | 'check' | 'source' | 'submitted'>;
  /** The cycle that the operator named; undefined for a file without one. */
  readonly cycle?: string | undefined;
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
  async compare(
    context: Context,
    client: Client | undefined,
    { tenant, file, cycle: typed, ...how }: ToCompare,
  ): Promise<Compared> {
    const { name, source } = file;
    const whole = { sha256: file.check.sha256, source };
    const ledger = await this.#ledger.open(tenant);
    const rows = await this.#rowsOf(ledger, whole);
    const named = { name, cycle: typed ?? (await fileCycleIn(ledger, rows)), isNamed: typed !== undefined };
    await this.#requireKnownRows(tenant, ledger, named, { whole, submitted: file.submitted.sha256 });
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
    const division = await divideRows(context, cycle, { source, isMixed }, taken);
    return { named, rows, isBegun, taken, division };
  }

  /**
   * Binds rows of a file to their job, before the first byte is sent. Returns whether this call made the claim.
   * @throws SvcError as `claimRows`
   */
  async claim(context: Context, client: Client, claiming: Omit<Claiming, 'rows'>): Promise<boolean> {
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
      return claimRows(ledger, { ...claiming, rows: await this.#rowsOf(ledger, claiming) });
    })();
    this.#last = claimed;
    return claimed;
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
    { whole, submitted }: { readonly whole: JobRows; readonly submitted: string },
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

type Rows = Pick<UploadSource, 'open'>;

/** The rows of a file that a claim has. */
export interface JoinedRows extends Taken {
  readonly file: DividedRows;
}

/** The rows of a file, by what is to be done with them. */
export interface Division {
  /** The rows that no claim has, in files none of which has a token twice. */
  readonly free: readonly DividedRows[];
  /** The rows that a claim has, for each claim. */
  readonly joined: readonly JoinedRows[];
  /** The number of rows whose tokens came from results of the cycle. They are up to date. */
  readonly made: number;
}

/** What is known of the rows to divide. */
interface Dividing {
  readonly source: Rows;
  /** Whether the rows name several merchants, so that a token may stand twice. */
  readonly isMixed: boolean;
}

/**
 * Divides the rows of a file among the claims that have them. Returns undefined if all rows are free and no token stands
 * twice, so that the file itself can be sent.
 */
export async function divideRows(
  context: Context,
  cycle: LedgerCycle,
  { source, isMixed }: Dividing,
  taken: readonly Taken[],
): Promise<Division | undefined> {
  const repeats = isMixed && (await repeatsToken(source));
  const born = await cycle.newTokens(await cycle.read());
  if (!repeats && taken.length === 0 && born.every(({ size }) => size === 0)) return undefined;
  const sets = await Promise.all(taken.map(({ claim }) => cycle.rowsOf(claim)));
  const groups = taken.map(() => new RowsFile(context));
  const free = new RowsFile(context);
  let made = 0;
  for await (const rows of readRequest(source.open())) {
    for (const row of rows) {
      const group = groups[RowSet.firstWith(sets, (salt) => keyOfRequestRow(salt, row))];
      if (group !== undefined) group.add(row.line);
      else if (RowSet.firstWith(born, (salt) => keyOfRequestToken(salt, row.token)) !== -1) made += 1;
      else free.add(row.line);
    }
    for (const file of [free, ...groups]) await file.flush();
  }
  if (!repeats && made === 0 && groups.every(({ rows }) => rows === 0)) return undefined;
  const joined: JoinedRows[] = [];
  for (const [index, one] of taken.entries()) {
    const file = await groups[index]?.finish();
    if (file) joined.push({ ...one, rows: file.check.rows, file });
  }
  const left = await free.finish();
  return { free: left === undefined ? [] : await withTokensOnce(context, left), joined, made };
}

/** Returns the error for rows whose jobs failed on another machine. The next command sends them. */
export function failedElsewhere(file: NamedFile, failed: readonly Taken[]): SvcError {
  const jobs = failed.map(({ claim }) => claim.job);
  const what = failed.map(
    ({ claim, rows }) =>
      `job ${claim.job} with ${countText(rows, 'row')} of ${file.name} failed: ${byText(claim)} sent it as ${claim.file.name}`,
  );
  return new SvcError('job_failed', `${what.join('; ')}; nothing was sent now`, {
    hint: `Nothing was billed for ${jobs.length === 1 ? 'that job' : 'these jobs'}. Run the same command again, which sends the rows in another one.`,
    next: ['au', 'status', jobs[0] ?? ''],
    retryable: true,
    facts: {
      ...(jobs.length === 1 ? { job: jobs[0] } : { jobs }),
      rows: failed.reduce((sum, { rows }) => sum + rows, 0),
    },
  });
}

export function cycleText({ cycle, isNamed }: Pick<NamedFile, 'cycle' | 'isNamed'>): string {
  return isNamed ? `cycle ${cycle}` : 'the ledger';
}

/** Says who sent the rows of a claim, when, and what became of its job. */
export function whoText({ claim, status }: Taken, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(claim.created_at)));
  const became = status === null ? 'not read in a dry run' : (status ?? 'no longer known to the service');
  return `sent by ${byText(claim)}, ${age} ago, job ${claim.job} (${became})`;
}
