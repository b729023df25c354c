import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { isSamePath } from '../../base/files/names.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { isObject } from '../../schema/json-value.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { plannedParts, type RunRecord, statusOf } from './record.ts';
import { entriesIn, type FoundRuns, listRuns, newestFirst, openRuns, RECORD, RunDirectory } from './run-directory.ts';

/** The folder that contains a small file for each run recorded elsewhere (`--run-dir`). */
const INDEX = 'elsewhere';

/** The lock, in the directory of runs, for beginning a run and for comparing rows within a cycle. */
export const BEGIN_LOCK = 'begin.lock';

/** Records the location of a run, so that every process with the same directory of runs recognizes its file. */
export function indexRun(root: string, { path: directory, record: { id: run } }: RunDirectory): void {
  const absolute = path.resolve(directory);
  if (isSamePath(path.dirname(absolute), root)) return;
  makeDirectory(path.join(root, INDEX));
  const entry = { version: 1, run, directory: absolute };
  writeFileAtomicSync(entryFile(root, run), `${JSON.stringify(entry)}\n`);
}

/** Opens the runs recorded elsewhere whose ids are accepted by `wants`. */
export async function indexedRuns(root: string, wants: (id: string) => boolean): Promise<FoundRuns> {
  const wanted = indexedIds(root).filter(wants);
  const found = await Promise.all(wanted.map((run) => openIndexed(root, run)));
  return { runs: found.flatMap(({ runs }) => runs), unreadable: found.flatMap(({ unreadable }) => unreadable) };
}

async function openIndexed(root: string, run: string): Promise<FoundRuns> {
  const entry = entryFile(root, run);
  const directory = directoryIn(entry);
  if (directory === undefined) {
    const error = new SvcError('config', `${entry} is damaged: it does not say where its run is recorded`);
    return { runs: [], unreadable: [{ directory: entry, run, error }] };
  }
  const { runs, unreadable } = await openRuns([directory]);
  const other = runs.find(({ record }) => record.id !== run);
  if (other) {
    const error = new SvcError('config', `${run} is no longer in ${directory}, where ${other.record.id} is now`, {
      hint: 'If its directory was renamed, submit its file with the new name of the directory.',
      facts: { run, directory },
    });
    return { runs: [], unreadable: [{ directory: entry, run, error }] };
  }
  return { runs, unreadable: unreadable.map(({ error }) => ({ directory, run, error })) };
}

/** Returns the index entries for a directory. A damaged entry is identified by its own path. */
export function indexEntriesOf(root: string, directory: string): string[] {
  const entries = indexedIds(root).map((id) => entryFile(root, id));
  return entries.filter((file) => isSamePath(directoryIn(file) ?? file, directory) || file === directory);
}

function indexedIds(root: string): string[] {
  return entriesIn(path.join(root, INDEX)).flatMap(({ name }) => /^(run-.*)\.json$/.exec(name)?.[1] ?? []);
}

function entryFile(root: string, id: string): string {
  return path.join(root, INDEX, `${id}.json`);
}

function directoryIn(file: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(readRegularFileSync(file));
    const directory = isObject(entry) ? entry['directory'] : undefined;
    return typeof directory === 'string' ? directory : undefined;
  } catch {
    return undefined;
  }
}

export interface NewRun {
  readonly profile: string;
  readonly baseUrl: string;
  readonly name: string;
  /** The path of the file; undefined for standard input. */
  readonly path: string | undefined;
  readonly check: RequestFileCheck;
  /** The checked copy of the file, which becomes the run's copy. */
  readonly copy: string;
  /** The hash of the submitted file, if only its new rows are sent. */
  readonly sourceSha256?: string | undefined;
  /** The operator's name for this refresh of the file. */
  readonly cycle?: string | undefined;
  /** The tenant of the key, if it is known before the first job. */
  readonly tenant?: string | undefined;
  /** The time when the run begins, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns every recorded run of exactly this file, newest first, whatever its profile, base URL and tenant. Also
 * returns unreadable records that may belong to this file. `root` contains the runs and the index of runs elsewhere.
 */
export async function findRuns(
  root: string | undefined,
  runDir: string | undefined,
  file: Pick<NewRun, 'check'>,
): Promise<FoundRuns> {
  const wants = (name: string): boolean => file.check.sha256.startsWith(hashIn(name) ?? '');
  const found = await Promise.all([
    ...(runDir !== undefined && fs.existsSync(path.join(runDir, RECORD)) ? [openRuns([runDir])] : []),
    ...(root === undefined ? [] : [listedRuns(root, wants), indexedRuns(root, wants)]),
  ]);
  const runs = found.flatMap((each) => each.runs).filter(({ record }) => isOf(record, file));
  const byId = new Map(runs.toReversed().map((run) => [run.record.id, run]));
  // A moved run is indexed under its former path until it is used in the new one.
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !byId.has(run ?? ''));
  return { runs: newestFirst([...byId.values()]), unreadable };
}

/**
 * Opens every run, because a directory may have been renamed. An unreadable run is selected by the name of its
 * directory.
 */
