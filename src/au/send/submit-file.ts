import path from 'node:path';
import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { withLock } from '../../base/files/lock.ts';
import { isOn } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { option } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { Client } from '../../client/api/client.ts';
import { knownTenant } from '../../cli/config/cache.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { countText, fixedPercent, formatDuration, formatNumber } from '../../cli/output/time.ts';
import { otherCycles, requireOtherRows } from '../ledger/begin-cycle.ts';
import { cycleText, knownText, madeText, whoText } from '../ledger/claim-errors.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { requireRecentResults } from '../ledger/old-results.ts';
import type { Division } from '../ledger/divide-rows.ts';
import { annotateWarning } from '../request/annotations.ts';
import type { Check } from '../request/checks.ts';
import { implausibleFile } from '../request/implausible-file.ts';
import { strangeTokens } from '../request/overview.ts';
import { withTokensOnce } from '../request/tokens-once.ts';
import {
  checkedFileRow,
  checkedFileView,
  noteOverview,
  type RequestFile,
  STANDARD_INPUT,
} from '../request/open-request-file.ts';
import { checkDestination } from '../results/merge.ts';
import { requireClearName } from '../run/cycle-name.ts';
import { findOutdated, findRun, isExactly, requireRecent } from '../run/find-run.ts';
import { isUntouched, type RunRecord, statusOf } from '../run/record.ts';
import { everyRun, jobsOf, knownJobs, runsRoot } from '../run/recorded-runs.ts';
import { applyToRun } from '../run/run.ts';
import { removeUnborn, type RunDirectory, runNames } from '../run/run-directory.ts';
import { everyRecord, isOnThisMachine, tenantText } from '../run/run-view.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { beginRun } from './begin-run.ts';
import { compareJobs, type Comparing, previewComparison, refuseUnknownJobs } from './compare-jobs.ts';
import { type Confirmed, confirmWords } from './confirm-options.ts';
import { inCycleSince } from './cycle-age.ts';
import { resultsReader } from './read-results.ts';
import { showRun } from './show-progress.ts';
import { creatorMemory, SpareJob } from './spare-job.ts';
import { confirmRows, partsToUpload, uploadRun } from './upload-run.ts';

/** The lock, in the directory of runs, under which a run begins. */
const BEGIN_LOCK = 'begin.lock';

/** What the operator asked for. */
export interface Submitting {
  /** The request file as typed. */
  readonly file: string;
  /** Where to write the results. */
  readonly out: string | undefined;
  readonly wait: boolean;
  readonly force: boolean;
  readonly cycle: string | undefined;
  readonly dryRun: boolean;
  readonly confirmed: Confirmed;
  /** The checks of the file as a whole whose findings the operator accepts. */
  readonly accept: readonly Check[];
  /** Whether its rows were looked at as a whole when the request was made. */
  readonly isPrepared?: boolean;
  /** Whether jobs that the ledger does not know stop the upload. */
  readonly onlyRecorded: boolean;
  /** The other options as typed, which printed commands keep. */
  readonly options?: readonly string[] | undefined;
  /** Checks the tenant of the key before a run begins. */
  readonly checkTenant?: ((tenant: string) => Promise<void>) | undefined;
}

/** What is done with a file. */
export type Decision =
  | { readonly kind: 'send'; readonly submission: FileSubmission; readonly run: RunDirectory; readonly out: string }
  /** The tokens of all rows came from results of the cycle. */
  | { readonly kind: 'nothing new' }
  | { readonly kind: 'planned' };

/** Failed parts get another job when the operator submits the file again. */
const RETRIES = { retriesFailed: true };

/** The submission of one request file: what is known of it, and what it takes to send the rest. */
export class FileSubmission {
  readonly #context: Context;
  readonly #file: RequestFile;
  readonly #input: Submitting;
  readonly #ledger: CommandLedger;
  #spare: SpareJob | undefined;
  #tenant: string | undefined;

  constructor(context: Context, file: RequestFile, input: Submitting) {
    this.#context = context;
    this.#file = file;
    this.#input = input;
    this.#ledger = new CommandLedger(context, { onlyReads: input.dryRun });
  }

