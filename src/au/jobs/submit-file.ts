// Submits one request file: compares its rows with the ledger, asks before rows are billed, and sends the free rows.

import { showJobs } from '../job/show-progress.ts';
import { SpareJob, creatorMemory } from '../job/spare-job.ts';
import { readTenantOfKey } from '../job/tenant-of-key.ts';
import {
  type SubmitInput,
  confirmMerchants,
  confirmRows,
  countRows,
  reviewFreeRows,
  showPlan,
} from './before-sending.ts';
import { compareBeforeEntry, previewComparison } from './compare-jobs.ts';
import { type DividedFile, type FileToSubmit, compareFile, divideFile, fileCommand } from './divide-file.ts';
import { comparisonFor, findTenant, tenantWithoutRequest } from './find-tenant.ts';
import type { FileJob, FileJobs } from './file-jobs.ts';
import { RowClaims } from './row-claims.ts';
import { type Slice, finishUploads, sendRows, slicesOf } from './send-rows.ts';
import type { Comparison } from './unknown-jobs.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import { deliveryOf, standingClaims, wereResultsRead } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { Entry } from '../ledger/entry.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { requireDestination } from '../results/merge.ts';
import { isOwnResults } from '../results/own-results.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource } from '../../client/transfer/source.ts';

/** What the command does with a file. */
export type Decision =
  /** It sends the free rows, if any, and waits for all jobs of the file. */
  | {
      readonly kind: 'send';
      readonly out: string;
      /** Whether the results of all rows were received before, so that there is nothing to send or to wait for. */
      readonly wasDelivered: boolean;
    }
  /** It sends nothing, because the tokens of all rows came from results of the cycle. */
  | { readonly kind: 'nothing new' }
  /** It printed the plan of a dry run. */
  | { readonly kind: 'planned' };

/** How often rows are divided again after other processes claimed some of them. */
const MAX_DIVISIONS = 8;

/** How many jobs may be removed before their upload until the command gives up. */
const MAX_REMOVED_JOBS = 3;

interface ClaimCallbacks {
  readonly beforeClaim?: () => Promise<void>;
  readonly onClaimed?: () => void;
}

/** The submission of one request file: decide, upload, then list the jobs with rows of the file. */
export class FileSubmission {
  readonly #context: Context;
  readonly #file: RequestFile;
  readonly #input: SubmitInput;
  readonly #ledger: CommandLedger;
  readonly #rows: RowClaims;
  /** Jobs of this command that were removed before anything was sent to them. */
  readonly #expired = new Set<string>();
  /** The rows that this command claimed, by job. */
  readonly #sent = new Map<string, Slice>();
  #spare: SpareJob | undefined;
  #divided: DividedFile | undefined;

  constructor(context: Context, file: RequestFile, input: SubmitInput) {
    this.#context = context;
    this.#file = file;
    this.#input = input;
    this.#ledger = new CommandLedger(context, { onlyReads: input.dryRun });
    this.#rows = new RowClaims(this.#ledger);
  }

