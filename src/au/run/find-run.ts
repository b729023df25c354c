import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { withLock } from '../../base/files/lock.ts';
import { isSamePath } from '../../base/files/names.ts';
import { isOn } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { annotateWarning } from '../request/annotations.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { endOf } from './prune.ts';
import { isUntouched, needsFile, type RunRecord, statusOf } from './record.ts';
import { knownRunsRoot, runsRoot } from './recorded-runs.ts';
import { openRuns, removeUnborn, type RunDirectory, runNames } from './run-directory.ts';
import { beginRun, findOutdated, findRuns, indexRun, isOf, type NewRun } from './run-index.ts';
import { TenantProof } from './tenant-proof.ts';
import { applyToRun } from './run.ts';

/** Which run of a file is meant, by the options of `au submit`. */
interface RunChoice {
  readonly again: boolean;
  readonly runDir: string | undefined;
  readonly cycle: string | undefined;
  readonly adopt: string | undefined;
  readonly tenant: string | undefined;
  readonly dryRun: boolean;
  readonly noUnrecordedJobs: boolean;
  readonly otherJob: readonly string[];
}

/** Finds or begins the run of a request file, known by its hash, tenant and cycle: not by profile, URL or location. */
export class RunFinder {
  readonly #context: Context;
  readonly #choice: RunChoice;
  readonly #wanted: NewRun;
  /** Where runs are recorded, and those in a `--run-dir` are indexed. */
  readonly #root: string | undefined;
  #proof: TenantProof | undefined;
  #tenant: string | undefined;
  #now: number | undefined;
  /** Runs that had sent nothing when they were found: until one is locked, another process may begin its jobs. */
  readonly #free = new WeakSet<RunDirectory>();

