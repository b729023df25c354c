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

/** The options of `au submit` that choose the run of a file. */
interface RunChoice {
  readonly again: boolean;
  readonly runDir: string | undefined;
  readonly cycle: string | undefined;
  readonly adopt: string | undefined;
  /** With a cycle: only the rows that none of its other runs has. */
  readonly onlyNew: boolean;
  /** With a cycle: all rows, whatever its other runs have. */
  readonly also: boolean;
  readonly tenant: string | undefined;
  readonly dryRun: boolean;
  readonly noUnrecordedJobs: boolean;
  readonly otherJob: readonly string[];
}

/** What is to be done with a request file. */
export interface Choice {
  /** The run to resume or to take over; undefined where a new one is to begin. */
  readonly run: RunDirectory | undefined;
  /** What that run sends: the file that was given, or its new rows. */
  readonly file: RequestFile;
  /** How the rows stand to the other runs of the cycle, where there are any. */
  readonly rows?: CycleRows | undefined;
  /** Whether every row of the file was submitted before, in other runs. */
  readonly isNothingNew?: boolean;
}

/** Finds or begins the run of a request file. Its hash, tenant and cycle identify it; profile, URL and location do not. */
export class RunFinder {
  readonly #context: Context;
  readonly #choice: RunChoice;
  readonly #file: RequestFile;
  readonly #wanted: NewRun;
  /** The directory where runs are recorded, and where those in a `--run-dir` are indexed. */
  readonly #root: string | undefined;
  #proof: TenantProof | undefined;
  #tenant: string | undefined;
  #now: number | undefined;
  /** Runs that had sent nothing when they were found. Until one is locked, another process may create its jobs. */
  readonly #free = new WeakSet<RunDirectory>();
  /** How the rows of the file stand to its cycle: kept, since a second look reads only what was sent meanwhile. */
  #rows: CycleRows | undefined;
  /** The new rows of the file. */
  #rest: RequestFile | undefined;
  /** Runs whose rows may be sent again, since the operator said so. */
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
   * The recorded run that this file resumes, or one that sent nothing, which anybody may take over; undefined when a
   * new one may begin.
   * @throws SvcError `config` where a record cannot be read or the tenant is unknown, `conflict` where the file was
   *   submitted and it is not clear that it is to be paid for again
   */
  async find(): Promise<RunDirectory | undefined> {
    const { again, runDir } = this.#choice;
    if (!again && runDir !== undefined) await requireSameFile(runDir, this.#wanted);
    const { runs, unreadable } = await findRuns(this.#root, runDir, this.#wanted);
    const inOrder = runs.toSorted((a, b) => Number(isIn(b, runDir)) - Number(isIn(a, runDir)));
    const free = inOrder.filter((run) => this.#isFree(run, this.#wanted.check));
    for (const run of free) this.#free.add(run);
    if (again) return free[0];
    // A run of the new rows of this file that sent nothing is of no use: other rows may be new by now.
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
   * The run of the file, and what it is to send: within a cycle, each row is submitted once.
   * @throws SvcError those of `find`, and `conflict` where other runs of the cycle have rows of the file
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

  /** Says what the choice means where the cycle has other runs. */
  report({ run, rows, isNothingNew }: Choice, wait: boolean): void {
    const { cycle, again, also } = this.#choice;
    if (cycle === undefined || !rows) return;
    const sending = this.#sending(cycle, run && !isUntouched(run.record) ? run : undefined);
    if (isNothingNew) requireSubmitted(rows, sending, wait);
    noteCycle(this.#context, rows, sending, also || again ? 'all' : 'only new');
  }

  #sending(cycle: string, resumed: RunDirectory | undefined): Sending {
    const { path: file, name } = this.#wanted;
    const { runDir } = this.#choice;
    const words = ['au', 'submit', file === undefined ? '-' : name, '--cycle', cycle, ...option('--run-dir', runDir)];
    return { cycle, name, words, resumed, now: this.#context.clock.now() };
  }

  /** Compares the file, or what a run has yet to send, with the runs of the cycle. */
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

  /** A run that was to send the very rows that are new, and sent nothing. */
  async #freeRunOf({ check }: RequestFile): Promise<RunDirectory | undefined> {
    const { runs } = await findRuns(this.#root, this.#choice.runDir, this.#wanted);
    const free = runs.find((run) => this.#isFree(run, check));
    if (free) this.#free.add(free);
    return free;
  }

  #isFree({ record }: RunDirectory, check: NewRun['check']): boolean {
    return this.#isSameKind(record) && isUntouched(record) && isExactly(record, check);
  }

  /** Chooses among the runs of this tenant that sent something; where none is resumed, a run that sent nothing is used. */
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
   * The recorded run, or a new one. Two terminals that begin the same file at once begin one run: the second finds it.
   * `release` lets others begin runs: once this one is held and its cycle is recorded, so that they see it.
   */
  async findOrBegin({ run: known }: Choice): Promise<{ readonly run: RunDirectory; readonly release: () => void }> {
    if (known && this.#choice.cycle === undefined) return { run: known, release: () => undefined };
    const root = this.#preparedRoot();
    const lockedIn = root ?? this.#choice.runDir ?? '';
    makeDirectory(lockedIn);
    const release = await takeLock(path.join(lockedIn, BEGIN_LOCK), this.#context.system);
    try {
      const choice = await this.choose();
      if (choice.isNothingNew) throw submittedMeanwhile();
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
   * Records this command's options, and where the run is recorded. The caller must hold the run.
   * @throws SvcError `conflict` where another process began a run that was free when it was found
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
    // A new run has its copy already, and a completed one needs none.
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

  /** Resumes a run that another process began meanwhile only where that process was given the same profile, URL and cycle. */
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

  /** Keeps runs of the embedded sandbox apart from those of a service. */
  #isSameKind({ base_url: baseUrl }: RunRecord): boolean {
    return (baseUrl === 'sandbox') === (this.#wanted.baseUrl === 'sandbox');
  }

  /** The command that starts another run of this file, for which the service bills again. */
  #againWords(): string[] {
    const { path: file, name, cycle } = this.#wanted;
    return ['au', 'submit', file === undefined ? '-' : name, ...(cycle ? ['--cycle', cycle] : []), '--again'];
  }

  /** Whether the run belongs to the tenant of the key in use. @throws SvcError `config` where that is unknown */
  async #isOurs(run: RunDirectory): Promise<boolean> {
    const relation = await this.#relationTo(run.record);
    if (relation === 'unknown') throw unknownTenantError(run, this.#againWords());
    return relation === 'same';
  }

  async #relationTo(record: RunRecord): Promise<TenantRelation> {
    if (!this.#isSameKind(record)) return 'other';
    // A dry run has no key to ask with, so it assumes that the run is of the same tenant.
    if (this.#choice.dryRun) return 'same';
    const client = await this.#context.client();
    this.#proof ??= new TenantProof(client, this.#choice.tenant);
    const relation = await this.#proof.relationOf(record);
    this.#now = client.now();
    if (relation === 'other') this.#tenant ??= await this.#proof.tenant();
    if (relation !== 'unknown') return relation;
    const { profile, baseUrl } = this.#wanted;
    const isHere = record.profile === profile && record.base_url === baseUrl;
    // The run may be resumed: the tenant is checked again before another job is created.
    return isHere && statusOf(record) !== 'completed' ? 'same' : 'unknown';
  }

  /** Makes the directory of the runs ready for a new one. Undefined where it cannot be written and `--run-dir` is given. */
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

  /** Warns in CI, where the record of what was paid for is lost with the machine unless the directory is saved and restored. */
  #warnOfEmptyState(root: string): void {
    if (!isOn(this.#context.system.env['CI'])) return;
    if (runNames(root).length > 0 || fs.existsSync(path.join(root, 'elsewhere'))) return;
    annotateWarning(
      this.#context,
      `the state directory ${path.dirname(root)} was empty: if this file was submitted before, it is now submitted and paid for again. Keep this directory from one CI job to the next (SVC_STATE_DIR names it)`,
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

/** Explains the last command of a hint where that is `--again`. */
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

/** How long after the end of a run without a cycle its file counts as submitted by mistake, or for its results. */
const RETRY_MS = 7 * 86_400_000;
/** How long after its end a run without a cycle may be the run of a cycle that is named for the first time. */
const CYCLE_MS = 35 * 86_400_000;

/** Returns the newest run of a file without a cycle. @throws SvcError `conflict` where it would be paid for again unasked */
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

/** Finds the run of a cycle among the runs of a file, the newest first. Undefined where a new one may begin. */
function runOfCycle(runs: readonly RunDirectory[], cycle: string, adopt: string | undefined, now: number) {
  const run = runs.find(({ record }) => record.cycle === cycle);
  if (adopt !== undefined) return adoptedRun(runs, run, cycle, adopt);
  if (run) return run;
  // A run that is older than one with a cycle belongs to no later cycle.
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

/** Refuses an abandoned run: the operator has to take that back first, since its rows may have been paid for. */
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
