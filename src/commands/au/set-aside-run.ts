import fs from 'node:fs';
import path from 'node:path';
import { openRuns, RECORD, type UnreadableRun } from '../../account-updater/run-directory.ts';
import { indexedRuns, indexEntriesOf } from '../../account-updater/run-index.ts';
import type { Context } from '../../app/command.ts';
import { writeFailure } from '../../errors.ts';
import { makeDirectory } from '../../files/directory.ts';
import { knownRunsRoot } from './runs.ts';

/**
 * The run of this name or directory, if its record cannot be read, or is gone from where the index says that it is.
 * Undefined for every other name.
 */
export function unreadableRun(context: Context, name: string): UnreadableRun | undefined {
  const root = knownRunsRoot(context);
  const recorded =
    root !== undefined && name.startsWith('run-') ? path.join(root, path.basename(name)) : name;
  const directory = path.resolve(fs.existsSync(recorded) ? recorded : name);
  const isRun = path.basename(directory).startsWith('run-') || fs.existsSync(path.join(directory, RECORD));
  const found = isRun && isDirectory(directory) ? openRuns([directory]).unreadable : [];
  const indexed = root === undefined ? [] : indexedRuns(root, () => true).unreadable;
  return [...found, ...indexed].find((each) => path.resolve(each.directory) === directory);
}

/**
 * Moves such a run to `damaged/` beside it, after showing the jobs that the service has.
 * @returns where it is now; undefined when the operator declined
 */
export async function setAside(context: Context, unreadable: UnreadableRun): Promise<string | undefined> {
  const { notices, prompts, clock } = context;
  const { directory, error } = unreadable;
  notices.warn(error.message);
  await showNewestJobs(context);
  if (!(await prompts.confirm(`Move ${directory} to damaged?`, 'Pass --yes.'))) {
    notices.note('nothing was changed');
    return undefined;
  }
  const root = knownRunsRoot(context);
  const entries = root === undefined ? [] : indexEntriesOf(root, directory);
  const target = move(directory, clock.now());
  for (const entry of entries) fs.rmSync(entry, { force: true });
  notices.success(`moved to ${target}; 'svc au submit' submits its file as if it had never been submitted`);
  return target;
}

/** One of them may have the rows of the run. */
async function showNewestJobs(context: Context): Promise<void> {
  const client = await context.client();
  const first = await client.accountUpdater.list({ pageSize: 20 }).pages().next();
  const jobs = first.done ? [] : first.value.items;
  if (jobs.length === 0) return context.notices.note('the service has no jobs of this tenant');
  const lines = jobs.map(({ id, status, created_at: at }) => `  ${id}  ${status}  ${at ?? ''}`.trimEnd());
  context.notices.warn(
    [
      'one of these jobs, the newest of the tenant, may have its rows, which are then paid for:',
      ...lines,
    ].join('\n'),
  );
}

function move(directory: string, now: number): string {
  if (!fs.existsSync(directory)) return directory;
  const { dir, base } = path.parse(directory);
  const free = path.join(dir, 'damaged', base);
  const target = fs.existsSync(free) ? `${free}.${now}` : free;
  try {
    makeDirectory(path.dirname(target));
    fs.renameSync(directory, target);
    return target;
  } catch (error) {
    throw writeFailure(target, error);
  }
}

function isDirectory(directory: string): boolean {
  return fs.existsSync(directory) && fs.statSync(directory).isDirectory();
}
