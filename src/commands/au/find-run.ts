import fs from 'node:fs';
import path from 'node:path';
import { needsFile } from '../../account-updater/advance.ts';
import { chooseRun } from '../../account-updater/choose-run.ts';
import { type RunRecord, statusOf } from '../../account-updater/record.ts';
import {
  openRuns,
  removeUnborn,
  type RunDirectory,
  type UnreadableRun,
} from '../../account-updater/run-directory.ts';
import {
  beginRun,
  findOutdated,
  findRuns,
  indexRun,
  isOf,
  type NewRun,
} from '../../account-updater/run-index.ts';
import { TenantProof } from '../../account-updater/tenant-proof.ts';
import type { Context } from '../../app/command.ts';
import { SvcError } from '../../errors.ts';
import { makeDirectory } from '../../files/directory.ts';
import { withLock } from '../../files/lock.ts';
import { annotateWarning, type RequestFile } from './request-file.ts';
import { knownRunsRoot, runsRoot, serviceOf } from './runs.ts';

/** Which run of a file is meant. */
export interface RunChoice {
  /** A new one, whatever is recorded. */
  readonly again: boolean;
  /** Where it is recorded; undefined for the state directory. */
  readonly runDir: string | undefined;
  /** The refresh of the file that it belongs to. */
  readonly cycle: string | undefined;
  /** The recorded run that becomes the one of the cycle. */
  readonly adopt: string | undefined;
  /** The tenant that the key belongs to, in the operator's word. */
  readonly tenant: string | undefined;
}

const EMBEDDED = 'sandbox';

/**
 * Finds or begins the run of a request file. What makes a run is the file's hash, the tenant and the cycle: not the
 * profile, nor how the base URL is spelled, nor where the run is recorded.
 */
export class RunOfFile {
  readonly #context: Context;
  readonly #choice: RunChoice & { readonly dryRun: boolean };
  readonly #asked: NewRun;
  /** Where runs are recorded, and those in a `--run-dir` are indexed. */
  readonly #root: string | undefined;
  #proof: TenantProof | undefined;
  #tenant: string | undefined;
  #now: number | undefined;