  /**
   * Decides what to send, and asks the operator before rows are billed. A dry run prints the plan.
   * @throws SvcError `config` for a damaged ledger, `usage` for a result file that exists, `conflict`, `declined`, `pending`
   *   for a cycle that must be confirmed
   */
  async decide(): Promise<Decision> {
    const { dryRun } = this.#input;
    const out = this.#input.out ?? defaultOut(this.#input.file);
    if (this.#input.wait || this.#input.out !== undefined) await this.#checkDestination(out);
    const { comparing, client } = await findTenant(this.#context, this.#toSubmit);
    const divided = (this.#divided = await divideFile(this.#context, this.#toSubmit, comparing, client));
    const { free, joined } = divided;
    if (free.length === 0 && joined.length === 0) return { kind: 'nothing new' };
    // A file cannot have results that nobody has read, so it would stop the command after the wait.
    if (this.#input.wait && !(await this.#everyJob(divided, wereResultsRead))) {
      const isOwn = comparing !== undefined && (await isOwnResults(this.#context, (await this.jobs()).cycle, out));
      await inspectTarget(out, this.#input.force || isOwn);
    }
    const unsent = { ...this.#toSubmit, words: this.words };
    const strangeText = reviewFreeRows(this.#context, unsent, divided);
    await confirmMerchants(this.#context, unsent, free.length);
    if (dryRun) {
      if (comparing && client && free.length > 0) await previewComparison(this.#context, client, comparing);
      await showPlan(this.#context, this.#file, free);
      return { kind: 'planned' };
    }
    await confirmRows(this.#context, unsent, free, strangeText);
    return { kind: 'send', out, wasDelivered: await this.#everyJob(divided, isDelivered) };
  }

  /** Returns the number of free rows; undefined if the tenant is not known. Sends nothing. */
  async countNewRows(): Promise<number | undefined> {
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const tenant = (client && (await readTenantOfKey(client))) ?? (await tenantWithoutRequest(this.#context));
    if (tenant === undefined) return undefined;
    this.#input.checkTenant?.(tenant);
    const comparing = comparisonFor(this.#toSubmit, tenant);
    const { division } = await compareFile(this.#context, this.#toSubmit, comparing, client);
    return division === undefined ? this.#file.check.rows : countRows(division.free);
  }

  /**
   * Sends the free rows, and finishes uploads that an earlier command on this machine began. Calls `beforeClaim` before the first
   * claim, and `onClaimed` after each claim, before its upload.
   */
  async upload(callbacks: ClaimCallbacks = {}): Promise<void> {
    const { tenant, named, joined } = this.#known;
    this.#ledger.beforeFirstEntry(callbacks.beforeClaim);
    const client = await this.#context.client();
    const begun = { name: named.cycle, tenant, ledger: this.#ledger, claims: joined.map(({ claim }) => claim) };
    await finishUploads(this.#context, client, begun, showJobs(this.#context));
    await this.#sendFree(client, callbacks);
    const { named: sentAs, upToDate } = this.#known;
    if (upToDate !== undefined && upToDate.size > 0) await this.#rows.leaveOutUpToDate(tenant, sentAs.cycle, upToDate);
  }

  async #sendFree(client: Client, { beforeClaim, onClaimed }: ClaimCallbacks): Promise<void> {
    for (let division = 1; ; division += 1) {
      const { free, comparing, compared } = this.#known;
      const slices = await slicesOf(free);
      if (slices.length === 0) {
        // An upload compares the jobs with the ledger. Without one, the entries for results still need the comparison.
        if (this.#sent.size === 0) compareBeforeEntry(this.#context, this.#ledger, this.again);
        return;
      }
      try {
        return await this.#sendSlices(client, slices, onClaimed);
      } catch (error) {
        if (!(error instanceof RowsTaken) || division === MAX_DIVISIONS || this.#expired.size === MAX_REMOVED_JOBS)
          throw this.#withSentRows(error);
        // Rows that jobs got meanwhile, also from this command, are no longer free.
        const { named, division: again } = await compareFile(this.#context, this.#toSubmit, comparing, client);
        this.#ledger.beforeFirstEntry(this.#sent.size === 0 ? beforeClaim : undefined);
        this.#divided = { named, comparing, compared, ...(again ?? { free: [this.#file], joined: [] }) };
      }
    }
  }

  async #sendSlices(client: Client, slices: readonly Slice[], onClaimed: ClaimCallbacks['onClaimed']): Promise<void> {
    const { named, comparing, compared } = this.#known;
    const places = new Map<string, number>();
    await sendRows(this.#context, client, slices, {
      ledger: this.#ledger,
      rows: this.#rows,
      spare: await this.#spareJob(),
      file: { ...this.#file, cycle: named.cycle },
      comparing,
      again: this.again,
      compareAgain: async () => {
        for (const compareAgain of compared) await compareAgain();
      },
      onEvent: showJobs(this.#context, { count: slices.length, places }),
      onCreated: (job, slice) => places.set(job, slice.number),
      onClaimed: (job, slice) => {
        this.#sent.set(job, slice);
        onClaimed?.();
      },
      onExpired: (job) => {
        this.#sent.delete(job);
        this.#expired.add(job);
        this.#context.notices.note(`job ${job} was removed before its file was uploaded`);
      },
    });
  }

  /** Returns the jobs in the ledger that have rows of the file. */
  async jobs(): Promise<FileJobs> {
    const divided = this.#known;
    const { tenant, named, joined } = divided;
    const opened = (await this.#ledger.open(tenant)).cycle(named.cycle);
    const entries = [...(await opened.read())];
    const claims = new Map(standingClaims(entries).map((claim) => [claim.job, claim]));
    const jobs: FileJob[] = [];
    for (const { claim, file } of joined)
      jobs.push({ claim, rows: { source: await fileSource(file.path), count: file.check.rows } });
    for (const [job, { source, rows }] of this.#claimedSince(divided)) {
      const claim = claims.get(job);
      if (claim === undefined) throw this.#freedError(job);
      jobs.push({ claim, rows: { source, count: rows } });
    }
    const freed = jobs.find(({ claim }) => !claims.has(claim.job));
    if (freed) throw this.#freedError(freed.claim.job);
    return {
      file: this.#file,
      jobs,
      isNamed: named.isNamed,
      cycle: { name: named.cycle, tenant, ledger: this.#ledger, cycle: opened, entries },
    };
  }

  /** Returns the error for a job whose claim ended: the results would lack its rows. */
  #freedError(job: string): SvcError {
    return new SvcError('job_failed', `job ${job} has no rows of ${this.#file.name} any more: it failed or was freed`, {
      hint: 'Submit the file again, which sends these rows in another job:',
      next: this.words,
      facts: { job },
    });
  }

  /** The jobs that got rows of the file in this command. */
  get sentNow(): ReadonlySet<string> {
    return new Set(this.#sent.keys());
  }

  /** Whether jobs are known to have rows of the file. */
  get hasJobs(): boolean {
    return this.#sent.size > 0 || (this.#divided?.joined ?? []).length > 0;
  }

  /** Tells whether no row of the file is free, and the entries of the ledger say something of each of its jobs. */
  async #everyJob(
    { named, free, joined }: DividedFile,
    saysOf: (entries: readonly Entry[], job: string) => boolean,
  ): Promise<boolean> {
    if (free.length > 0) return false;
    const entries = await (await this.#ledger.open(this.tenant)).cycle(named.cycle).read();
    return joined.every(({ claim }) => saysOf(entries, claim.job));
  }

  /** The tenant whose ledger gets the rows. */
  get tenant(): string {
    return this.#known.tenant;
  }

  /**
   * The command that continues the submission: the same command, unless the file came from standard input and jobs have all of
   * its rows. Then they are continued without it.
   */
  get again(): readonly string[] {
    const divided = this.#divided;
    if (this.#file.name !== STANDARD_INPUT || divided === undefined || this.#hasUnclaimed(divided)) return this.words;
    return ['au', 'resume', divided.named.cycle, ...(this.#input.options ?? [])];
  }

  /** Tells whether some rows were free when they were last divided, and this command claimed only others since. */
  #hasUnclaimed(divided: DividedFile): boolean {
    const claimed = this.#claimedSince(divided).reduce((sum, [, { rows }]) => sum + rows, 0);
    return countRows(divided.free) > claimed;
  }

  /** The rows that this command claimed since the rows were divided, by job. Those that it claimed before are joined rows. */
  #claimedSince({ joined }: DividedFile): (readonly [job: string, rows: Slice])[] {
    return [...this.#sent].filter(([job]) => !joined.some(({ claim }) => claim.job === job));
  }

  /** The commands that a poll of its jobs names. */
  get polling() {
    return { again: this.again, resubmit: this.words };
  }

  /** The command that submits the file again, with its cycle. */
  get words(): readonly string[] {
    return fileCommand(this.#toSubmit, this.#input.cycle);
  }

  /** The divided rows of a file whose tenant is known. Only a dry run goes on without a tenant, and it sends nothing. */
  get #known(): DividedFile & { readonly comparing: Comparison; readonly tenant: string } {
    const { comparing } = this.#divided ?? {};
    if (this.#divided === undefined || comparing === undefined)
      throw new SvcError('bug', 'the rows of the file were not compared with a ledger yet');
    return { ...this.#divided, comparing, tenant: comparing.tenant };
  }

  get #toSubmit(): FileToSubmit {
    const spareJob = () => this.#spareJob();
    return {
      file: this.#file,
      input: this.#input,
      ledger: this.#ledger,
      rows: this.#rows,
      spareJob,
      expired: this.#expired,
    };
  }

  async #spareJob(): Promise<SpareJob> {
    const client = await this.#context.client();
    return (this.#spare ??= new SpareJob(client, creatorMemory(this.#context, client)));
  }

  /** Checks the destination of the results before any request. A results file from an earlier submission is accepted. */
  async #checkDestination(out: string): Promise<void> {
    const inputs = namedFiles({ '[file]': this.#input.file === '-' ? undefined : this.#input.file });
    for (const file of namedFiles({ '--out': out })) refuseReplacing(this.#context.system, file, inputs);
    await requireDestination({ out, force: this.#input.force });
  }

  /** Corrects an error that says that nothing was sent, if this command sent other rows before. */
  #withSentRows(error: unknown): unknown {
    const sent = [...this.#sent.values()].reduce((sum, { rows }) => sum + rows, 0);
    if (!isSvcError(error) || sent === 0 || !NOTHING.test(error.message)) return error;
    const rows = `${formatNumber(sent)} of ${countText(this.#file.check.rows, 'row')}`;
    return error.with({ message: error.message.replace(NOTHING, `no more rows were sent: ${rows} were sent before`) });
  }
}

const NOTHING = /nothing was (?:sent|submitted)/;

function isDelivered(entries: readonly Entry[], job: string): boolean {
  return deliveryOf(entries, job) !== undefined;
}

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}
