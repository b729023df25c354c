// Submits one request file: compares its rows with the ledger, asks before rows are billed, and sends the free rows.

import { firstOf } from '../job/job.ts';
import { showJobs } from '../job/show-progress.ts';
import { SpareJob, creatorMemory } from '../job/spare-job.ts';
import { type KeyFacts, readKeyFacts, readTenantOfKey, tenantOfSandbox } from '../job/tenant-of-key.ts';
import { outlast } from '../job/wait.ts';
import {
  type SubmitInput,
  confirmMerchants,
  confirmRows,
  countRows,
  refuseFreedRows,
  reportDivision,
  reportNewCycle,
  reviewFreeRows,
  showPlan,
} from './before-sending.ts';
import { type CompareAgain, refuseOldResults } from './begin-cycle.ts';
import type { NamedFile } from './claim-texts.ts';
import { compareBeforeEntry, compareJobs, previewComparison, refuseUnknownJobs } from './compare-jobs.ts';
import type { Division } from './divide-rows.ts';
import type { FileJob, FileJobs } from './file-jobs.ts';
import { confirmWords } from './options.ts';
import { RowClaims } from './row-claims.ts';
import { type Slice, finishUploads, sendRows, slicesOf } from './send-rows.ts';
import type { Comparison } from './unknown-jobs.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import { deliveryOf, standingClaims, wereResultsRead } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { requireClearName } from '../ledger/cycle-names.ts';
import type { Entry } from '../ledger/entry.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { type DividedRows, withTokensOnce } from '../request/rows-file.ts';
import { requireDestination } from '../results/merge.ts';
import { isOwnResults } from '../results/own-results.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { option } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { knownTenant } from '../../cli/config/known-keys.ts';
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

