import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { takeLock } from '../../base/files/lock.ts';
import { isSamePath } from '../../base/files/names.ts';
import { isOn } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { annotateWarning } from '../request/annotations.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { fileOfRest } from '../request/rest-of-file.ts';
import {
  noteCycle,
  repeatedRuns,
  requireComparable,
  requireNew,
  requireSubmitted,
  type Sending,
  warnOfNewRows,
} from './cycle-conflict.ts';
import { CycleRows, partsToSend } from './cycle-rows.ts';
import { requestToUpload } from './part-source.ts';
import { endOf } from './prune.ts';
import { isUntouched, needsFile, type RunRecord, statusOf } from './record.ts';
import { knownRunsRoot, runsRoot } from './recorded-runs.ts';
import { openRuns, removeUnborn, type RunDirectory, runNames } from './run-directory.ts';
import { applyToRun } from './run.ts';
import {
  BEGIN_LOCK,
  beginRun,
  findOutdated,
  findRuns,
  indexRun,
  isExactly,
  isOf,
  type NewRun,
  runsOfCycle,
} from './run-index.ts';
import { TenantProof, type TenantRelation } from './tenant-proof.ts';

/** The options of `au submit` that select the run of a file. */
export interface RunChoice {
  readonly again: boolean;
  readonly runDir: string | undefined;
  readonly cycle: string | undefined;
  readonly adopt: string | undefined;
  /** Whether to submit only the rows that no other run of the cycle contains. */
  readonly onlyNew: boolean;
  /** Whether to submit all rows, even if other runs of the cycle contain them. */
  readonly also: boolean;
  readonly tenant: string | undefined;
  readonly dryRun: boolean;
  readonly noUnrecordedJobs: boolean;
  readonly otherJob: readonly string[];
}

/** The decision about a request file. */
export interface Choice {
  /** The run to resume or take over; undefined if a new run is needed. */
  readonly run: RunDirectory | undefined;
  /** The file to send: the submitted file, or a file of its new rows. */
  readonly file: RequestFile;
  /** The comparison of the rows with the other runs of the cycle, if there are any. */
  readonly rows?: CycleRows | undefined;
  /** Whether other runs have already submitted every row of the file. */
  readonly isNothingNew?: boolean;
}

/**
 * Finds or creates the run of a request file. The run is identified by the file's hash, the tenant and the cycle, not
 * by profile, URL or location.
 */
export class RunFinder {
  readonly #context: Context;
  readonly #choice: RunChoice;
  readonly #file: RequestFile;
  readonly #wanted: NewRun;
  /** The directory that contains recorded runs, and the index of runs in a `--run-dir`. */
  readonly #root: string | undefined;
  #proof: TenantProof | undefined;
  #tenant: string | undefined;
  #now: number | undefined;
  /**
   * Runs that had sent nothing when they were found. Another process may still create their jobs until this one locks
   * them.
   */
  readonly #free = new WeakSet<RunDirectory>();
  /** The comparison of the file with its cycle. It is kept, so that a second comparison reads only newly sent parts. */
  #rows: CycleRows | undefined;
  /** A file of the new rows. */
  #rest: RequestFile | undefined;
  /** Runs whose rows the operator allowed to be sent again. */
  #repeats: readonly string[] = [];

