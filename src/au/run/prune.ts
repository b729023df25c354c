import fs from 'node:fs';
import path from 'node:path';
import { writeFailure } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import { apply } from './part.ts';
import { hasUnknown, type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { applyToRun } from './run.ts';

/** A run that ended before some time, and the files with tokens that it still keeps. */
export interface OldRun {
  readonly run: RunDirectory;
  /** When it ended, in epoch milliseconds. */
  readonly ended: number;
  /** Names in its directory. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** For how long the copy of a request stays: the files of a cycle are compared with it. */
const REQUEST_MS = 35 * 86_400_000;

/** Returns what to prune of a run that ended before `before`; undefined where it must be left alone. */
export function oldRun(run: RunDirectory, before: number, now: number): OldRun | undefined {
  const { record, requestFile } = run;
  const ended = endOf(record);
  if (!isSettled(record) || ended >= before) return undefined;
  const isRequestOld = ended < now - REQUEST_MS;
  const request = requestFile !== undefined && isRequestOld ? [path.basename(requestFile)] : [];
  const files = [...resultFiles(run), ...request];
  if (record.pruned_at !== undefined && files.length === 0) return undefined;
  const sizes = files.map((name) => fs.statSync(path.join(run.path, name), { throwIfNoEntry: false })?.size ?? 0);
  return { run, ended, files, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/**
 * Removes the results that an old run keeps, what the service said of its rows, and the copy of its request. The record
 * stays, without any token: it is what recognizes the file, so that it is not paid for twice.
 * @returns false when the run is no longer to be pruned: another process resumed it
 */
export async function pruneRun({ run }: OldRun, before: number, host: LockHost, now: number): Promise<boolean> {
  return run.hold(host, async () => {
    const old = oldRun(run, before, now);
    if (!old) return false;
    const { record } = run;
    applyToRun(record, { kind: 'pruned', at: now });
    for (const part of record.parts) apply(part, { kind: 'pruned' });
    // The record is saved first: a run whose files alone are gone would download them again.
    run.save();
    for (const name of old.files) remove(path.join(run.path, name));
    return true;
  });
}

/** When the last job of a run was seen completed, or the run was abandoned. Older records may only have its creation. */
export function endOf({ parts, created_at: created, abandoned_at: abandoned }: RunRecord): number {
  return Math.max(...[abandoned, ...parts.map((part) => part.done_at)].map((at) => Date.parse(at ?? created) || 0));
}

/** Whether nothing is left to do: results that are complete but not written yet are still wanted. */
export function isSettled(record: RunRecord): boolean {
  if (hasUnknown(record) || record.exec === 'due') return false;
  const status = statusOf(record);
  return status === 'completed' ? record.results !== undefined : status !== 'open';
}

/** Files of results that the run itself wrote. Others in a directory that the operator chose are not ours. */
function resultFiles(run: RunDirectory): string[] {
  const { path: directory, record } = run;
  const merged = path.resolve(directory, 'results.csv');
  const isOwn = run.name === record.id || record.results?.file === merged;
  const ours = [...record.parts.map((part) => path.basename(run.resultsFile(part))), ...(isOwn ? ['results.csv'] : [])];
  const wanted = record.out === undefined ? '' : path.relative(directory, record.out);
  const isOurs = (name: string): boolean =>
    ours.some((own) => name === own || name.startsWith(`${own}.`) || name.startsWith(`.${own}.`));
  return fs.readdirSync(directory).filter((name) => isOurs(name) && name !== wanted);
}

/** Removes a file, or a directory with all that is in it. @throws SvcError `local` */
export function remove(file: string): void {
  try {
    fs.rmSync(file, { recursive: true, force: true });
  } catch (error) {
    throw writeFailure(file, error);
  }
}
