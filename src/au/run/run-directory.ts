import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { removeOrphanedTemporaries, writeFileAtomicSync } from '../../base/files/draft.ts';
import { draftOf, moveFlushed } from '../../base/files/durable.ts';
import { isLocked, type LockHost, withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Part } from './part.ts';
import { recordText, type RunRecord } from './record.ts';

/** Name of the file that a run directory is known by. */
export const RECORD = 'run.json';

/** Name of the copy of its request file, which a run keeps: what happens to the file itself changes nothing. */
const REQUEST = 'run-request.csv';

/** What the copy is called until the record of the run is written. */
const UNBORN_REQUEST = `.${REQUEST}.new`;

/**
 * A run on disk: a small directory that can be carried to another machine and continued there.
 * Every change is on the disk before the next step is taken.
 */
export class RunDirectory {
  readonly path: string;
  #record: RunRecord;

  private constructor(directory: string, record: RunRecord) {
    this.path = directory;
    this.#record = record;
  }

  /**
   * Makes the directory of a new run, which takes `request`, the checked copy of its request file.
   * @throws SvcError `config` when a run is there already
   */
  static create(directory: string, record: RunRecord, request: string): RunDirectory {
    makeDirectory(directory);
    if (fs.existsSync(path.join(directory, RECORD)))
      throw new SvcError('config', `${directory} already contains a run`, { hint: 'Choose another directory.' });
    const run = new RunDirectory(directory, record);
    run.#moveIn(request, UNBORN_REQUEST);
    run.save();
    run.#moveIn(path.join(directory, UNBORN_REQUEST), REQUEST);
    return run;
  }

  /** Opens a run, or gives undefined when the directory contains none. @throws SvcError `config` when it is damaged */
  static async open(directory: string): Promise<RunDirectory | undefined> {
    const record = await readRecord(directory);
    return record && new RunDirectory(directory, record);
  }

  /** The record of the run. `hold` reads it again, since another process may have changed it. */
  get record(): RunRecord {
    return this.#record;
  }

  /** What to call the run in a command: its id where it is recorded as usual, else its directory. */
  get name(): string {
    return this.#isUsual() ? this.#record.id : this.path;
  }

  /** The command that submits the file of the run again, as the words behind `svc`. */
  get submitWords(): readonly string[] {
    const { input, cycle } = this.#record;
    const words = ['au', 'submit', input.path === undefined ? '-' : input.name];
    if (cycle !== undefined) words.push('--cycle', cycle);
    if (input.source_sha256 !== undefined) words.push('--only-new');
    if (!this.#isUsual()) words.push('--run-dir', this.path);
    return words;
  }

  /** The command that resumes the run: from the copy of its file, where it has one. */
  get resumeWords(): readonly string[] {
    return this.requestFile === undefined ? this.submitWords : ['au', 'resume', this.name];
  }

  #isUsual(): boolean {
    const { base, dir } = path.parse(path.resolve(this.path));
    return base === this.#record.id && path.basename(dir) === 'runs';
  }

  /** The run's copy of its request file; runs of earlier versions have none, and pruned ones no longer. */
  get requestFile(): string | undefined {
    return requestFileIn(this.path);
  }

  /** Replaces the copy of the request file with another checked one, since the old one may be damaged. Needs the lock of the run. */
  replaceRequest(copy: string): void {
    this.#moveIn(copy, REQUEST);
  }

  /** Removes what a process that was killed left of a copy, unless that is the only one. */
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

  /** Where a part's results are kept, as they came. */
  resultsFile({ number }: Pick<Part, 'number'>): string {
    return path.join(this.path, `results-${String(number).padStart(4, '0')}.csv`);
  }

  /** Writes the record and flushes it. */
  save(): void {
    writeFileAtomicSync(path.join(this.path, RECORD), recordText(this.#record));
  }

  /**
   * Holds the run for one process at a time, and reads its record again.
   * @throws SvcError `config` naming the one that has it
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

  /** Tells whether another process, which may be alive, is at work on the run. */
  isHeld(host: Pick<LockHost, 'pid' | 'isAlive'>): boolean {
    return isLocked(lockFile(this.path), host);
  }
}

/** The copy of a request file in the directory of a run, whether its record can be read or not. */
export function requestFileIn(directory: string): string | undefined {
  // A process that was killed right after it wrote the record has not renamed the copy.
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
 * The lock is named after the directory's inode: the lock of a killed process does not block a copy of the directory on
 * another machine, and two machines that share the directory see the same lock.
 */
function lockFile(directory: string): string {
  return path.join(directory, `run.${fs.statSync(directory).ino}.lock`);
}

/** A run whose record cannot be read: what it has at the service is not known here. */
export interface UnreadableRun {
  readonly directory: string;
  /** Its id, where it is known. */
  readonly run?: string | undefined;
  readonly error: SvcError;
}

/** Runs as they are found on disk, the newest first. */
export interface FoundRuns {
  readonly runs: readonly RunDirectory[];
  readonly unreadable: readonly UnreadableRun[];
}

/** The runs below a directory, whatever their directories are called. A copy of a run is not another run. */
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

/** Among directories with the record of the same run, the one that svc named is the run. */
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

/** Opens runs by their directories. One that was killed before its first record is none. */
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

/** Runs by the time of their creation, the newest first. */
export function newestFirst(runs: readonly RunDirectory[]): RunDirectory[] {
  return runs.toSorted((a, b) => (a.record.created_at < b.record.created_at ? 1 : -1));
}

/** Removes directories of runs that were killed before their first record. For the holder of the lock to begin runs. */
export function removeUnborn(root: string): void {
  for (const name of runNames(root)) {
    const directory = path.join(root, name);
    if (isUnborn(directory)) fs.rmSync(directory, { recursive: true });
  }
}

/** Names of the directories of runs. One that was renamed is known by its record. */
export function runNames(root: string): string[] {
  const names = entriesIn(root).flatMap((entry) => (entry.isFile() ? [] : [entry.name]));
  return names.filter((name) => name.startsWith('run-') || fs.existsSync(path.join(root, name, RECORD)));
}

/** What is in a directory; nothing where it does not exist. @throws SvcError `config` where that cannot be read */
export function entriesIn(directory: string): fs.Dirent[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const code = systemCodeOf(error);
    // Below a file there is nothing, and nothing can have been recorded.
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
  return name.startsWith(`.${RECORD}.`) || name.startsWith(UNBORN_REQUEST);
}

function missingRecord(directory: string): SvcError {
  return new SvcError('config', `${path.join(directory, RECORD)} is missing`, {
    hint: 'Put it back if it was moved, or abandon the run.',
    next: ['au', 'abandon', directory],
  });
}
