import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { removeOrphanedTemporaries, writeFileAtomicSync } from '../../base/files/draft.ts';
import { draftOf, moveFlushed } from '../../base/files/durable.ts';
import { isLocked, type LockHost, withLock } from '../../base/files/lock.ts';
import { shownPath } from '../../base/files/names.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Part } from './part.ts';
import { recordText, type RunRecord } from './record.ts';

/** The name of the record, which identifies a run directory. */
export const RECORD = 'run.json';

/** The name of the run's copy of its request file. With this copy, changes to the file itself do not matter. */
const REQUEST = 'run-request.csv';

/** The name of the left-out rows whose result is an error, where the file beside the request file cannot be written. */
export const LEFT_OUT_ERRORS = 'fix.csv';

/** The name of the copy until the run's record is written. */
const UNBORN_REQUEST = `.${REQUEST}.new`;

/**
 * A run on disk: a small directory that can be moved to another machine and continued there. Every change is flushed to
 * disk before the next step.
 */
export class RunDirectory {
  readonly path: string;
  #record: RunRecord;

  private constructor(directory: string, record: RunRecord) {
    this.path = directory;
    this.#record = record;
  }

  /**
   * Creates the directory of a new run and moves `request` into it, the checked copy of its request file, and the files
   * with the rows of divided parts by their names.
   * @throws SvcError `config` if the directory already contains a run
   */
  static create(
    directory: string,
    record: RunRecord,
    request: string,
    rowsFiles: ReadonlyMap<string, string> = new Map(),
  ): RunDirectory {
    makeDirectory(directory);
    if (fs.existsSync(path.join(directory, RECORD)))
      throw new SvcError('config', `${directory} already contains a run`, { hint: 'Choose another directory.' });
    const run = new RunDirectory(directory, record);
    for (const [name, file] of rowsFiles) run.addRowsFile(name, file);
    run.#moveIn(request, UNBORN_REQUEST);
    run.save();
    run.#moveIn(path.join(directory, UNBORN_REQUEST), REQUEST);
    return run;
  }

  /** Opens a run. Returns undefined if the directory contains none. @throws SvcError `config` for a damaged record */
  static async open(directory: string): Promise<RunDirectory | undefined> {
    const record = await readRecord(directory);
    return record && new RunDirectory(directory, record);
  }

  /** The record of the run. `hold` reads it again, because another process may have changed it. */
  get record(): RunRecord {
    return this.#record;
  }

  /** The name of the run in commands: its id if it is recorded in the usual place, otherwise its directory. */
  get name(): string {
    return this.#isUsual() ? this.#record.id : this.path;
  }

  /**
   * The command that submits the run's file again, as the words after `svc`. The name that was typed may be another file in
   * the current directory.
   */
  get submitWords(): readonly string[] {
    const { input, cycle } = this.#record;
    const words = ['au', 'submit', input.path === undefined ? '-' : shownPath(input.path)];
    if (cycle !== undefined) words.push('--cycle', cycle);
    return words;
  }

  /** The command that resumes the run, from the copy of its file if there is one. */
  get resumeWords(): readonly string[] {
    return this.requestFile === undefined ? this.submitWords : ['au', 'resume', this.name];
  }

