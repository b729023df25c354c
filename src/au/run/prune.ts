import fs from 'node:fs';
import path from 'node:path';
import { writeFailure } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { apply } from './part.ts';
import { hasUnknown, type RunRecord, statusOf } from './record.ts';
import { LEFT_OUT_ERRORS, type RunDirectory } from './run-directory.ts';
import { applyToRun } from './run.ts';

/** A run that ended before a given time, and its files that contain tokens. */
export interface OldRun {
  readonly run: RunDirectory;
  /** When the run ended, in epoch milliseconds. */
  readonly ended: number;
  /** The names of these files in the run's directory. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** How long the copy of a request is kept, because files of the same cycle are compared with it. */
const REQUEST_MS = 35 * DAY_MS;

/** Returns what to prune of a run that ended before `before`; undefined for a run that must not be pruned. */
export function oldRun(run: RunDirectory, before: number, now: number): OldRun | undefined {
  const { record, requestFile } = run;
  const ended = endOf(record);
  if (!isSettled(record) || ended >= before) return undefined;
  const isRequestOld = ended < now - REQUEST_MS;
  const rowsFiles = record.parts.flatMap(({ rows_file: name }) => name ?? []);
  const request = requestFile !== undefined && isRequestOld ? [path.basename(requestFile), ...new Set(rowsFiles)] : [];
  const files = [...resultFiles(run), ...request];
  if (record.pruned_at !== undefined && files.length === 0) return undefined;
  const sizes = files.map((name) => fs.statSync(path.join(run.path, name), { throwIfNoEntry: false })?.size ?? 0);
  return { run, ended, files, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/**
 * Removes the results of an old run, the service's messages about its rows and, after 35 days, the copy of its request.
 * The record stays without any token, so that the file is recognized and not billed twice.
 * @returns false if the run is no longer old, because another process has resumed it
 */
export async function pruneRun({ run }: OldRun, before: number, host: LockHost, now: number): Promise<boolean> {
  return run.hold(host, async () => {
    const old = oldRun(run, before, now);
    if (!old) return false;
    const { record } = run;
    applyToRun(record, { kind: 'pruned', at: now });
    for (const part of record.parts) apply(part, { kind: 'pruned' });
    // The record is saved first, because a run without its files would otherwise download them again.
    run.save();
    for (const name of old.files) remove(path.join(run.path, name));
    return true;
  });
}

/** Returns when the last job of a run was seen as completed, or when the run was abandoned; at first, when it began. */
export function endOf({ parts, created_at: created, abandoned_at: abandoned }: RunRecord): number {
  return Math.max(...[abandoned, ...parts.map((part) => part.done_at)].map((at) => Date.parse(at ?? created) || 0));
}

/** Tells whether nothing is left to do for a run. Completed results that are not written yet are still needed. */
export function isSettled(record: RunRecord): boolean {
  if (hasUnknown(record)) return false;
  const status = statusOf(record);
  return status === 'completed' ? record.results !== undefined : status !== 'open';
}

/** Returns the result files that the run wrote. Other files in a directory of the operator are not touched. */
function resultFiles(run: RunDirectory): string[] {
  const { path: directory, record } = run;
  const merged = path.resolve(directory, 'results.csv');
  const isOwn = run.name === record.id || record.results?.file === merged;
  const ours = [
    ...record.parts.map((part) => path.basename(run.resultsFile(part))),
    ...(isOwn ? ['results.csv', LEFT_OUT_ERRORS] : []),
  ];
  // A refresh leaves the results in the run's own directory, and writes them elsewhere once more.
  const wanted = record.out === undefined || record.out === merged ? '' : path.relative(directory, record.out);
  const isOurs = (name: string): boolean =>
    ours.some((own) => name === own || name.startsWith(`${own}.`) || name.startsWith(`.${own}.`));
  return fs.readdirSync(directory).filter((name) => isOurs(name) && name !== wanted);
}

/** Removes a file, or a directory with its content. @throws SvcError `local` */
export function remove(file: string): void {
  try {
    fs.rmSync(file, { recursive: true, force: true });
  } catch (error) {
    throw writeFailure(file, error);
  }
}
