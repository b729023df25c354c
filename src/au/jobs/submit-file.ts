import { isSvcError, SvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { namedFiles, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { option } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { knownTenant } from '../../cli/config/known-keys.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource } from '../../client/transfer/source.ts';
import {
  confirmRows,
  lookAtRows,
  reportBeginning,
  reportDivision,
  rowsOf,
  showPlan,
  type Submitting,
} from './before-sending.ts';
import { requireRecentResults } from './begin-cycle.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import { deliveryOf, standingClaims } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { type Division, type NamedFile, RowClaims } from './row-claims.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { type DividedRows, withTokensOnce } from '../request/rows-file.ts';
import type { FileJob, FileJobs } from './file-jobs.ts';
import { requireDestination } from '../results/merge.ts';
import {
  compareBeforeEntry,
  compareJobs,
  type Comparing,
  previewComparison,
  refuseUnknownJobs,
} from './compare-jobs.ts';
import { confirmWords } from './options.ts';
import { requireClearName } from '../ledger/cycle-names.ts';
import { finishUploads, sendRows, type Slice, slicesOf } from './send-rows.ts';
import { showJobs } from '../job/show-progress.ts';
import { creatorMemory, SpareJob } from '../job/spare-job.ts';
import { tenantOfKey, tenantOfSandbox } from '../job/tenant-of-key.ts';
import { outlast } from '../job/wait.ts';

/** What is done with a file. */
export type Decision =
  /** Its jobs are waited for, after rows that no job has were sent. */
  | {
      readonly kind: 'send';
      readonly out: string;
      /** Whether the results of all rows were received before, so that nothing is sent or waited for. */
      readonly wasDelivered: boolean;
    }
  /** The tokens of all rows came from results of the cycle. */
  | { readonly kind: 'nothing new' }
  | { readonly kind: 'planned' };

/** How often rows are divided again because other processes got some of them meanwhile. */
const MOST_DIVISIONS = 8;

/** How often a job is replaced that was removed before its file was uploaded. */
const MOST_JOBS = 3;

/** The rows of a file, by what is to be done with them. */
interface Divided {
  readonly named: NamedFile;
  /** The rows that no job has. */
  readonly free: readonly Pick<DividedRows, 'path' | 'check'>[];
  readonly joined: Division['joined'];
}

/** The submission of one request file: what the ledger has of it, and what it takes to send the rest. */
export class FileSubmission {
  readonly #context: Context;
  readonly #file: RequestFile;
  readonly #input: Submitting;
  readonly #ledger: CommandLedger;
  readonly #rows: RowClaims;
  /** Jobs of this command that were removed before anything was sent to them. */
  readonly #expired = new Set<string>();
  /** The rows of each job that got its claim in this command, and was not removed since. */
  readonly #sent = new Map<string, Slice>();
  #spare: SpareJob | undefined;
  #tenant: string | undefined;
  #divided: Divided | undefined;

  constructor(context: Context, file: RequestFile, input: Submitting) {
    this.#context = context;
    this.#file = file;
    this.#input = input;
    this.#ledger = new CommandLedger(context, { onlyReads: input.dryRun });
    this.#rows = new RowClaims(this.#ledger);
  }

  /**
   * Decides what to send, and asks the operator before it costs money. A dry run prints the plan.
   * @throws SvcError `config` for a damaged ledger, `usage` for a result file that exists, `conflict`, `declined`, `pending`
   *   for a cycle that must be confirmed
   */
  async decide(): Promise<Decision> {
    const { dryRun } = this.#input;
    const seen = dryRun ? await this.#tenantIfKey() : undefined;
    this.#tenant = dryRun ? (seen ?? (await this.#tenantWithoutRequest())) : await this.#tenantOfKey();
    requireKnownTenant(this.#context, dryRun ? seen : this.#tenant, 'nothing was uploaded');
    if (this.#tenant !== undefined) this.#input.checkTenant?.(this.#tenant);
    const out = this.#input.out ?? defaultOut(this.#input.file);
    if (this.#input.wait || this.#input.out !== undefined) await this.#checkDestination(out);
    const { free, joined } = (this.#divided = await this.#divide());
    if (free.length === 0 && joined.length === 0) return { kind: 'nothing new' };
    // A file that is about to be replaced may have the results of an earlier submission, but not those of new rows.
    if (free.length > 0 && this.#input.wait) await inspectTarget(out, this.#input.force);
    const look = lookAtRows(this.#context, this.#unsent, free);
    if (dryRun) {
      if (seen !== undefined) await this.#previewComparison(seen);
      await showPlan(this.#context, this.#file, free);
      return { kind: 'planned' };
    }
    await confirmRows(this.#context, this.#unsent, free, look);
    return { kind: 'send', out, wasDelivered: await this.#wasDelivered(this.#divided) };
  }

  /** Returns how many rows no job of the cycle has; undefined if the tenant is not known. Nothing is sent. */
  async countNewRows(): Promise<number | undefined> {
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const tenant = (client && (await tenantOfKey(client))) ?? (await this.#tenantWithoutRequest());
    if (tenant === undefined) return undefined;
    this.#input.checkTenant?.(tenant);
    const { division } = await this.#compare(tenant, client);
    return division === undefined ? this.#file.check.rows : rowsOf(division.free);
  }

  /**
   * Sends the rows that no job has, and goes on with uploads that an earlier command on this machine did not finish.
   * `onClaim` is called before the first claim.
   */
  async upload({ onClaim }: { readonly onClaim?: () => Promise<void> } = {}): Promise<void> {
    const { tenant } = this;
    this.#ledger.beforeFirstEntry(onClaim);
    const client = await this.#context.client();
    const { named, joined } = this.#known;
    const of = { name: named.cycle, tenant, ledger: this.#ledger, claims: joined.map(({ claim }) => claim) };
    await finishUploads(this.#context, client, of, showJobs(this.#context));
    const spare = await this.#spareJob();
    for (let division = 1; ; division += 1) {
      const slices = await slicesOf(this.#known.free);
      if (slices.length === 0) {
        // What this command sent was compared before. What it gets the results of was not.
        if (this.#sent.size === 0) compareBeforeEntry(this.#context, this.#ledger, this.again);
        return;
      }
      try {
        const places = new Map<string, number>();
        await sendRows(this.#context, client, slices, {
          ledger: this.#ledger,
          rows: this.#rows,
          spare,
          file: { ...this.#file, cycle: this.#known.named.cycle },
          comparing: this.#comparing(tenant),
          again: this.again,
          onEvent: showJobs(this.#context, { count: slices.length, places }),
          onCreated: (job, slice) => places.set(job, slice.number),
          onClaimed: (job, slice) => this.#sent.set(job, slice),
          onExpired: (job) => {
            this.#sent.delete(job);
            this.#expired.add(job);
            this.#context.notices.note(`job ${job} was removed before its file was uploaded`);
          },
        });
        return;
      } catch (error) {
        if (!(error instanceof RowsTaken) || division === MOST_DIVISIONS || this.#expired.size === MOST_JOBS)
          throw this.#withSentRows(error);
        // Jobs that got their claims meanwhile, also those of this command, have their rows from now on.
        const { named, division: again } = await this.#compare(tenant, client);
        this.#ledger.beforeFirstEntry(this.#sent.size === 0 ? onClaim : undefined);
        this.#divided = { named, free: again?.free ?? [this.#file], joined: again?.joined ?? [] };
      }
    }
  }

  /** Returns the jobs with rows of the file, as the ledger has them now. */
  async jobs(): Promise<FileJobs> {
    const { tenant } = this;
    const { named, joined } = this.#known;
    const opened = (await this.#ledger.open(tenant)).cycle(named.cycle);
    const entries = [...(await opened.read())];
    const claims = new Map(standingClaims(entries).map((claim) => [claim.job, claim]));
    const jobs: FileJob[] = [];
    for (const { claim, file } of joined)
      jobs.push({ claim, rows: { source: await fileSource(file.path), count: file.check.rows } });
    for (const [job, { source, rows }] of this.#sent) {
      // Rows that were divided again since are among the joined ones.
      if (joined.some((one) => one.claim.job === job)) continue;
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

  /** Returns the error for a job whose rows are free by now, so that results would lack them. */
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

  async #wasDelivered({ named, free, joined }: Divided): Promise<boolean> {
    if (free.length > 0) return false;
    const entries = await (await this.#ledger.open(this.tenant)).cycle(named.cycle).read();
    return joined.every(({ claim }) => deliveryOf(entries, claim.job) !== undefined);
  }

  /** The tenant whose ledger has the rows. */
  get tenant(): string {
    return this.#tenant ?? '';
  }

  /** The command that goes on with what was sent: the same one, where the file can be read again. */
  get again(): readonly string[] {
    if (this.#file.name !== STANDARD_INPUT) return this.words;
    const { options = [], cycle } = this.#input;
    return ['au', 'resume', ...(cycle === undefined ? [] : [cycle]), ...options];
  }

  /** The command that submits the file again, which resumes it. */
  get words(): readonly string[] {
    return [...this.#words, ...option('--cycle', this.#input.cycle)];
  }

  get #known(): Divided {
    if (this.#divided === undefined) throw new SvcError('bug', 'rows were to be sent before they were divided');
    return this.#divided;
  }

  async #spareJob(): Promise<SpareJob> {
    const client = await this.#context.client();
    return (this.#spare ??= new SpareJob(client, creatorMemory(this.#context, client)));
  }

  /** Returns the key's tenant. Where reads do not show it, a job does, which the first rows take. */
  async #tenantOfKey(): Promise<string> {
    const client = await this.#context.client();
    const tenant = await outlast(this.#context, this.#input.outlasts, () => tenantOfKey(client));
    if (tenant !== undefined) return tenant;
    return this.#ledger.tenantOf(await (await this.#spareJob()).get());
  }

  /** Returns the tenant that the key's reads show; undefined without a key, or with a note if the service does not respond. */
  async #tenantIfKey(): Promise<string | undefined> {
    let why = 'does not show the tenant of this key';
    try {
      const tenant = await tenantOfKey(await this.#context.client());
      if (tenant !== undefined) return tenant;
    } catch (error) {
      if (isSvcError(error, 'key_missing')) return undefined;
      if (!isSvcError(error, 'network', 'server')) throw error;
      why = `does not respond (${error.message})`;
    }
    this.#context.notices.note(
      `the service ${why}, so that its jobs were not compared with the ledger: the plan is what is known here`,
    );
    return undefined;
  }

  /** A dry run may have no key, so that it takes the tenant of the last check of this profile. */
  async #tenantWithoutRequest(): Promise<string | undefined> {
    const [profile, baseUrl] = [this.#context.settings.profile.value, serviceOf(this.#context)];
    if (baseUrl === 'sandbox') return tenantOfSandbox(await this.#context.client());
    return knownTenant(this.#context.system, profile, baseUrl)?.id;
  }

  /** Checks the destination of the results before any request. One with results may be what an earlier submission wrote. */
  async #checkDestination(out: string): Promise<void> {
    const inputs = namedFiles({ '[file]': this.#input.file === '-' ? undefined : this.#input.file });
    for (const file of namedFiles({ '--out': out })) refuseReplacing(this.#context.system, file, inputs);
    await requireDestination({ out, force: this.#input.force });
  }

  /**
   * Compares the jobs with the ledger if something would be sent. Warns of jobs that may stop the upload where a dry
   * run cannot tell whose they are.
   * @throws SvcError `outcome_unknown` where the upload would stop
   */
  async #previewComparison(tenant: string): Promise<void> {
    if (this.#known.free.length === 0) return;
    const client = await this.#context.client();
    const creator = await creatorMemory(this.#context, client)?.known();
    const jobs = await previewComparison(client, this.#comparing(tenant), creator);
    if (jobs === undefined) showJobs(this.#context)({ kind: 'unrecorded', jobs });
    else if (jobs.length > 0)
      this.#context.notices.warn(
        `the ledger does not know ${countText(jobs.length, 'job')}, which stop the upload if this key created them: ${jobs.join(', ')}`,
      );
  }

  /**
   * Compares the jobs with the ledger before this command adds anything to it: what a ledger that was restored to an older
   * time lacks can only be put back while nothing was added.
   * @throws SvcError `outcome_unknown` as the upload itself
   */
  async #requireKnownJobs(tenant: string): Promise<void> {
    if (!this.#ledger.isShared && !this.#input.onlyRecorded) return;
    const client = await this.#context.client();
    const comparing = this.#comparing(tenant);
    const spare = await this.#spareJob();
    const creator = await spare.creator();
    if (creator !== undefined) return refuseUnknownJobs(client, comparing, creator);
    await compareJobs(client, { ...comparing, job: await spare.get(), again: comparing.words });
  }

  #comparing(tenant: string): Comparing {
    const { confirmed, onlyRecorded } = this.#input;
    return { ledger: this.#ledger, tenant, onlyRecorded, newLedger: confirmed.newLedger, words: this.words };
  }

  /** Compares the file with the ledger, and says which rows other jobs have. */
  async #divide(): Promise<Divided> {
    const { name } = this.#file;
    const tenant = this.#tenant;
    if (tenant === undefined) {
      requireClearName(this.#input.cycle);
      const named = { name, cycle: this.#input.cycle ?? '', isNamed: this.#input.cycle !== undefined };
      this.#context.notices.note(
        `the tenant of this profile is not known here, so that ${name} was not compared with the ledger: rows that were sent before count as new`,
      );
      return { named, free: await withTokensOnce(this.#context, this.#file), joined: [] };
    }
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const { named, division, rows, isBegun } = await this.#compare(tenant, client);
    if (!isBegun) requireClearName(this.#input.cycle);
    if (!isBegun)
      await reportBeginning(
        this.#context,
        { ...this.#unsent, words: this.#words },
        { tenant, cycle: named.cycle, rows, client },
      );
    if (division === undefined) return { named, free: [this.#file], joined: [] };
    if (division.free.length === 0 && !named.isNamed) {
      const entries = await (await this.#ledger.open(tenant)).cycle(named.cycle).read();
      const how = { name, cycle: named.cycle, words: this.#words, now: this.#now(client) };
      requireRecentResults(entries, { ...how, joined: division.joined });
    }
    reportDivision(this.#context, this.#file, division, named, this.#now(client));
    return { named, ...division };
  }

  async #compare(tenant: string, client: Client | undefined) {
    if (client) this.#ledger.beforeFirstEntry(() => this.#requireKnownJobs(tenant));
    const newer = async () => (await this.#spareJob()).get();
    // Another machine with the ledger may have sent the file of a job that this command saw expire.
    const how = { newer, ended: this.#ledger.isShared ? undefined : this.#expired };
    const compared = await outlast(this.#context, this.#input.outlasts, () =>
      this.#rows.compare(this.#context, client, { tenant, file: this.#file, cycle: this.#input.cycle, ...how }),
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

  get #unsent() {
    return { file: this.#file, input: this.#input, ledger: this.#ledger, words: this.words };
  }

  #now(client: Client | undefined): number {
    return client?.now() ?? this.#context.clock.now();
  }

  /** Returns an error that says of some rows that nothing was sent, with what was sent of the others. */
  #withSentRows(error: unknown): unknown {
    const sent = [...this.#sent.values()].reduce((sum, { rows }) => sum + rows, 0);
    if (!isSvcError(error) || sent === 0 || !error.message.includes(NOTHING)) return error;
    const rows = `${formatNumber(sent)} of ${countText(this.#file.check.rows, 'row')}`;
    return error.with({ message: error.message.replace(NOTHING, `no more rows were sent: ${rows} were sent before`) });
  }
}

const NOTHING = 'nothing was sent';

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}