  constructor(context: Context, choice: RunChoice & { readonly dryRun: boolean }, file: RequestFile) {
    this.#context = context;
    this.#choice = choice;
    this.#root = choice.runDir === undefined ? runsRoot(context) : knownRunsRoot(context);
    this.#tenant = choice.tenant;
    this.#asked = {
      profile: context.settings.profile.value,
      baseUrl: serviceOf(context),
      name: file.name,
      path: file.lasts ? file.path : undefined,
      check: file.check,
      cycle: choice.cycle,
      now: context.clock.now(),
    };
  }

  /**
   * The recorded run that goes on with this file; undefined when a new one may begin.
   * @throws SvcError `config` where a record cannot be read or the tenant cannot be told, `conflict` where the file was
   *   submitted and it is not clear that it is to be paid for again
   */
  async find(): Promise<RunDirectory | undefined> {
    const { again, runDir, cycle, adopt } = this.#choice;
    if (again) return undefined;
    if (runDir !== undefined) requireOfFile(runDir, this.#asked);
    const { runs, unreadable } = findRuns(this.#root, runDir, this.#asked);
    const ours: RunDirectory[] = [];
    for (const run of runs) if (await this.#isOurs(run)) ours.push(run);
    const named = ours.filter((run) => isAt(run, runDir));
    const candidates = [...named, ...ours.filter((run) => !named.includes(run))];
    if (runDir !== undefined) requireFree(runDir, runs, ours);
    const now = this.#now ?? this.#context.clock.now();
    const chosen = chooseRun(candidates, { cycle, adopt, now });
    if (unreadable[0] && (!chosen || mayUpload(chosen.record))) throw unreadableError(unreadable[0]);
    return chosen;
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
        this.#warnOfOutdated(root);
        this.#warnOfEmptyState(root);
      }
      const directory = (id: string): string => this.#choice.runDir ?? path.join(lockedIn, id);
      const run = beginRun(directory, { ...this.#asked, tenant: this.#tenant });
      // Before another terminal may look for it.
      if (root !== undefined) indexRun(root, run);
      return run;
    });
  }

  /** Records what the operator said of the run now, and where it is recorded. For whoever holds it. */
  update(run: RunDirectory, out: string): void {
    const { record } = run;
    record.out = path.resolve(out);
    const { cycle, path: file, baseUrl } = this.#asked;
    if (cycle !== undefined) record.cycle = cycle;
    if (file !== undefined) record.input = { ...record.input, path: path.resolve(file) };
    const known = [record.base_url, ...(record.also_at ?? [])];
    if (!known.includes(baseUrl)) record.also_at = [...(record.also_at ?? []), baseUrl];
    run.save();
    const root = this.#preparedRoot();
    if (root !== undefined) indexRun(root, run);
  }

  /** Whether the run belongs to the tenant of the key in use. @throws SvcError `config` where that cannot be told */
  async #isOurs(run: RunDirectory): Promise<boolean> {
    const { record } = run;
    // The embedded sandbox is no tenant of a service.
    if ((record.base_url === EMBEDDED) !== (this.#asked.baseUrl === EMBEDDED)) return false;
    // A dry run needs no key: it takes the run of another profile for one of the same tenant.
    if (this.#choice.dryRun) return true;
    const client = await this.#context.client();
    this.#proof ??= new TenantProof(client, this.#choice.tenant);
    const relation = await this.#proof.relationOf(record);
    this.#now = client.now();
    if (relation === 'other') this.#tenant ??= await this.#proof.tenant();
    if (relation !== 'unknown') return relation === 'same';
    if (this.#isUnfinishedHere(record)) return true;
    throw unclearTenantError(run);
  }

  /** Such a run may be resumed: before it creates another job, the tenant is checked once more. */
  #isUnfinishedHere(record: RunRecord): boolean {
    const { profile, baseUrl } = this.#asked;
    return record.profile === profile && record.base_url === baseUrl && statusOf(record) !== 'completed';
  }

  /** The runs root made ready for a new run; undefined where that cannot be and `--run-dir` is given. */
  #preparedRoot(): string | undefined {
    const root = this.#root;
    if (this.#choice.runDir === undefined || root === undefined) return root;
    try {
      makeDirectory(root);
      fs.accessSync(root, fs.constants.W_OK);
      return root;
    } catch {
      this.#context.notices.warn(
        `${root} cannot be written: this file will be recognized with --run-dir ${this.#choice.runDir} alone`,
      );
      return undefined;
    }
  }

  #warnOfOutdated(root: string): void {
    const run = findOutdated(root, this.#asked);
    if (run)
      this.#context.notices.warn(
        `${run.record.input.name} has changed since run ${run.record.id} was begun, which is not done; this is a run of its own`,
      );
  }

  /** In CI the record of what was paid for is lost with the machine, unless it is kept and restored. */
  #warnOfEmptyState(root: string): void {
    if (['', '0', 'false'].includes(this.#context.system.env['CI'] ?? '')) return;
    if (fs.readdirSync(root).some((name) => name.startsWith('run-') || name === 'elsewhere')) return;
    annotateWarning(
      this.#context,
      `the state directory ${path.dirname(root)} was empty: if this file was submitted before, it is now submitted and paid for again. Keep this directory from one CI job to the next (SVC_STATE_DIR names it)`,
    );
  }
}

/** Whether submitting the file again would upload some of it. */
function mayUpload(record: RunRecord): boolean {
  return needsFile(record) || record.parts.some(({ state }) => state === 'failed');
}

function isAt(run: RunDirectory, directory: string | undefined): boolean {
  return directory !== undefined && path.resolve(run.path) === path.resolve(directory);
}

/** In a --run-dir nothing else may be. */
function requireOfFile(runDir: string, asked: NewRun): void {
  const [run] = openRuns([runDir]).runs;
  if (!run || isOf(run.record, asked)) return;
  throw new SvcError(
    'checksum_mismatch',
    `the run in ${runDir} is of another file, or the file has changed since`,
    {
      hint: 'Give the file that the run was begun with, or another --run-dir for a run of its own.',
      facts: { run: run.record.id, recorded_sha256: run.record.input.sha256, sha256: asked.check.sha256 },
    },
  );
}

function requireFree(runDir: string, runs: readonly RunDirectory[], ours: readonly RunDirectory[]): void {
  const foreign = runs.find((run) => isAt(run, runDir) && !ours.includes(run));
  if (foreign)
    throw new SvcError(
      'config',
      `the run in ${runDir} belongs to tenant ${foreign.record.tenant_id ?? '(unknown)'}, and this key to another one; nothing was submitted`,
      {
        hint: 'Use the key that the run was begun with, or another --run-dir for a run of its own.',
        facts: { run: foreign.record.id, tenant_id: foreign.record.tenant_id },
      },
    );
}

function unreadableError({ directory, error }: UnreadableRun): SvcError {
  return new SvcError('config', `${error.message}. It may be of this file: nothing was submitted`, {
    hint: `${error.hint ?? ''} 'svc au list' shows the jobs that the service has. 'svc au abandon ${directory}' sets the record aside; --again submits the file whatever the record holds.`.trimStart(),
    facts: { directory },
  });
}

function unclearTenantError({ record, name }: RunDirectory): SvcError {
  const { id, profile, tenant_id: tenant } = record;
  const assert =
    tenant === undefined
      ? ''
      : `If this key belongs to tenant ${tenant}, pass --tenant ${tenant}; if not, pass --tenant with its own tenant's id. `;
  return new SvcError(
    'config',
    `this file was submitted as ${id} (profile ${profile}), and the service does not show whether this key belongs to the same tenant; nothing was submitted`,
    {
      hint: `${assert}--again submits the file whatever was before. 'svc au status ${name}' shows that run.`,
      facts: { run: id, tenant_id: tenant },
    },
  );
}
