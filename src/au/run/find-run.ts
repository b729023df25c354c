import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { isSamePath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { formatDuration, isoTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { endOf } from './prune.ts';
import { isOfSandbox, isUntouched, type RunRecord, statusOf } from './record.ts';
import { runsRoot } from './recorded-runs.ts';
import { type FoundRuns, listRuns, newestFirst, type RunDirectory } from './run-directory.ts';

/** A file of a tenant, within a cycle. */
export interface FileToFind {
  readonly check: Pick<RequestFileCheck, 'sha256' | 'bytes'>;
  readonly submitted: Pick<RequestFileCheck, 'sha256' | 'bytes'>;
  readonly cycle: string | undefined;
  /** The tenant of the key; undefined if it is not known. */
  readonly tenant: string | undefined;
  readonly isSandbox: boolean;
}

/**
 * Finds the run of a file in its cycle, whatever its profile and base URL. A run that sent something comes before one that
 * did not, and a newer one before an older one.
 * @throws SvcError `config` for an unreadable record that may be of this file, `usage` for an abandoned run
 */
export async function findRun(context: Context, file: FileToFind): Promise<RunDirectory | undefined> {
  const root = runsRoot(context);
  const found = await listRuns(root);
  const runs = newestFirst(found.runs.filter(({ record }) => isRunOf(record, file)));
  const chosen = runs.find(({ record }) => !isUntouched(record)) ?? runs[0];
  requireReadable(found, file);
  if (chosen && !isUntouched(chosen.record)) requireKept(chosen);
  return chosen;
}

function isRunOf(record: RunRecord, { check, submitted, cycle, tenant, isSandbox }: FileToFind): boolean {
  const { input } = record;
  const isFile =
    isExactly(record, submitted) || isExactly(record, check) || input.submitted_sha256 === submitted.sha256;
  return isFile && mayBeOf(record, tenant) && record.cycle === cycle && isOfSandbox(record) === isSandbox;
}

/** Tells whether a run may belong to a tenant. Either of them may be unknown. */
export function mayBeOf({ tenant_id: of }: RunRecord, tenant: string | undefined): boolean {
  return of === undefined || tenant === undefined || of === tenant;
}

/** Tells whether a run submits exactly this file with all its rows. */
export function isExactly(
  { input }: Pick<RunRecord, 'input'>,
  { sha256, bytes }: Pick<RequestFileCheck, 'sha256' | 'bytes'>,
): boolean {
  return input.sha256 === sha256 && input.bytes === bytes;
}

function requireReadable({ unreadable }: FoundRuns, { submitted }: FileToFind): void {
  const damaged = unreadable.find(({ run, directory }) =>
    submitted.sha256.startsWith(hashIn(run ?? path.basename(directory)) ?? ''),
  );
  if (damaged === undefined) return;
  const { directory, error } = damaged;
  throw error.with({
    code: 'config',
    message: `${error.message}. It may be of this file: nothing was submitted`,
    hint: `${error.hint ?? ''} To move the record aside, abandon the run.`.trimStart(),
    next: ['au', 'abandon', directory],
    facts: { directory },
  });
}

/** Refuses an abandoned run. Only the operator goes on with it, because its rows may have been billed. */
function requireKept({ record, resumeWords }: RunDirectory): void {
  if (statusOf(record) !== 'abandoned') return;
  throw new SvcError('usage', `this file was submitted as ${record.id}, which was abandoned`, {
    hint: 'To go on with it after all, name it:',
    next: resumeWords,
    facts: { run: record.id, abandoned_at: record.abandoned_at },
  });
}

/** Explains how to refresh a file regularly, without a command that would bill the whole file again in a new cycle. */
export function refreshText(now: number): string {
  return `To refresh the same file regularly, name a cycle each time, such as --cycle ${new Date(now).toISOString().slice(0, 7)}: all of its rows are billed again in it.`;
}

/** How long after its end a file without a cycle shows its results when it is submitted again. */
export const RETRY_MS = 7 * DAY_MS;

/**
 * Checks that a file without a cycle was not completed long ago: a green exit on old results would be false each month.
 * @throws SvcError `conflict`
 */
export function requireRecent({ record, name }: RunDirectory, now: number): void {
  if (record.cycle !== undefined || statusOf(record) !== 'completed' || now - endOf(record) <= RETRY_MS) return;
  throw new SvcError(
    'conflict',
    `this file was submitted ${formatDuration(now - Date.parse(record.created_at))} ago as ${record.id}, which is completed; nothing was submitted now`,
    {
      hint: `${refreshText(now)} These results again, without a bill:`,
      next: ['au', 'download', name],
      facts: { run: record.id, submitted_at: record.created_at, completed_at: isoTime(endOf(record)) },
    },
  );
}

/** Finds the newest open run of an earlier version of a file, at the same tenant. */
export async function findOutdated(
  context: Context,
  { name, profile, baseUrl, file }: { name: string; profile: string; baseUrl: string; file: FileToFind },
): Promise<RunDirectory | undefined> {
  const root = runsRoot(context);
  if (!fs.existsSync(root)) return undefined;
  const { runs } = await listRuns(root);
  return runs.find(
    ({ record }) =>
      record.input.path === path.resolve(name) &&
      record.profile === profile &&
      record.base_url === baseUrl &&
      mayBeOf(record, file.tenant) &&
      !isRunOf(record, { ...file, cycle: record.cycle }) &&
      statusOf(record) === 'open',
  );
}

/**
 * Finds a later run of the same file or path than a run that sent nothing, which must then not be uploaded unasked: with
 * another cycle, its rows would be paid for twice. An unreadable record may be the later run.
 */
export async function laterRun(
  context: Context,
  { record: untouched }: RunDirectory,
): Promise<{ readonly id: string } | undefined> {
  const root = runsRoot(context);
  const { runs, unreadable } = await listRuns(root);
  const later = runs.find(({ record }) => isLater(record, untouched));
  if (later) return later.record;
  const names = unreadable.map(({ directory, run }) => run ?? path.basename(directory));
  const damaged = names.find((name) => sourceOf(untouched).startsWith(hashIn(name) ?? ''));
  return damaged === undefined ? undefined : { id: damaged };
}

function isLater(record: RunRecord, untouched: RunRecord): boolean {
  const { id, input, created_at: begun } = record;
  if (id === untouched.id || begun < untouched.created_at) return false;
  if (!mayBeOf(record, untouched.tenant_id)) return false;
  // Runs in the embedded sandbox have no effect at the service.
  if (isOfSandbox(record) !== isOfSandbox(untouched)) return false;
  const { path: file } = untouched.input;
  const isSamePlace = file !== undefined && input.path !== undefined && isSamePath(input.path, file);
  return isSamePlace || sourceOf(record) === sourceOf(untouched);
}

/** Returns the hash of the file that was submitted. */
function sourceOf({ input }: RunRecord): string {
  return input.submitted_sha256 ?? input.sha256;
}

/** Returns the beginning of the file's hash from a run's name; undefined for other names. */
function hashIn(name: string): string | undefined {
  return /^run-\d{8}-([0-9a-f]{8})-[0-9a-f]{4}$/.exec(name)?.[1];
}