  constructor(context: Context, choice: RunChoice, file: RequestFile) {
    this.#context = context;
    this.#choice = choice;
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
    const free = inOrder.filter(({ record }) => this.#isSameKind(record) && isUntouched(record));
    for (const run of free) this.#free.add(run);
    if (again) return free[0];
    const chosen = await this.#choose(inOrder, free);
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

  /** Runs that sent something decide, as far as they are of this tenant; where none is resumed, a free run is used. */
  async #choose(runs: readonly RunDirectory[], free: readonly RunDirectory[]): Promise<RunDirectory | undefined> {
    const { runDir, cycle, adopt } = this.#choice;
    const touched = runs.filter((run) => !free.includes(run));
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

  /** The recorded run, or a new one. Two terminals that begin the same file at once begin one run: the second finds it. */
  async findOrBegin(): Promise<RunDirectory> {
    const root = this.#preparedRoot();
    const lockedIn = root ?? this.#choice.runDir ?? '';
    makeDirectory(lockedIn);
    return withLock(path.join(lockedIn, 'begin.lock'), this.#context.system, async () => {
      const found = await this.find();
      if (found) return found;
      if (root !== undefined) {
        removeUnborn(root);
        await this.#warnOfOutdated(root);
        this.#warnOfEmptyState(root);
      }
      const directory = (id: string): string => this.#choice.runDir ?? path.join(lockedIn, id);
      const run = beginRun(directory, { ...this.#wanted, tenant: this.#tenant });
      if (root !== undefined) indexRun(root, run);
      this.#free.add(run);
      return run;
    });
  }

  /**
   * Records this command's options, and where the run is recorded. For whoever holds it.
   * @throws SvcError `conflict` where another process began a run that was free when it was found
   */
  update(run: RunDirectory, out: string): void {
    const { record } = run;
    if (this.#free.has(run)) this.#takeOver(record);
    const { cycle, path: file, copy, baseUrl } = this.#wanted;
    applyToRun(record, {
      kind: 'submitted',
      out: path.resolve(out),
      baseUrl,
      path: file === undefined ? undefined : path.resolve(file),
      cycle,
      noUnrecordedJobs: this.#choice.noUnrecordedJobs,
      otherJobs: this.#choice.otherJob,
    });
    // A run that was just begun has it already. One that is completed needs none.
    if (fs.existsSync(copy) && statusOf(record) !== 'completed') run.replaceRequest(copy);
    run.save();
    const root = this.#preparedRoot();
    if (root !== undefined) indexRun(root, run);
  }

  /** Makes a run that sent nothing a run of this command. */
  #takeOver(record: RunRecord): void {
    const { profile, baseUrl, name, cycle } = this.#wanted;
    if (!isUntouched(record)) return this.#requireSameSubmission(record);
    applyToRun(record, { kind: 'adopted', profile, baseUrl, name, tenant: this.#tenant, cycle });
  }

  /** A run that another process began since it was found is resumed only where that process had the same in mind. */
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

  /** What was tried in the embedded sandbox and what is at a service have nothing to do with each other. */
  #isSameKind({ base_url: baseUrl }: RunRecord): boolean {
    return (baseUrl === 'sandbox') === (this.#wanted.baseUrl === 'sandbox');
  }

  /** The command that starts another run of this file, which is billed again. */
  #againWords(): string[] {
    const { path: file, name, cycle } = this.#wanted;
    return ['au', 'submit', file === undefined ? '-' : name, ...(cycle ? ['--cycle', cycle] : []), '--again'];
  }

  /** Whether the run belongs to the tenant of the key in use. @throws SvcError `config` where that is unknown */
  async #isOurs(run: RunDirectory): Promise<boolean> {
    const { record } = run;
    if (!this.#isSameKind(record)) return false;
    // A dry run needs no key: it takes the run of another profile for one of the same tenant.
    if (this.#choice.dryRun) return true;
    const client = await this.#context.client();
    this.#proof ??= new TenantProof(client, this.#choice.tenant);
    const relation = await this.#proof.relationOf(record);
    this.#now = client.now();
    if (relation === 'other') this.#tenant ??= await this.#proof.tenant();
    if (relation !== 'unknown') return relation === 'same';
    const { profile, baseUrl } = this.#wanted;
    const isHere = record.profile === profile && record.base_url === baseUrl;
    // Such a run may be resumed: before it creates another job, the tenant is checked once more.
    if (isHere && statusOf(record) !== 'completed') return true;
    throw unknownTenantError(run, this.#againWords());
  }

  /** The runs root made ready for a new run; undefined where that is not possible and `--run-dir` is given. */
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

  /** In CI the record of what was paid for is lost with the machine, unless it is saved and restored. */
  #warnOfEmptyState(root: string): void {
    if (!isOn(this.#context.system.env['CI'])) return;
    if (runNames(root).length > 0 || fs.existsSync(path.join(root, 'elsewhere'))) return;
    annotateWarning(
      this.#context,
      `the state directory ${path.dirname(root)} was empty: if this file was submitted before, it is now submitted and paid for again. Keep this directory from one CI job to the next (SVC_STATE_DIR names it)`,
    );
  }
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
    hint: 'Give the file that the run was started with, or another --run-dir for a run of its own.',
    facts: { run: id, recorded_sha256: input.sha256, sha256: wanted.check.sha256 },
  });
}

function foreignError({ path: runDir, record }: RunDirectory): SvcError {
  return new SvcError(
    'config',
    `the run in ${runDir} belongs to tenant ${record.tenant_id ?? '(unknown)'}, and this key to another one; nothing was submitted`,
    {
      hint: 'Use the key that the run was started with, or another --run-dir for a run of its own.',
      facts: { run: record.id, tenant_id: record.tenant_id },
    },
  );
}

/** What the last command of a hint does, where that is `--again`. */
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

/** Without a cycle: how long after its end a run's file submitted again counts as a retry. */
const RETRY_MS = 7 * 86_400_000;
/** How long a run without a cycle may be the one of a cycle that is named for the first time. */
const CYCLE_MS = 35 * 86_400_000;

/** The newest run of a file without a cycle. @throws SvcError `conflict` where it would be paid for again unasked */
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

/** The run of a cycle among those of a file, the newest first. Undefined: a run may begin. */
function runOfCycle(runs: readonly RunDirectory[], cycle: string, adopt: string | undefined, now: number) {
  const run = runs.find(({ record }) => record.cycle === cycle);
  if (adopt !== undefined) return adoptedRun(runs, run, cycle, adopt);
  if (run) return run;
  // Once a file has cycles, runs before them belong to none of those to come.
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

/** An abandoned run is not resumed unasked: its rows may have been paid for. */
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