  constructor(context: Context, choice: RunChoice, file: RequestFile) {
    this.#context = context;
    this.#choice = choice;
    this.#file = file;
    this.#root = choice.runDir === undefined ? runsRoot(context) : knownRunsRoot(context);
    this.#tenant = choice.tenant;
    this.#wanted = {
      profile: context.settings.profile.value,
      baseUrl: serviceOf(context),
      name: file.name,
      path: file.name === STANDARD_INPUT ? undefined : file.name,
      copy: file.path,
      check: file.check,
      cycle: choice.cycle,
      now: context.clock.now(),
    };
  }

  /**
   * Finds the recorded run that this file resumes, or a run that sent nothing, which any submission may take over.
   * Returns undefined if a new run may begin.
   * @throws SvcError `config` for an unreadable record or an unknown tenant, `conflict` for a submitted file that may
   *   be billed again without the operator's intent
   */
  async find(): Promise<RunDirectory | undefined> {
    const { again, runDir } = this.#choice;
    if (!again && runDir !== undefined) await requireSameFile(runDir, this.#wanted);
    const { runs, unreadable } = await findRuns(this.#root, runDir, this.#wanted);
    const inOrder = runs.toSorted((a, b) => Number(isIn(b, runDir)) - Number(isIn(a, runDir)));
    const free = inOrder.filter((run) => this.#isFree(run, this.#wanted.check));
    for (const run of free) this.#free.add(run);
    if (again) return free[0];
    // An unsent run of only the new rows is unusable, because other rows may be new by now.
    const chosen = await this.#choose(
      inOrder.filter((run) => free.includes(run) || !isUntouched(run.record)),
      free,
    );
    const [damaged] = unreadable;
    if (
      !damaged ||
      (chosen && !chosen.record.parts.some(({ state }) => state === 'failed' || needsFile({ parts: [{ state }] })))
    )
      return chosen;
    const { directory, error } = damaged;
    throw new SvcError('config', `${error.message}. It may be of this file: nothing was submitted`, {
      hint: `${error.hint ?? ''} To move the record aside, abandon the run. ${BILLED_AGAIN}`.trimStart(),
      next: ['au', 'abandon', directory],
      alternatives: [this.#againWords()],
      facts: { directory },
    });
  }

  /**
   * Chooses the run of the file and the rows to send. Within a cycle, each row is submitted once.
   * @throws SvcError as `find`, and `conflict` for rows that other runs of the cycle contain
   */
  async choose(): Promise<Choice> {
    const run = await this.find();
    const file = this.#file;
    const { cycle, again, also, onlyNew } = this.#choice;
    if (cycle === undefined) return { run, file };
    const resumed = run && !isUntouched(run.record) ? run : undefined;
    const rows = await this.#compare(cycle, resumed);
    if (!rows) return { run, file };
    const sending = this.#sending(cycle, resumed);
    if (also || again) {
      this.#repeats = repeatedRuns(rows);
      return { run, file, rows };
    }
    requireComparable(rows, sending);
    if (!onlyNew || resumed) requireNew(rows, sending);
    if (rows.shared.length === 0) return { run, file, rows };
    if (rows.counts.left === 0) return { run: undefined, file, rows, isNothingNew: true };
    const rest = await this.#fileOfRest(rows);
    return { run: await this.#freeRunOf(rest), file: rest, rows };
  }

  /** Explains the decision if the cycle has other runs. */
  report({ run, rows, isNothingNew }: Choice, wait: boolean): void {
    const { cycle, again, also } = this.#choice;
    if (cycle === undefined || !rows) return;
    const sending = this.#sending(cycle, run && !isUntouched(run.record) ? run : undefined);
    if (isNothingNew) requireSubmitted(rows, sending, wait);
    noteCycle(this.#context, rows, sending, also || again ? 'all' : 'only new');
  }

  /** Warns of rows that a resumed run of new rows left out, and that no other run of the cycle has any more. */
  async reportLeftOut({ record }: RunDirectory): Promise<void> {
    const root = this.#root;
    const { check, baseUrl } = this.#wanted;
    const { cycle, input } = record;
    if (root === undefined || cycle === undefined || input.source_sha256 !== check.sha256) return;
    const { runs } = await runsOfCycle(root, { cycle, base_url: baseUrl });
    const rows = this.#rowsOf({ file: this.#file.path, ranges: check.parts });
    await rows.compare({ runs, unreadable: [] });
    // Without the copy of some run, its rows cannot be told from lost ones.
    if (rows.incomparable !== undefined) return;
    const { left } = rows.counts;
    if (left > 0) warnOfNewRows(this.#context, left, this.#sending(cycle, undefined), runs);
  }

  #sending(cycle: string, resumed: RunDirectory | undefined): Sending {
    const { path: file, name } = this.#wanted;
    const { runDir } = this.#choice;
    const words = ['au', 'submit', file === undefined ? '-' : name, '--cycle', cycle, ...option('--run-dir', runDir)];
    return { cycle, name, words, resumed, now: this.#context.clock.now() };
  }

  /** Compares the file, or the rest of a run, with the runs of the cycle. */
  async #compare(cycle: string, resumed: RunDirectory | undefined): Promise<CycleRows | undefined> {
    const root = this.#root;
    const { check, baseUrl } = this.#wanted;
    const ranges = resumed ? partsToSend(resumed.record, { retries: true }) : check.parts;
    if (root === undefined || ranges.length === 0) return undefined;
    const found = await runsOfCycle(root, { cycle, base_url: baseUrl });
    const others = { ...found, runs: found.runs.filter(({ record }) => record.id !== resumed?.record.id) };
    const isOwnFile = !resumed || isExactly(resumed.record, check);
    const file = isOwnFile ? this.#file.path : await requestToUpload(resumed);
    const begun = resumed ? undefined : this.#rows;
    const rows = begun ?? this.#rowsOf({ file, ranges });
    if (!resumed) this.#rows = rows;
    await rows.compare(others, resumed?.record.repeats);
    return rows;
  }

  #rowsOf(toSend: ConstructorParameters<typeof CycleRows>[1]): CycleRows {
    const rows = new CycleRows(this.#context.system, toSend, (record) => this.#relationTo(record));
    this.#context.onClose(async () => rows.close());
    return rows;
  }

  async #fileOfRest(rows: CycleRows): Promise<RequestFile> {
    if (this.#rest?.check.rows === rows.counts.left) return this.#rest;
    return (this.#rest = await fileOfRest(this.#context, this.#file, await rows.rest(), this.#choice.dryRun));
  }

  /** Finds an unsent run of exactly the new rows. */
  async #freeRunOf({ check }: RequestFile): Promise<RunDirectory | undefined> {
    const { runs } = await findRuns(this.#root, this.#choice.runDir, this.#wanted);
    const free = runs.find((run) => this.#isFree(run, check));
    if (free) this.#free.add(free);
    return free;
  }

  #isFree({ record }: RunDirectory, check: NewRun['check']): boolean {
    return this.#isSameKind(record) && isUntouched(record) && isExactly(record, check);
  }

  /** Chooses among this tenant's runs that sent something. If none of them is resumed, uses an unsent run. */
  async #choose(runs: readonly RunDirectory[], free: readonly RunDirectory[]): Promise<RunDirectory | undefined> {
    const { runDir, cycle, adopt, onlyNew, also } = this.#choice;
    const isWanted = ({ record }: RunDirectory): boolean =>
      !(onlyNew || also) || record.cycle !== cycle || statusOf(record) !== 'abandoned';
    const touched = runs.filter((run) => !free.includes(run) && isWanted(run));
    const ours: RunDirectory[] = [];
    for (const run of touched) if (await this.#isOurs(run)) ours.push(run);
    const foreign = touched.find((run) => isIn(run, runDir) && !ours.includes(run));
    if (foreign) throw foreignError(foreign);
    const now = this.#now ?? this.#context.clock.now();
    const adopted = free.find((run) => isNamed(run, adopt));
    if (adopted && !ours.some(({ record }) => record.cycle === cycle)) return adopted;
    const chosen = cycle === undefined ? latestRun(ours, now) : runOfCycle(ours, cycle, adopt, now);
    if (chosen) requireKept(chosen);
    return chosen ?? free[0];
  }

  /**
   * Returns the recorded run or a new one. If two terminals begin the same file at once, only one run is created and
   * the second terminal finds it. `release` allows others to begin runs. It is called when the run is locked and its
   * cycle recorded, so that others see it.
   */
  async findOrBegin(first: Choice): Promise<{ readonly run: RunDirectory; readonly release: () => void }> {
    if (first.run && this.#choice.cycle === undefined) return { run: first.run, release: () => undefined };
    const root = this.#preparedRoot();
    const lockedIn = root ?? this.#choice.runDir ?? '';
    makeDirectory(lockedIn);
    const release = await takeLock(path.join(lockedIn, BEGIN_LOCK), this.#context.system);
    try {
      const choice = await this.choose();
      if (choice.isNothingNew) throw submittedMeanwhile();
      // Another process may have sent some of the rows since the first look.
      if (choice.file.check.rows !== first.file.check.rows) this.report(choice, false);
      return { run: choice.run ?? (await this.#begin(choice, root, lockedIn)), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #begin({ file }: Choice, root: string | undefined, lockedIn: string): Promise<RunDirectory> {
    if (root !== undefined) {
      removeUnborn(root);
      if (this.#choice.cycle === undefined) await this.#warnOfOutdated(root);
      this.#warnOfEmptyState(root);
    }
    const directory = (id: string): string => this.#choice.runDir ?? path.join(lockedIn, id);
    const sourceSha256 = file === this.#file ? undefined : this.#file.check.sha256;
    const wanted = { ...this.#wanted, check: file.check, copy: file.path, sourceSha256, tenant: this.#tenant };
    const run = beginRun(directory, wanted);
    if (root !== undefined) indexRun(root, run);
    this.#free.add(run);
    return run;
  }

  /**
   * Records the options of this command and the location of the run. The caller must have locked the run.
   * @throws SvcError `conflict` if another process has begun the unsent run since it was found
   */
  update(run: RunDirectory, out: string): void {
    const { record } = run;
    if (this.#free.has(run)) this.#takeOver(record);
    const { cycle, path: file, copy, check, baseUrl } = this.#wanted;
    applyToRun(record, {
      kind: 'submitted',
      out: path.resolve(out),
      baseUrl,
      path: file === undefined ? undefined : path.resolve(file),
      cycle,
      noUnrecordedJobs: this.#choice.noUnrecordedJobs,
      otherJobs: this.#choice.otherJob,
      repeats: this.#repeats,
    });
    // A new run already has its copy, and a completed run needs none.
    const isOwn = isExactly(record, check) && fs.existsSync(copy);
    if (isOwn && statusOf(record) !== 'completed') run.replaceRequest(copy);
    run.save();
    const root = this.#preparedRoot();
    if (root !== undefined) indexRun(root, run);
  }

  /** Takes over a run that sent nothing. */
  #takeOver(record: RunRecord): void {
    const { profile, baseUrl, name, cycle } = this.#wanted;
    if (!isUntouched(record)) return this.#requireSameSubmission(record);
    applyToRun(record, { kind: 'adopted', profile, baseUrl, name, tenant: this.#tenant, cycle });
  }

  /** Allows a run that another process has just begun only if that process used the same profile, URL and cycle. */
  #requireSameSubmission({ id, profile, base_url: baseUrl, cycle }: RunRecord): void {
    const wanted = this.#wanted;
    const isSame =
      !this.#choice.again &&
      profile === wanted.profile &&
      baseUrl === wanted.baseUrl &&
      (wanted.cycle === undefined || cycle === wanted.cycle);
    if (isSame) return;
    throw new SvcError('conflict', `another process began ${id} of this file meanwhile; nothing was submitted`, {
      hint: 'Run the same command again: it finds what that process submitted.',
      retryable: true,
      facts: { run: id },
    });
  }

  /** Tells whether a run belongs to the sandbox or to a service, like this submission. */
  #isSameKind({ base_url: baseUrl }: RunRecord): boolean {
    return (baseUrl === 'sandbox') === (this.#wanted.baseUrl === 'sandbox');
  }

  /** Returns the command that starts another run of this file, which the service bills again. */
  #againWords(): string[] {
    const { path: file, name, cycle } = this.#wanted;
    return ['au', 'submit', file === undefined ? '-' : name, ...(cycle ? ['--cycle', cycle] : []), '--again'];
  }

  /** Tells whether the run belongs to the tenant of the current key. @throws SvcError `config` if that is unknown */
  async #isOurs(run: RunDirectory): Promise<boolean> {
    const relation = await this.#relationTo(run.record);
    if (relation === 'unknown') throw unknownTenantError(run, this.#againWords());
    return relation === 'same';
  }

  async #relationTo(record: RunRecord): Promise<TenantRelation> {
    if (!this.#isSameKind(record)) return 'other';
    // A dry run has no key to check with, so it assumes the same tenant.
    if (this.#choice.dryRun) return 'same';
    const client = await this.#context.client();
    this.#proof ??= new TenantProof(client, this.#choice.tenant);
    const relation = await this.#proof.relationOf(record);
    this.#now = client.now();
    if (relation === 'other') this.#tenant ??= await this.#proof.tenant();
    if (relation !== 'unknown') return relation;
    const { profile, baseUrl } = this.#wanted;
    const isHere = record.profile === profile && record.base_url === baseUrl;
    // The run may be resumed, because the tenant is checked again before another job is created.
    return isHere && statusOf(record) !== 'completed' ? 'same' : 'unknown';
  }

  /**
   * Prepares the directory of recorded runs for a new run. Returns undefined if it is not writable and `--run-dir` is
   * given.
   */
  #preparedRoot(): string | undefined {
    const root = this.#root;
    if (this.#choice.runDir === undefined || root === undefined) return root;
    try {
      makeDirectory(root);
      fs.accessSync(root, fs.constants.W_OK);
      return root;
    } catch {
      this.#context.notices.warn(
        `${root} cannot be written: this file will be recognized only with --run-dir ${this.#choice.runDir}`,
      );
      return undefined;
    }
  }

  async #warnOfOutdated(root: string): Promise<void> {
    const run = await findOutdated(root, this.#wanted);
    if (run)
      this.#context.notices.warn(
        `${run.record.input.name} has changed since run ${run.record.id} was started, which is not completed; this is a new run`,
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
    if (runNames(root).length > 0 || fs.existsSync(path.join(root, 'elsewhere'))) return;
    const advice = isInCi
      ? 'Keep this directory from one CI job to the next (SVC_STATE_DIR names it)'
      : 'Mount a volume there: the next container has to know what this one paid for';
    annotateWarning(
      this.#context,
      `the state directory ${path.dirname(root)} was empty: if this file was submitted before, it is now submitted and paid for again. ${advice}`,
    );
  }
}

function submittedMeanwhile(): SvcError {
  return new SvcError('conflict', 'another process submitted the new rows of this file meanwhile', {
    hint: 'Run the same command again.',
    retryable: true,
  });
}

function isIn(run: RunDirectory, directory: string | undefined): boolean {
  return directory !== undefined && isSamePath(run.path, directory);
}

function isNamed(run: RunDirectory, name: string | undefined): boolean {
  return run.record.id === name || isIn(run, name);
}

async function requireSameFile(runDir: string, wanted: NewRun): Promise<void> {
  const [run] = (await openRuns([runDir])).runs;
  if (!run || isOf(run.record, wanted)) return;
  const { id, input } = run.record;
  throw new SvcError('checksum_mismatch', `the run in ${runDir} is of another file, or the file has changed since`, {
    hint: 'Give the file that the run was started with, or another --run-dir for a new run.',
    facts: { run: id, recorded_sha256: input.sha256, sha256: wanted.check.sha256 },
  });
}

function foreignError({ path: runDir, record }: RunDirectory): SvcError {
  return new SvcError(
    'config',
    `the run in ${runDir} belongs to tenant ${record.tenant_id ?? '(unknown)'}, and this key to another one; nothing was submitted`,
    {
      hint: 'Use the key that the run was started with, or another --run-dir for a new run.',
      facts: { run: record.id, tenant_id: record.tenant_id },
    },
  );
}

/** Explains the last command of a hint if it is `--again`. */
const BILLED_AGAIN = 'The last of these commands submits the file as another run, which is billed again.';

function unknownTenantError({ record, name }: RunDirectory, again: readonly string[]): SvcError {
  const { id, profile, tenant_id: tenant } = record;
  const assert =
    tenant === undefined
      ? ''
      : `If this key belongs to tenant ${tenant}, pass --tenant ${tenant}; if not, pass --tenant with its own tenant's id. `;
  return new SvcError(
    'config',
    `this file may have been submitted as ${id} (profile ${profile}), and svc cannot tell whether this key belongs to the same tenant; nothing was submitted`,
    {
      hint: `${assert}See what became of that run, and abandon it only if it is not to be resumed. ${BILLED_AGAIN}`,
      next: ['au', 'status', name],
      alternatives: [['au', 'abandon', name], again],
      facts: { run: id, tenant_id: tenant },
    },
  );
}

/** The time after the end of a run without a cycle during which another submission of its file returns the same run. */
const RETRY_MS = 7 * 86_400_000;
/** The time after its end during which a run without a cycle may become the run of a newly named cycle. */
const CYCLE_MS = 35 * 86_400_000;

/**
 * Returns the newest run of a file without a cycle.
 * @throws SvcError `conflict` if the file would be billed again without the operator's intent
 */
function latestRun([newest]: readonly RunDirectory[], now: number): RunDirectory | undefined {
  if (!newest || statusOf(newest.record) !== 'completed' || now - endOf(newest.record) <= RETRY_MS) return newest;
  const { id, created_at: submitted } = newest.record;
  const completed = new Date(endOf(newest.record)).toISOString();
  throw new SvcError(
    'conflict',
    `this file was submitted on ${submitted.slice(0, 10)} as ${id}, which was completed on ${completed.slice(0, 10)}; nothing was submitted now`,
    {
      hint: `To refresh the same file in each cycle, name the cycle. ${BILLED_AGAIN}`,
      next: [...submitWordsOf(newest), '--cycle', new Date(now).toISOString().slice(0, 7)],
      alternatives: [[...submitWordsOf(newest), '--again']],
      facts: { run: id, submitted_at: submitted, completed_at: completed },
    },
  );
}

/** Finds the run of a cycle among the runs of a file, newest first. Undefined if a new run may begin. */
function runOfCycle(runs: readonly RunDirectory[], cycle: string, adopt: string | undefined, now: number) {
  const run = runs.find(({ record }) => record.cycle === cycle);
  if (adopt !== undefined) return adoptedRun(runs, run, cycle, adopt);
  if (run) return run;
  // A run that is older than a run with a cycle cannot belong to a later cycle.
  const named = runs.findIndex((each) => each.record.cycle !== undefined);
  const candidates = named === -1 ? runs : runs.slice(0, named);
  const open = candidates.find((each) => statusOf(each.record) !== 'completed' || now - endOf(each.record) <= CYCLE_MS);
  if (!open) return undefined;
  const { id, created_at: submitted } = open.record;
  const words = [...submitWordsOf(open), '--cycle', cycle];
  throw new SvcError(
    'conflict',
    `this file was submitted without a cycle on ${submitted.slice(0, 10)}, as ${id} (${statusOf(open.record)}); nothing was submitted now`,
    {
      hint: `If that is its run of ${cycle}, adopt it. ${BILLED_AGAIN}`,
      next: [...words, '--adopt', id],
      alternatives: [[...words, '--again']],
      facts: { run: id, submitted_at: submitted, cycle },
    },
  );
}

function adoptedRun(runs: readonly RunDirectory[], ofCycle: RunDirectory | undefined, cycle: string, adopt: string) {
  const run = runs.find((each) => isNamed(each, adopt));
  if (!run) throw new SvcError('usage', '--adopt names no run of this file at this tenant', { next: ['au', 'runs'] });
  const other = ofCycle ?? (run.record.cycle === undefined ? run : undefined);
  if (other === run) return run;
  const problem = ofCycle
    ? `cycle ${cycle} has a run already: ${ofCycle.record.id}`
    : `${run.record.id} is the run of cycle ${run.record.cycle}`;
  throw new SvcError('conflict', `${problem}; nothing was changed`, {
    hint: 'Omit --adopt:',
    next: [...submitWordsOf(run), '--cycle', cycle],
    facts: { run: ofCycle?.record.id ?? run.record.id, cycle },
  });
}

/** Refuses an abandoned run. The operator must first undo that, because its rows may have been billed. */
function requireKept(run: RunDirectory): void {
  const { record, name } = run;
  if (statusOf(record) !== 'abandoned') return;
  throw new SvcError('usage', `this file was submitted as ${record.id}, which was abandoned`, {
    hint: `To resume it, undo that. ${BILLED_AGAIN}`,
    next: ['au', 'abandon', name, '--undo'],
    alternatives: [[...submitWordsOf(run), '--again']],
    facts: { run: record.id, abandoned_at: record.abandoned_at },
  });
}

function submitWordsOf({ record: { input } }: RunDirectory): string[] {
  return ['au', 'submit', input.path === undefined ? '-' : input.name];
}