  #isUsual(): boolean {
    const { base, dir } = path.parse(path.resolve(this.path));
    return base === this.#record.id && path.basename(dir) === 'runs';
  }

  /** The path of the run's copy of its request file; undefined where it was pruned or is gone. */
  get requestFile(): string | undefined {
    return requestFileIn(this.path);
  }

  /** Replaces the copy of the request file, which may be damaged, with another checked copy. Needs the run's lock. */
  replaceRequest(copy: string): void {
    this.#moveIn(copy, REQUEST);
  }

  /** Moves a file with rows of divided parts into the directory, before the record names it. Needs the run's lock. */
  addRowsFile(name: string, file: string): void {
    this.#moveIn(file, name);
  }

  /** Removes unfinished copies that a killed process left, except the only copy. */
  #removeRequestDrafts(): void {
    const isCopied = fs.existsSync(path.join(this.path, REQUEST));
    const drafts = [draftOf(REQUEST), draftOf(UNBORN_REQUEST), ...(isCopied ? [UNBORN_REQUEST] : [])];
    for (const name of drafts) fs.rmSync(path.join(this.path, name), { force: true });
  }

  #moveIn(file: string, name: string): void {
    const target = path.join(this.path, name);
    try {
      moveFlushed(file, target);
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  /** Returns the path of a part's unchanged results. */
  resultsFile({ number }: Pick<Part, 'number'>): string {
    return path.join(this.path, `results-${String(number).padStart(4, '0')}.csv`);
  }

  /** Writes the record and flushes it. */
  save(): void {
    writeFileAtomicSync(path.join(this.path, RECORD), recordText(this.#record));
  }

  /**
   * Locks the run against other processes, reads its record again, and runs `work`.
   * @throws SvcError `config` with the name of the process that has locked the run
   */
  async hold<T>(host: LockHost, work: () => Promise<T>): Promise<T> {
    const holding = async (): Promise<T> => {
      removeOrphanedTemporaries(path.join(this.path, RECORD));
      this.#removeRequestDrafts();
      this.#record = (await readRecord(this.path)) ?? this.#record;
      return work();
    };
    return withLock(lockFile(this.path), host, holding, { waitMs: 0, what: `run ${this.#record.id}` });
  }

  /** Tells whether another process, which may still be alive, has locked the run. */
  isHeld(host: Pick<LockHost, 'pid' | 'isAlive'>): boolean {
    return isLocked(lockFile(this.path), host);
  }
}

/** Returns the copy of the request file in a run's directory, even if the record is unreadable. */
function requestFileIn(directory: string): string | undefined {
  // A process that was killed right after writing the record has not yet renamed the copy.
  const files = [REQUEST, UNBORN_REQUEST].map((name) => path.join(directory, name));
  return files.find((file) => fs.existsSync(file));
}

async function readRecord(directory: string): Promise<RunRecord | undefined> {
  const file = path.join(directory, RECORD);
  try {
    const text = readRegularFileSync(file);
    const { parseRecord } = await import('./parse-record.ts');
    return parseRecord(text, file);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (error instanceof SvcError || code === undefined) throw error;
    throw new SvcError('config', `${file} could not be read (${code})`, { hint: 'Make it readable for this user.' });
  }
}

/**
 * Returns the path of the lock, which includes the directory's inode. A killed process's lock therefore does not block
 * a copy of the directory on another machine, and two machines that share the directory use the same lock.
 */
function lockFile(directory: string): string {
  return path.join(directory, `run.${fs.statSync(directory).ino}.lock`);
}

/** A run with an unreadable record, so that its jobs are unknown. */
export interface UnreadableRun {
  readonly directory: string;
  /** The id of the run, if known. */
  readonly run?: string | undefined;
  readonly error: SvcError;
}

/** The runs found on disk, newest first. */
export interface FoundRuns {
  readonly runs: readonly RunDirectory[];
  readonly unreadable: readonly UnreadableRun[];
}

/**
 * Returns the runs in a directory, whatever the names of their directories. A copy of a run does not count as another
 * run.
 */
export async function listRuns(root: string): Promise<FoundRuns> {
  const { runs, unreadable } = await openRuns(runNames(root).map((name) => path.join(root, name)));
  const byId = new Map<string, RunDirectory[]>();
  for (const run of runs) byId.set(run.record.id, [...(byId.get(run.record.id) ?? []), run]);
  const found = [...byId.values()].map(withoutCopies);
  return {
    runs: found.flatMap((each) => each.runs),
    unreadable: [...unreadable, ...found.flatMap((each) => each.unreadable)],
  };
}

/** Chooses among directories with the same run the one with the name that svc gave it. */
function withoutCopies(same: readonly RunDirectory[]): FoundRuns {
  const [first, second] = same;
  if (!first || !second) return { runs: same, unreadable: [] };
  const run = first.record.id;
  const named = same.find(({ path: directory }) => path.basename(directory) === run);
  if (named) return { runs: [named], unreadable: [] };
  const error = new SvcError('config', `${first.path} and ${second.path} are both ${run}`, {
    hint: 'One is a copy, which may not know all that was sent: move the older one away.',
    facts: { run },
  });
  return { runs: [], unreadable: [{ directory: first.path, run, error }] };
}

/** Opens runs by their directories. Ignores a directory whose process was killed before it wrote a record. */
export async function openRuns(directories: readonly string[]): Promise<FoundRuns> {
  const runs: RunDirectory[] = [];
  const unreadable: UnreadableRun[] = [];
  for (const directory of directories) {
    try {
      const run = await RunDirectory.open(directory);
      if (run) runs.push(run);
      else if (!isUnborn(directory)) unreadable.push({ directory, error: missingRecord(directory) });
    } catch (error) {
      if (!isSvcError(error)) throw error;
      unreadable.push({ directory, error });
    }
  }
  return { runs: newestFirst(runs), unreadable };
}

/** Sorts runs by their creation, newest first. */
export function newestFirst(runs: readonly RunDirectory[]): RunDirectory[] {
  return runs.toSorted((a, b) => (a.record.created_at < b.record.created_at ? 1 : -1));
}

/**
 * Removes the directories of runs that were killed before their first record. The caller must have the lock for
 * beginning runs.
 */
export function removeUnborn(root: string): void {
  for (const name of runNames(root)) {
    const directory = path.join(root, name);
    if (isUnborn(directory)) fs.rmSync(directory, { recursive: true });
  }
}

/** Returns the names of run directories. A renamed directory is recognized by its record. */
export function runNames(root: string): string[] {
  const names = entriesIn(root).flatMap((entry) => (entry.isFile() ? [] : [entry.name]));
  return names.filter((name) => name.startsWith('run-') || fs.existsSync(path.join(root, name, RECORD)));
}

/**
 * Returns the content of a directory, or nothing if it does not exist.
 * @throws SvcError `config` if it is unreadable
 */
export function entriesIn(directory: string): fs.Dirent[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const code = systemCodeOf(error);
    // A path below a regular file cannot exist, so nothing was recorded there.
    if (code === 'ENOENT' || (code === 'ENOTDIR' && !fs.existsSync(directory))) return [];
    if (code === undefined) throw error;
    throw new SvcError('config', `${directory} could not be read (${code})`, {
      hint: 'It records what was submitted: make it a directory that this user can read.',
    });
  }
}

function isUnborn(directory: string): boolean {
  return fs.existsSync(directory) && fs.readdirSync(directory).every(isUnbornName);
}

function isUnbornName(name: string): boolean {
  return name.startsWith(`.${RECORD}.`) || name.startsWith(UNBORN_REQUEST) || /^\.?rows-\d{4}\.csv/.test(name);
}

function missingRecord(directory: string): SvcError {
  return new SvcError('config', `${path.join(directory, RECORD)} is missing`, {
    hint: 'Put it back if it was moved, or abandon the run.',
    next: ['au', 'abandon', directory],
  });
}
