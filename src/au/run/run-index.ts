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

/** The folder with a small file for each run that is recorded elsewhere (`--run-dir`). */
const INDEX = 'elsewhere';

/** Beside the runs: the lock for whoever begins one, or compares rows within a cycle. */
export const BEGIN_LOCK = 'begin.lock';

/** Records where a run is, so that its file is recognized by all who have the same runs root. */
export function indexRun(root: string, { path: directory, record: { id: run } }: RunDirectory): void {
  const absolute = path.resolve(directory);
  if (isSamePath(path.dirname(absolute), root)) return;
  makeDirectory(path.join(root, INDEX));
  const entry = { version: 1, run, directory: absolute };
  writeFileAtomicSync(entryFile(root, run), `${JSON.stringify(entry)}\n`);
}

/** Opens the runs recorded elsewhere whose ids `wants` accepts. */
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

/** The entries that name a directory; an entry that is damaged is named by its own path. */
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
  /** Undefined for standard input. */
  readonly path: string | undefined;
  readonly check: RequestFileCheck;
  /** The copy of the file that was checked, which the run takes as its own. */
  readonly copy: string;
  /** The hash of the file that was given, where only its new rows are submitted. */
  readonly sourceSha256?: string | undefined;
  /** What the operator calls this refresh of the file. */
  readonly cycle?: string | undefined;
  /** The tenant that the key belongs to, where that is known before the first job. */
  readonly tenant?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Every recorded run of this very file, the newest first, whatever its profile, base URL and tenant; and the records
 * that may be of this file but cannot be read. `root` contains the runs and the index of those elsewhere.
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
  // A run that was moved is indexed where it was until it is used where it is.
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !byId.has(run ?? ''));
  return { runs: newestFirst([...byId.values()]), unreadable };
}

/** Opens every run, since a directory may have been renamed. Where a record cannot be read, the name of its directory decides. */
async function listedRuns(root: string, wants: (name: string) => boolean): Promise<FoundRuns> {
  const { runs, unreadable } = await listRuns(root);
  return { runs, unreadable: unreadable.filter(({ run, directory }) => wants(run ?? path.basename(directory))) };
}

/** Every run of a cycle, the newest first, at services or in the embedded sandbox; and the records that cannot be read. */
export async function runsOfCycle(root: string, { cycle, base_url: baseUrl }: CycleAt): Promise<FoundRuns> {
  const found = await Promise.all([listRuns(root), indexedRuns(root, () => true)]);
  const byId = new Map(found.flatMap(({ runs }) => runs).map((run) => [run.record.id, run]));
  const runs = [...byId.values()].filter(
    ({ record }) => record.cycle === cycle && (record.base_url === 'sandbox') === (baseUrl === 'sandbox'),
  );
  const unreadable = found.flatMap((each) => each.unreadable).filter(({ run }) => !byId.has(run ?? ''));
  return { runs: newestFirst(runs), unreadable };
}

/** A cycle, and where its runs are. */
export interface CycleAt {
  readonly cycle: string;
  readonly base_url: string;
}

/** Finds the newest open run of an earlier content of this file. */
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
 * The run that was begun after one that sent nothing, for the same file or for what is now at the same path: the older
 * one is then not to be uploaded. A record that cannot be read may be that run.
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
  // What was tried in the embedded sandbox says nothing about the service.
  if ((record.base_url === 'sandbox') !== (untouched.base_url === 'sandbox')) return false;
  const { path: file } = untouched.input;
  const isSameFile = sourceOf(input) === sourceOf(untouched.input);
  return isSameFile || (file !== undefined && input.path !== undefined && isSamePath(input.path, file));
}

/** Whether a run is of this very file, or of the rows of it that were new. */
export function isOf({ input }: RunRecord, { check }: Pick<NewRun, 'check'>): boolean {
  return input.source_sha256 === check.sha256 || isExactly({ input }, check);
}

/** Whether a run submits the whole of this very file. */
export function isExactly({ input }: Pick<RunRecord, 'input'>, { sha256, bytes }: NewRun['check']): boolean {
  return input.sha256 === sha256 && input.bytes === bytes;
}

/** The hash of the file that was given. */
function sourceOf({ source_sha256: source, sha256 }: RunRecord['input']): string {
  return source ?? sha256;
}

/** Starts a run: on disk, with every part planned, before the first request. */
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

/** The start of the file's hash that the name of a run carries; undefined for a name of another form. */
function hashIn(name: string): string | undefined {
  return /^run-\d{8}-([0-9a-f]{8})-[0-9a-f]{4}$/.exec(name)?.[1];
}