async function listedRuns(root: string, wants: (name: string) => boolean): Promise<FoundRuns> {
  const { runs, unreadable } = await listRuns(root);
  return { runs, unreadable: unreadable.filter(({ run, directory }) => wants(run ?? path.basename(directory))) };
}

/**
 * Returns every run of a cycle, newest first, and all unreadable records. Keeps services and the embedded sandbox
 * apart.
 */
export async function runsOfCycle(root: string, { cycle, base_url: baseUrl }: CycleAt): Promise<FoundRuns> {
  const found = await Promise.all([listRuns(root), indexedRuns(root, () => true)]);
  const byId = new Map(found.flatMap(({ runs }) => runs).map((run) => [run.record.id, run]));
  const runs = [...byId.values()].filter(
    ({ record }) => record.cycle === cycle && (record.base_url === 'sandbox') === (baseUrl === 'sandbox'),
  );
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !byId.has(run ?? ''));
  return { runs: newestFirst(runs), unreadable };
}

/** A cycle and the service of its runs. */
export interface CycleAt {
  readonly cycle: string;
  readonly base_url: string;
}

/** Finds the newest open run of an earlier version of this file. */
export async function findOutdated(root: string, file: NewRun): Promise<RunDirectory | undefined> {
  const { runs } = await listRuns(root);
  return runs.find(
    ({ record }) =>
      file.path !== undefined &&
      record.input.path !== undefined &&
      isSamePath(record.input.path, file.path) &&
      record.profile === file.profile &&
      record.base_url === file.baseUrl &&
      !isOf(record, file) &&
      statusOf(record) === 'open',
  );
}

/**
 * Finds a later run of the same file or path than a run that sent nothing, which must then not be uploaded. An
 * unreadable record may be the later run.
 */
export async function laterRun(
  root: string,
  { record: untouched }: RunDirectory,
): Promise<{ readonly id: string } | undefined> {
  const found = await Promise.all([listRuns(root), indexedRuns(root, () => true)]);
  const later = found.flatMap(({ runs }) => runs).find(({ record }) => isLater(record, untouched));
  if (later) return later.record;
  const unreadable = found
    .flatMap((each) => each.unreadable)
    .map(({ directory, run }) => run ?? path.basename(directory));
  const damaged = unreadable.find((name) => sourceOf(untouched.input).startsWith(hashIn(name) ?? ''));
  return damaged === undefined ? undefined : { id: damaged };
}

function isLater(record: RunRecord, untouched: RunRecord): boolean {
  const { id, input, created_at: begun } = record;
  if (id === untouched.id || begun < untouched.created_at) return false;
  // Runs in the embedded sandbox have no effect at the service.
  if ((record.base_url === 'sandbox') !== (untouched.base_url === 'sandbox')) return false;
  const { path: file } = untouched.input;
  const isSameFile = sourceOf(input) === sourceOf(untouched.input);
  return isSameFile || (file !== undefined && input.path !== undefined && isSamePath(input.path, file));
}

/** Tells whether a run submits exactly this file or only its new rows. */
export function isOf({ input }: RunRecord, { check }: Pick<NewRun, 'check'>): boolean {
  return input.source_sha256 === check.sha256 || isExactly({ input }, check);
}

/** Tells whether a run submits exactly this file with all its rows. */
export function isExactly({ input }: Pick<RunRecord, 'input'>, { sha256, bytes }: NewRun['check']): boolean {
  return input.sha256 === sha256 && input.bytes === bytes;
}

/** Returns the hash of the submitted file. */
function sourceOf({ source_sha256: source, sha256 }: RunRecord['input']): string {
  return source ?? sha256;
}

/** Creates a run on disk, with all parts planned, before the first request. */
export function beginRun(directory: (id: string) => string, file: NewRun): RunDirectory {
  const { check } = file;
  const day = new Date(file.now).toISOString().slice(0, 10).replaceAll('-', '');
  const source = file.sourceSha256 ?? check.sha256;
  const id = `run-${day}-${source.slice(0, 8)}-${randomBytes(2).toString('hex')}`;
  const record: RunRecord = {
    version: 1,
    id,
    created_at: new Date(file.now).toISOString(),
    profile: file.profile,
    base_url: file.baseUrl,
    ...(file.tenant === undefined ? {} : { tenant_id: file.tenant }),
    ...(file.cycle === undefined ? {} : { cycle: file.cycle }),
    input: {
      name: file.name,
      ...(file.path === undefined ? {} : { path: path.resolve(file.path) }),
      rows: check.rows,
      bytes: check.bytes,
      sha256: check.sha256,
      header_bytes: check.headerBytes,
      ...(file.sourceSha256 === undefined ? {} : { source_sha256: file.sourceSha256 }),
    },
    parts: plannedParts(check),
  };
  return RunDirectory.create(directory(id), record, file.copy);
}

/** Returns the beginning of the file's hash from a run's name; undefined for other names. */
function hashIn(name: string): string | undefined {
  return /^run-\d{8}-([0-9a-f]{8})-[0-9a-f]{4}$/.exec(name)?.[1];
}