  /**
   * Decides what to send, asks the operator before it costs money, and returns the run of the file: one that is recorded
   * here, or a new one. A dry run prints the plan.
   * @throws SvcError `config` for an unreadable record or a damaged ledger, `usage` for a result file that exists,
   *   `conflict`, `declined`, `pending` for a cycle that must be confirmed
   */
  async decide(): Promise<Decision> {
    const { dryRun } = this.#input;
    if (!dryRun) await this.#ledger.enterRuns();
    const seen = dryRun ? await this.#tenantIfKey() : undefined;
    this.#tenant = dryRun ? (seen ?? (await this.#tenantWithoutRequest())) : await this.#tenantOfKey();
    requireKnownTenant(this.#context, dryRun ? seen : this.#tenant, 'nothing was uploaded');
    if (this.#tenant !== undefined) await this.#input.checkTenant?.(this.#tenant);
    const known = await this.#findRun();
    const out = this.#input.out ?? recordedOut(known) ?? defaultOut(this.#input.file);
    if (this.#input.wait || this.#input.out !== undefined)
      await checkDestination(this.#context, known, { out, force: this.#input.force });
    const client = dryRun ? undefined : await this.#context.client();
    if (known) requireRecent(known, this.#now(client));
    const division = known && !isUntouched(known.record) ? undefined : await this.#divide();
    if (division && division.free.length === 0 && division.joined.length === 0) return { kind: 'nothing new' };
    const isNew = known === undefined || isUntouched(known.record);
    const look = isNew ? this.#look(division) : undefined;
    if (dryRun) {
      if (seen !== undefined) await this.#previewComparison(seen, known, division);
      await this.#showPlan(known, division);
      return { kind: 'planned' };
    }
    await this.#confirm(known, division, look);
    const run = known ?? (await this.#begin(division));
    return { kind: 'send', submission: this, run, out };
  }

  /** Returns how many rows no job of the cycle has; undefined if the tenant is not known. No run begins, and nothing is sent. */
  async countNewRows(): Promise<number | undefined> {
    const { dryRun } = this.#input;
    if (!dryRun) await this.#ledger.enterRuns();
    const client = dryRun ? undefined : await this.#context.client();
    const tenant = (client && (await tenantOfKey(client))) ?? (await this.#tenantWithoutRequest());
    const { check } = this.#file;
    if (tenant === undefined) return undefined;
    await this.#input.checkTenant?.(tenant);
    const { division } = await this.#compare(tenant, client);
    return sentRows(division, check).rows;
  }

  /** Records the options of this command. The caller must have locked the run. */
  take(run: RunDirectory, out: string): void {
    const { record } = run;
    const { profile, baseUrl } = this.#place;
    const { cycle } = this.#input;
    const isElsewhere = record.base_url !== baseUrl || record.profile !== profile;
    if (isUntouched(record) && (isElsewhere || record.abandoned_at !== undefined))
      applyToRun(record, { kind: 'adopted', profile, baseUrl, name: this.#file.name, tenant: this.#tenant, cycle });
    const { path: copy, name, check } = this.#file;
    applyToRun(record, {
      kind: 'submitted',
      out: path.resolve(out),
      baseUrl,
      path: name === STANDARD_INPUT ? undefined : path.resolve(name),
      cycle,
      onlyRecorded: this.#input.onlyRecorded,
    });
    // A new run already has its copy, and one whose copy was pruned gets none again.
    const isOwn = isExactly(record, check) && fs.existsSync(copy);
    if (isOwn && (record.pruned_at === undefined || run.requestFile !== undefined)) run.replaceRequest(copy);
    run.save();
  }

  /**
   * Uploads what is left of the run, which the caller must have locked. Says what the run is if nothing is left. With
   * `pollOnce`, an upload in doubt is polled once, without waiting for its end. `onClaim` is called before the first claim.
   */
  async upload(
    run: RunDirectory,
    { pollOnce = false, onClaim }: { readonly pollOnce?: boolean; readonly onClaim?: () => void } = {},
  ): Promise<void> {
    this.#ledger.beforeFirstEntry(onClaim && (async () => onClaim()));
    const { record } = run;
    const { notices } = this.#context;
    if (statusOf(record) === 'completed')
      return notices.note(
        `this file was already submitted ${submittedAt(this.#context, record)} (${record.id}, completed); nothing was sent`,
      );
    if (record.parts.some((part) => part.job !== undefined && part.joined === undefined))
      notices.note(`resuming ${record.id}`);
    const { confirmed, options } = this.#input;
    const own = { ledger: this.#ledger, spare: await this.#spareJob() };
    await uploadRun(this.#context, run, { ...RETRIES, ...own, confirmed, options, pollOnce });
  }

  /** Returns when the first job with rows of the file was created. `run` is undefined if its tokens were all made. */
  inCycleSince(run?: RunDirectory): Promise<string | null> {
    const tenant = run?.record.tenant_id ?? this.#tenant ?? '';
    const { cycle } = this.#input;
    return inCycleSince(this.#context, { tenant, cycle, name: this.#file.name, jobs: run && jobsOf(run.record) });
  }

  get #place(): { readonly profile: string; readonly baseUrl: string } {
    return { profile: this.#context.settings.profile.value, baseUrl: serviceOf(this.#context) };
  }

  async #spareJob(): Promise<SpareJob> {
    const client = await this.#context.client();
    return (this.#spare ??= new SpareJob(client, creatorMemory(this.#context, client)));
  }

  /** Returns the key's tenant. Where reads do not show it, a job does, which the first part takes. */
  async #tenantOfKey(): Promise<string> {
    const tenant = await tenantOfKey(await this.#context.client());
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

  /**
   * Compares the jobs with the ledger if something would be sent. Warns of jobs that may stop the upload where a dry
   * run cannot tell whose they are.
   * @throws SvcError `outcome_unknown` where the upload would stop
   */
  async #previewComparison(
    tenant: string,
    known: RunDirectory | undefined,
    division: Division | undefined,
  ): Promise<void> {
    const record = known && !isUntouched(known.record) ? known.record : undefined;
    const parts = record && partsToUpload(record.parts, RETRIES);
    if (parts ? parts.length === 0 : division?.free.length === 0) return;
    const { profile, baseUrl } = this.#place;
    const records = await everyRecord(this.#context);
    const here = records.filter((each) => each.profile === profile && each.base_url === baseUrl);
    const own = new Set(here.flatMap(jobsOf));
    const jobs = await previewComparison(await this.#context.client(), {
      ...this.#comparing(tenant, records, record),
      own,
    });
    if (jobs === undefined) showRun(this.#context)({ kind: 'unrecorded', jobs });
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
    const comparing = this.#comparing(tenant, await everyRecord(this.#context), undefined);
    const spare = await this.#spareJob();
    const creator = await spare.creator();
    if (creator !== undefined) return refuseUnknownJobs(client, comparing, creator);
    await compareJobs(client, { ...comparing, job: await spare.get(), again: comparing.words });
  }

  #comparing(tenant: string, records: readonly RunRecord[], record: RunRecord | undefined): Comparing {
    const { cycle, confirmed, onlyRecorded } = this.#input;
    return {
      ledger: this.#ledger,
      tenant,
      known: knownJobs(records, this.#place.baseUrl === 'sandbox'),
      onlyRecorded,
      newLedger: confirmed.newLedger,
      unclearSince: record?.parts.flatMap(({ creating_since: since }) => (since ? [Date.parse(since)] : [])) ?? [],
      words: [...this.#words, ...option('--cycle', cycle)],
      run: record?.id,
    };
  }

  /** A dry run may have no key, so that it takes the tenant of the last check of this profile, or of its newest run. */
  async #tenantWithoutRequest(): Promise<string | undefined> {
    const { profile, baseUrl } = this.#place;
    const known =
      baseUrl === 'sandbox' ? await this.#sandboxTenant() : knownTenant(this.#context.system, profile, baseUrl)?.id;
    if (known !== undefined) return known;
    const { runs } = await everyRun(this.#context);
    const newest = runs.find(({ record }) => record.profile === profile && record.base_url === baseUrl);
    return newest?.record.tenant_id;
  }

  /** Returns the tenant of the embedded sandbox, which is a new one after a reset; undefined if it does not respond. */
  async #sandboxTenant(): Promise<string | undefined> {
    try {
      return (await (await this.#context.client()).tenant.read()).id;
    } catch (error) {
      if (isSvcError(error)) return undefined;
      throw error;
    }
  }

  #findRun(): Promise<RunDirectory | undefined> {
    return findRun(this.#context, this.#toFind);
  }

  get #toFind() {
    const { check, submitted } = this.#file;
    const isSandbox = this.#place.baseUrl === 'sandbox';
    return { check, submitted, cycle: this.#input.cycle, tenant: this.#tenant, isSandbox };
  }

  /** Compares the file with the ledger, and says which rows other jobs have. Undefined if all rows are free. */
  async #divide(): Promise<Division | undefined> {
    const tenant = this.#tenant;
    if (tenant === undefined) requireClearName(this.#input.cycle);
    if (tenant === undefined) return this.#divideFile();
    const { name } = this.#file;
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const newer = async () => (await this.#spareJob()).get();
    const { named, division, rows, isBegun } = await this.#compare(tenant, client, newer);
    if (!isBegun) requireClearName(this.#input.cycle);
    if (!isBegun) await this.#reportBeginning(tenant, named.cycle, rows);
    if (division?.free.length === 0 && !named.isNamed) {
      const entries = await (await this.#ledger.open(tenant)).cycle(named.cycle).read();
      const how = { name, cycle: named.cycle, words: this.#words, now: this.#now(client) };
      requireRecentResults(entries, { ...how, joined: division.joined });
    }
    if (division === undefined) return undefined;
    this.#reportDivision(division, named, this.#now(client));
    return division;
  }

  /** Divides a file of which it is not known whose ledger may have rows of it. */
  async #divideFile(): Promise<Division | undefined> {
    const free = await withTokensOnce(this.#context, this.#file);
    return free.length === 1 ? undefined : { free, joined: [], made: 0 };
  }

  async #compare(tenant: string, client: Client | undefined, newer?: () => ReturnType<SpareJob['get']>) {
    const { name, source, check, submitted } = this.#file;
    const whole = { sha256: check.sha256, source };
    const file = { name, cycle: this.#input.cycle, whole, submitted: submitted.sha256 };
    const read = client && resultsReader(this.#context, client, this.#ledger);
    // What a machine enters when it opens the ledger for the first time is not compared with the jobs.
    if (client) await this.#ledger.open(tenant);
    if (client) this.#ledger.beforeFirstEntry(() => this.#requireKnownJobs(tenant));
    const compared = await this.#ledger.compare(client, { tenant, file, parts: [whole], newer, read });
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

  #now(client: Client | undefined): number {
    return client?.now() ?? this.#context.clock.now();
  }

  /** Checks the first file of a cycle against the other cycles, and shows for whom the cycle begins. */
  async #reportBeginning(tenant: string, cycle: string, rows: Parameters<typeof otherCycles>[2]): Promise<void> {
    const { notices, system } = this.#context;
    const {
      name,
      check: { sha256 },
    } = this.#file;
    const others = await otherCycles(await this.#ledger.open(tenant), cycle, rows, sha256);
    const client = this.#input.dryRun ? undefined : await this.#context.client();
    const beginning = {
      name,
      rows: rows.rows.size,
      cycle: this.#input.cycle,
      words: this.#words,
      now: this.#now(client),
      isSandbox: this.#place.baseUrl === 'sandbox',
    };
    if (!this.#input.confirmed.payAgain) await requireOtherRows(client, others, beginning);
    if (this.#input.cycle === undefined) return;
    const { profile, baseUrl } = this.#place;
    const facts = knownTenant(system, profile, baseUrl);
    const who = facts?.id === tenant ? tenantText(facts) : tenant;
    notices.note(`first upload of cycle ${cycle}: profile ${profile}, tenant ${who}`);
    const last = others.find((each) => !each.name.startsWith('file-'));
    const share = last === undefined ? 1 : last.shared / rows.rows.size;
    if (last === undefined || share >= LEAST_SHARE) return;
    notices.warn(
      `only ${fixedPercent(share)} of the rows of ${name} were in cycle ${last.name}, the last of this tenant: is the profile wrong, or the export?`,
    );
  }

  /** `now` is the service's time, by which jobs expire. */
  #reportDivision(division: Division, named: Parameters<typeof cycleText>[0], now: number): void {
    const { free, joined, made } = division;
    const { notices } = this.#context;
    const { name, check } = this.#file;
    const of = `of ${countText(check.rows, 'row')} of ${name}`;
    for (const one of joined) {
      const which =
        one.rows === check.rows ? `all ${countText(check.rows, 'row')} of ${name}` : `${formatNumber(one.rows)} ${of}`;
      const isDoubtful = one.status === undefined && !one.isDone;
      const doubt = isDoubtful ? `; whether the service has them ${knownText(one.claim, now)}` : '';
      const text = `${which} ${one.rows === 1 ? 'is' : 'are'} in ${cycleText(named)} already: ${whoText(one, now)}${doubt}`;
      if (isDoubtful) notices.warn(text);
      else notices.note(text);
    }
    if (made > 0) notices.note(madeText(made, `${countText(check.rows, 'row')} of ${name}`, named));
    const [, second] = free;
    if (second === undefined) return;
    const { rows } = second.check;
    notices.note(
      `${countText(rows, 'token')} of ${name} ${rows === 1 ? 'has' : 'have'} rows for several merchants: a token stands once in a job, so that ${countText(sentRows(division, check).jobs, 'job')} are needed`,
    );
  }

  /**
   * Looks at the rows that no job has yet as a whole, and says what it sees. Returns what is strange of their tokens.
   * @throws SvcError `refused_input` for rows that cannot be meant as they are
   */
  #look(division: Division | undefined): string | undefined {
    const { accept, isPrepared, cycle } = this.#input;
    const { check, submitted, name } = this.#file;
    const { rows } = sentRows(division, check);
    if (isPrepared === true || rows === 0) return undefined;
    const isWhole = rows === check.rows;
    const looked = isWhole ? submitted : (division?.free[0]?.check ?? submitted);
    const words = [...this.#words, ...option('--cycle', cycle)];
    const refused = implausibleFile(looked, { name, words, accept, hasLines: isWhole });
    if (refused !== undefined) throw refused;
    noteOverview(this.#context, undefined, looked);
    return looked.overview && strangeTokens(looked.overview);
  }

  /** Asks before billable rows are sent. A run that is fully uploaded costs nothing more. `look` adds what is strange. */
  async #confirm(known: RunDirectory | undefined, division: Division | undefined, look?: string): Promise<void> {
    const { check } = this.#file;
    if (known && !isUntouched(known.record)) {
      const parts = partsToUpload(known.record.parts, RETRIES).filter(({ joined }) => joined === undefined);
      const rows = parts.reduce((sum, part) => sum + part.rows, 0);
      if (parts.length > 0) await confirmRows(this.#context, rows, parts.length);
      return;
    }
    await this.#confirmMerchants(division);
    const { rows, jobs } = sentRows(division, check);
    if (rows > 0) await confirmRows(this.#context, rows, jobs, { of: check.rows, look });
  }

  /** Asks before a file needs many jobs because a token of it has many merchants, which it may have by mistake. */
  async #confirmMerchants(division: Division | undefined): Promise<void> {
    const count = division?.free.length ?? 0;
    if (count <= MOST_WITHOUT_A_QUESTION || this.#input.accept.includes('merchants')) return;
    const what = `a token of ${this.#file.name} has ${count} merchants, so that its rows need ${count} jobs`;
    const prompts = this.#context.prompts();
    if (prompts.canAsk)
      return requireYes(await prompts.promptText(`${what}. Submit them? [y/N]`, ''), 'nothing was submitted');
    throw new SvcError('conflict', `${what}; nothing was submitted`, {
      hint: 'A token stands once in a job, because results name no merchant. If the file is meant so, accept the jobs:',
      next: [...this.#words, ...option('--cycle', this.#input.cycle), '--accept', 'merchants'],
    });
  }

  async #begin(division: Division | undefined): Promise<RunDirectory> {
    const root = runsRoot(this.#context);
    const { name, path: copy, check, submitted } = this.#file;
    makeDirectory(root);
    await this.#warnOfOutdated();
    if (!this.#ledger.isShared) this.#warnOfEmptyState(root);
    const file = {
      ...this.#place,
      name,
      path: name === STANDARD_INPUT ? undefined : name,
      check,
      submitted,
      copy,
      cycle: this.#input.cycle,
      tenant: this.#tenant ?? '',
      division,
      now: this.#context.clock.now(),
    };
    return withLock(path.join(root, BEGIN_LOCK), this.#context.system, async () => {
      removeUnborn(root);
      return beginRun(root, file);
    });
  }

  async #warnOfOutdated(): Promise<void> {
    const { name } = this.#file;
    if (this.#input.cycle !== undefined || name === STANDARD_INPUT) return;
    const run = await findOutdated(this.#context, { ...this.#place, name, file: this.#toFind });
    if (run)
      this.#context.notices.warn(
        `${name} has changed since run ${run.record.id} was started, which is not completed; this is a new run`,
      );
  }

  /**
   * Warns in CI and in containers that the record of billed rows is lost with the machine or the container unless the
   * state directory is kept.
   */
  #warnOfEmptyState(root: string): void {
    const { env } = this.#context.system;
    const isInCi = isOn(env['CI']);
    // svc's image sets this variable, and so does podman.
    if (!isInCi && !env['container']) return;
    if (runNames(root).length > 0) return;
    const advice = isInCi
      ? 'Set a ledger in a bucket (SVC_LEDGER), or keep this directory from one CI job to the next (SVC_STATE_DIR names it)'
      : 'Set a ledger in a bucket (SVC_LEDGER), or mount a volume there: the next container has to know what this one paid for';
    annotateWarning(
      this.#context,
      `the state directory ${path.dirname(root)} was empty: if this file was submitted before, it is now submitted and paid for again. ${advice}`,
    );
  }

  async #showPlan(known: RunDirectory | undefined, division: Division | undefined): Promise<void> {
    const { name, check, submitted } = this.#file;
    const print = await recordPrinter(this.#context, checkedFileView);
    const { rows, jobs } = sentRows(division, check);
    await print(checkedFileRow(name, check, submitted, jobs));
    const sent = rows === 0 ? 'nothing' : `${countText(jobs, 'job')} for ${countText(rows, 'row')}`;
    const isNew = known === undefined || isUntouched(known.record);
    const plan = isNew ? `it would create ${sent}` : this.#planFor(known);
    this.#context.notices.note(`dry run: nothing was sent; ${plan}`);
  }

  #planFor({ record }: RunDirectory): string {
    const plan =
      statusOf(record) === 'completed'
        ? `the file was already submitted ${submittedAt(this.#context, record)} (${record.id})`
        : `it would resume ${record.id}`;
    const { profile, baseUrl } = this.#place;
    const isHere = record.profile === profile && record.base_url === baseUrl;
    return isHere ? plan : `if this key belongs to the tenant of profile ${record.profile}, ${plan}`;
  }
}

/** The number of jobs from which on a file for many merchants must be confirmed. */
const MOST_WITHOUT_A_QUESTION = 5;

/** Returns how many rows of a checked file are sent, and in how many jobs. */
function sentRows(
  division: Division | undefined,
  check: RequestFile['check'],
): { readonly rows: number; readonly jobs: number } {
  const files = division === undefined ? [check] : division.free.map((file) => file.check);
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    jobs: files.reduce((sum, { parts }) => sum + parts.length, 0),
  };
}

/** The share of rows in the last cycle below which a file is probably the wrong one. */
const LEAST_SHARE = 0.1;

/** Returns the recorded output path if its directory exists here, because the run may come from another machine. */
function recordedOut(run: RunDirectory | undefined): string | undefined {
  const out = run?.record.out;
  return out !== undefined && isOnThisMachine(out) ? out : undefined;
}

function defaultOut(file: string): string {
  return file === '-' ? 'results.csv' : file.replace(/(\.csv)?$/i, '.results.csv');
}

/** Describes when a run began and in which cycle. */
function submittedAt({ clock }: Context, { created_at: createdAt, cycle }: RunRecord): string {
  const time = `${formatDuration(Math.max(0, clock.now() - Date.parse(createdAt)))} ago`;
  return cycle === undefined ? time : `${time} in cycle ${cycle}`;
}