/** The rows of a file: free, or in a job. */
interface DividedFile {
  readonly named: NamedFile;
  /** The rows without a claim. */
  readonly free: readonly Pick<DividedRows, 'path' | 'check'>[];
  /** The check of these rows together, where they are not all rows of the file. */
  readonly freeCheck?: Division['freeCheck'];
  readonly joined: Division['joined'];
  /** The rows whose tokens came from results of the cycle; undefined if none did. */
  readonly upToDate?: Division['upToDate'];
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
  /** The client of a dry run, once the service showed it the tenant. It only reads. */
  #answered: Client | undefined;
  #tenant: string | undefined;
  /** The pending jobs that may have rows of the file, of which an empty ledger knows nothing. */
  #pendingBefore: ReadonlySet<string> = new Set();
  #divided: DividedFile | undefined;
  /** The comparisons with other cycles that were made before the operator was asked. */
  readonly #compared: CompareAgain[] = [];

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
    const { tenant: shownTenant, pending } = dryRun ? await this.#factsIfKey() : await this.#factsOfKey();
    if (shownTenant !== undefined) this.#pendingBefore = await this.#ledger.pendingBefore(shownTenant, pending);
    this.#tenant = shownTenant ?? (await this.#tenantWithoutRequest());
    requireKnownTenant(this.#context, shownTenant, 'nothing was uploaded');
    if (this.#tenant !== undefined) this.#input.checkTenant?.(this.#tenant);
    const { free, joined } = (this.#divided = await this.#divide());
    if (free.length === 0 && joined.length === 0) return { kind: 'nothing new' };
    // A file cannot have results that nobody has read, so it would stop the command after the wait.
    if (this.#input.wait && !(await this.#everyJob(this.#divided, wereResultsRead))) {
      const isOwn = this.#tenant !== undefined && (await isOwnResults(this.#context, (await this.jobs()).cycle, out));
      await inspectTarget(out, this.#input.force || isOwn);
    }
    const strangeText = reviewFreeRows(this.#context, this.#unsentFile, this.#divided);
    await confirmMerchants(this.#context, this.#unsentFile, free.length);
    if (dryRun) {
      if (shownTenant !== undefined) await this.#previewComparison(shownTenant);
      await showPlan(this.#context, this.#file, free);
      return { kind: 'planned' };
    }
    await confirmRows(this.#context, this.#unsentFile, free, strangeText);
    return { kind: 'send', out, wasDelivered: await this.#everyJob(this.#divided, isDelivered) };
  }

  /** Returns the number of free rows; undefined if the tenant is not known. Sends nothing. */
  async countNewRows(): Promise<number | undefined> {
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const tenant = (client && (await readTenantOfKey(client))) ?? (await this.#tenantWithoutRequest());
    if (tenant === undefined) return undefined;
    this.#input.checkTenant?.(tenant);
    const { division } = await this.#compare(tenant, client);
    return division === undefined ? this.#file.check.rows : countRows(division.free);
  }

  /**
   * Sends the free rows, and finishes uploads that an earlier command on this machine began. Calls `beforeClaim` before the first
   * claim, and `onClaimed` after each claim, before its upload.
   */
  async upload(callbacks: ClaimCallbacks = {}): Promise<void> {
    await this.#sendFree(callbacks);
    const { named, upToDate } = this.#requireDivided;
    if (upToDate !== undefined && upToDate.size > 0)
      await this.#rows.leaveOutUpToDate(this.tenant, named.cycle, upToDate);
  }

  async #sendFree({ beforeClaim, onClaimed }: ClaimCallbacks): Promise<void> {
    const { tenant } = this;
    this.#ledger.beforeFirstEntry(beforeClaim);
    const client = await this.#context.client();
    const { named, joined } = this.#requireDivided;
    const begun = { name: named.cycle, tenant, ledger: this.#ledger, claims: joined.map(({ claim }) => claim) };
    await finishUploads(this.#context, client, begun, showJobs(this.#context));
    const spare = await this.#spareJob();
    for (let division = 1; ; division += 1) {
      const slices = await slicesOf(this.#requireDivided.free);
      if (slices.length === 0) {
        // An upload compares the jobs with the ledger. Without one, the entries for results still need the comparison.
        if (this.#sent.size === 0) compareBeforeEntry(this.#context, this.#ledger, this.again);
        return;
      }
      try {
        const places = new Map<string, number>();
        await sendRows(this.#context, client, slices, {
          ledger: this.#ledger,
          rows: this.#rows,
          spare,
          file: { ...this.#file, cycle: this.#requireDivided.named.cycle },
          comparing: this.#comparing(tenant),
          again: this.again,
          compareAgain: async () => {
            for (const compareAgain of this.#compared) await compareAgain();
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
        return;
      } catch (error) {
        if (!(error instanceof RowsTaken) || division === MAX_DIVISIONS || this.#expired.size === MAX_REMOVED_JOBS)
          throw this.#withSentRows(error);
        // Rows that jobs got meanwhile, also from this command, are no longer free.
        const { named, division: again } = await this.#compare(tenant, client);
        this.#ledger.beforeFirstEntry(this.#sent.size === 0 ? beforeClaim : undefined);
        this.#divided = { named, ...again, free: again?.free ?? [this.#file], joined: again?.joined ?? [] };
      }
    }
  }

  /** Returns the jobs in the ledger that have rows of the file. */
  async jobs(): Promise<FileJobs> {
    const { tenant } = this;
    const divided = this.#requireDivided;
    const { named, joined } = divided;
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
    return this.#tenant ?? '';
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
    return [...this.#words, ...option('--cycle', this.#input.cycle)];
  }

  get #requireDivided(): DividedFile {
    if (this.#divided === undefined) throw new SvcError('bug', 'the rows of the file were not divided yet');
    return this.#divided;
  }

  async #spareJob(): Promise<SpareJob> {
    const client = await this.#context.client();
    return (this.#spare ??= new SpareJob(client, creatorMemory(this.#context, client)));
  }

  /** Reads the key's tenant. If no read shows it, creates a job, which shows the tenant and gets the first rows. */
  async #factsOfKey(): Promise<KeyFacts> {
    const client = await this.#context.client();
    const facts = await outlast(this.#context, this.#input.outlasts, () => readKeyFacts(client));
    if (facts.tenant !== undefined) return facts;
    // A command that ends after it creates the job leaves it pending, without a file.
    if (facts.pending.length === 0) await this.#ledger.noteFirstJob();
    const job = await (await this.#spareJob()).get();
    await this.#ledger.noteFirstJob(job.id);
    return { ...facts, tenant: this.#ledger.tenantOf(job) };
  }

  /** Reads the key's tenant. It is undefined without a key, or with a note if the service does not show it. */
  async #factsIfKey(): Promise<KeyFacts> {
    let why = 'shows no job of this key yet';
    try {
      const client = await this.#context.client();
      const facts = await readKeyFacts(client);
      if (facts.tenant !== undefined) {
        this.#answered = client;
        return facts;
      }
    } catch (error) {
      if (isSvcError(error, 'key_missing')) return NO_FACTS;
      if (!isSvcError(error, 'network', 'server')) throw error;
      why = `does not respond (${error.message})`;
    }
    this.#context.notices.note(
      `the service ${why}, so its jobs were not compared with the ledger: the plan is made from the ledger alone`,
    );
    return NO_FACTS;
  }

  /** Returns the tenant of the profile's last key check, since a dry run needs no key. */
  async #tenantWithoutRequest(): Promise<string | undefined> {
    const [profile, baseUrl] = [this.#context.settings.profile.value, serviceOf(this.#context)];
    if (baseUrl === 'sandbox') return tenantOfSandbox(await this.#context.client());
    return knownTenant(this.#context.system, profile, baseUrl)?.id;
  }

  /** Checks the destination of the results before any request. A results file from an earlier submission is accepted. */
  async #checkDestination(out: string): Promise<void> {
    const inputs = namedFiles({ '[file]': this.#input.file === '-' ? undefined : this.#input.file });
    for (const file of namedFiles({ '--out': out })) refuseReplacing(this.#context.system, file, inputs);
    await requireDestination({ out, force: this.#input.force });
  }

  /**
   * Compares the jobs with the ledger for a dry run, if it has free rows. Warns of jobs that stop the upload if this key created
   * them.
   * @throws SvcError `outcome_unknown` if the upload would stop
   */
  async #previewComparison(tenant: string): Promise<void> {
    if (this.#requireDivided.free.length === 0) return;
    const client = await this.#context.client();
    const creator = await creatorMemory(this.#context, client)?.known();
    const jobs = await previewComparison(client, this.#comparing(tenant), creator);
    if (jobs === undefined) showJobs(this.#context)({ kind: 'unrecorded', jobs });
    else if (jobs.length > 0)
      this.#context.notices.warn(
        `the ledger does not know ${countText(jobs.length, 'job')}, which stop the upload if this key created them: ${firstOf(jobs)}`,
      );
  }

  /**
   * Compares the jobs with the ledger before the first entry of this command: once anything is added to a ledger that was
   * restored to an older time, its lost entries can no longer be put back.
   * @throws SvcError `outcome_unknown` as the upload itself
   */
  async #requireKnownJobs(tenant: string): Promise<void> {
    if (!this.#ledger.isShared && !this.#input.onlyRecorded) return;
    const client = await this.#context.client();
    const comparison = this.#comparing(tenant);
    const spare = await this.#spareJob();
    const creator = await spare.creator();
    if (creator !== undefined) return refuseUnknownJobs(client, comparison, creator);
    await compareJobs(client, { ...comparison, job: await spare.get(), again: comparison.words });
  }

  #comparing(tenant: string): Comparison {
    const { confirmed, onlyRecorded } = this.#input;
    return {
      ledger: this.#ledger,
      tenant,
      onlyRecorded,
      newLedger: confirmed.newLedger,
      words: this.words,
      pendingBefore: this.#pendingBefore,
    };
  }

  /** Compares the file with the ledger, and notes which rows other jobs have. */
  async #divide(): Promise<DividedFile> {
    const { name } = this.#file;
    const tenant = this.#tenant;
    if (tenant === undefined) {
      requireClearName(this.#input.cycle);
      const named = { name, cycle: this.#input.cycle ?? '', isNamed: this.#input.cycle !== undefined };
      this.#context.notices.note(
        `the tenant of this profile is not known here, so ${name} was not compared with the ledger: rows that were sent before count as new`,
      );
      return { named, free: await withTokensOnce(this.#context, this.#file), joined: [] };
    }
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const { named, division, rows, isBegun, freedSince } = await this.#compare(tenant, client);
    const unsent = { ...this.#unsentFile, words: this.#words };
    // A dry run changes no claim, and yet predicts by the service's time and jobs.
    const asked = client ?? this.#answered;
    const now = asked?.now() ?? this.#context.clock.now();
    const cycle = { tenant, cycle: named.cycle, rows, client: asked };
    if (!isBegun) {
      requireClearName(this.#input.cycle);
      this.#compared.push(await reportNewCycle(this.#context, unsent, cycle));
    } else if (freedSince !== undefined) {
      for (const { path, check } of division?.free ?? [this.#file]) {
        const freeRows = await this.#rows.read(tenant, { sha256: check.sha256, source: await fileSource(path) });
        const freed = { ...cycle, rows: freeRows };
        this.#compared.push(await refuseFreedRows(this.#context, unsent, freed, freedSince));
      }
    }
    if (division === undefined) return { named, free: [this.#file], joined: [] };
    if (division.free.length === 0 && !named.isNamed) {
      const entries = await (await this.#ledger.open(tenant)).cycle(named.cycle).read();
      const before = { name, cycle: named.cycle, words: this.#words, joined: division.joined };
      refuseOldResults(entries, { ...before, now });
    }
    reportDivision(this.#context, this.#file, division, named, now);
    return { named, ...division };
  }

  async #compare(tenant: string, client: Client | undefined) {
    if (client) this.#ledger.beforeFirstEntry(() => this.#requireKnownJobs(tenant));
    const createJob = async () => (await this.#spareJob()).get();
    // With a shared ledger, another machine may have sent the file of a job that this command saw expire.
    const jobsWithoutFile = this.#ledger.isShared ? undefined : this.#expired;
    const toCompare = { tenant, file: this.#file, cycle: this.#input.cycle, createJob, jobsWithoutFile };
    const compared = await outlast(this.#context, this.#input.outlasts, () =>
      this.#rows.compare(this.#context, client, toCompare),
    );
    // From here on, the upload compares the jobs itself.
    this.#ledger.beforeFirstEntry(undefined);
    return compared;
  }

  /** The command that submits the file, without its cycle. */
  get #words(): readonly string[] {
    const { name } = this.#file;
    const { accept, confirmed, onlyRecorded, options = [] } = this.#input;
    const file = name === STANDARD_INPUT ? '-' : name;
    const recorded = onlyRecorded ? ['--only-recorded'] : [];
    return ['au', 'submit', file, ...option('--accept', accept), ...confirmWords(confirmed), ...recorded, ...options];
  }

  get #unsentFile() {
    return { file: this.#file, input: this.#input, ledger: this.#ledger, words: this.words };
  }

  /** Corrects an error that says that nothing was sent, if this command sent other rows before. */
  #withSentRows(error: unknown): unknown {
    const sent = [...this.#sent.values()].reduce((sum, { rows }) => sum + rows, 0);
    if (!isSvcError(error) || sent === 0 || !NOTHING.test(error.message)) return error;
    const rows = `${formatNumber(sent)} of ${countText(this.#file.check.rows, 'row')}`;
    return error.with({ message: error.message.replace(NOTHING, `no more rows were sent: ${rows} were sent before`) });
  }
}

/** What is known of a key that the service does not show. */
const NO_FACTS: KeyFacts = { tenant: undefined, pending: [] };

const NOTHING = /nothing was (?:sent|submitted)/;

function isDelivered(entries: readonly Entry[], job: string): boolean {
  return deliveryOf(entries, job) !== undefined;
}

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}
