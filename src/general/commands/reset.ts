import fs from 'node:fs';
import path from 'node:path';
import { openClaims } from '../../au/open-claims.ts';
import { isAbsent, readFailure, SvcError, writeFailure } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, repeated } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { ownMember } from '../../schema/own-member.ts';
import { installedCompletions } from '../completion/installed.ts';
import { KEPT_BELOW, KEPT_NAMES } from '../kept-names.ts';

/** A file, or a directory with its content, that svc keeps on this machine. */
type Kept = ReturnType<typeof keptAt>;

const keptView: View<Kept> = {
  name: 'kept file',
  fields: ['kind', 'path', 'files'],
  columns: simpleColumns({ kind: 'status', path: 'id', files: 'number' }),
};

export const reset = defineCommand({
  description:
    'Removes profiles and keys, what is kept of jobs, the state of the sandbox, positions, caches and installed completions. Archives, results and checkpoints in directories that you named stay. Keys remain valid at the service. End other svc commands first.',
  details:
    'Without the ledger, a file that was submitted is not recognized and can be billed again: a job of the ledger whose results nobody has must be named with --forget.',
  examples: [
    ['svc reset --dry-run', 'show what would be removed'],
    ['svc reset --yes', 'for a script'],
  ],
  anySettings: true,
  exitCodes: [5, [6, 'a job is not over: name it with --forget'], 130],
  fields: keptView.fields,
  parameters: {
    forget: repeated('--forget <job>', 'go on although nobody has the results of this job', textToSend),
    dryRun: flag('--dry-run', 'show what would be removed, and remove nothing'),
  },
  async run(context, { forget, dryRun }) {
    const { notices, globals, prompts, system } = context;
    const print = await listPrinter(context, keptView);
    const kept = keptFiles(context);
    await print(oneBatch(kept));
    refuseOpenJobs(context, forget);
    const what = countText(
      kept.reduce((sum, { files }) => sum + files, 0),
      'file',
    );
    if (kept.length === 0) return notices.note('nothing is kept here');
    if (dryRun) return notices.note(`dry run: ${what} would be removed`);
    const typed = globals.yes ? 'reset' : await prompts().promptText(`To remove ${what}, type reset:`, 'Pass --yes.');
    if (typed.trim() !== 'reset') throw new SvcError('declined', 'nothing was removed');
    // State is removed last, so that a failure keeps the record of paid work.
    for (const each of kept.toReversed()) remove(each.path);
    for (const kind of ['config', 'cache', 'state'] as const) removeIfEmpty(directoryOf(system, kind));
    return notices.success(`removed ${what}`);
  },
});

function keptFiles({ system }: Context): Kept[] {
  const found = (['state', 'cache', 'config'] as const).flatMap((kind) => {
    const root = directoryOf(system, kind);
    const names = root === undefined ? [] : entriesIn(root).map(({ name }) => name);
    const ours = names.filter((name) => KEPT_NAMES[kind].test(name)).map((name) => path.join(root ?? '', name));
    return ours.flatMap((file) => (kind === 'state' ? keptBelow(file) : [file])).map((file) => keptAt(kind, file));
  });
  return [...found, ...installedCompletions(system).map((file) => keptAt('completion', file))];
}

/** Returns a state directory, or only the files of svc if the directory contains other files too. */
function keptBelow(directory: string): string[] {
  if (!fs.lstatSync(directory).isDirectory()) return [directory];
  const names = entriesIn(directory).map(({ name }) => name);
  const ours = names.filter((name) => ownMember(KEPT_BELOW, path.basename(directory))?.test(name));
  return ours.length === names.length ? [directory] : ours.map((name) => path.join(directory, name));
}

function keptAt(kind: 'completion' | 'cache' | 'config' | 'state', file: string) {
  const isDirectory = fs.lstatSync(file).isDirectory();
  const inside = isDirectory ? fs.readdirSync(file, { recursive: true, withFileTypes: true }) : [];
  return { kind, path: file, files: isDirectory ? inside.filter((entry) => !entry.isDirectory()).length : 1 };
}

/**
 * Refuses the reset while the ledger has jobs that may be billed and whose results nobody has read, unless `--forget` names them.
 * @throws SvcError `conflict` for such jobs, `not_found` for a named job that is not open
 */
function refuseOpenJobs(context: Context, forget: readonly string[]): void {
  const open = openJobs(context);
  if (forget.some((job) => !open.includes(job)))
    throw new SvcError('not_found', 'a job given with --forget is not open', { next: ['au', 'status'] });
  const left = open.filter((job) => !forget.includes(job));
  if (left.length === 0) return;
  throw new SvcError(
    'conflict',
    `${countText(left.length, 'job')} may be billed, and nobody has the results: ${left.join(', ')}`,
    {
      hint: 'Wait for their results first, or name each one that you want to lose.',
      next: ['au', 'status'],
      alternatives: [['reset', ...open.flatMap((job) => ['--forget', job])]],
    },
  );
}

/** Returns the jobs that only this machine's ledgers have, and whose results nobody has read: a reset removes no shared ledger. */
function openJobs({ system }: Context): string[] {
  const state = directoryOf(system, 'state');
  const claims = state === undefined ? [] : openClaims(path.join(state, 'ledger'));
  return claims.filter(({ isShared }) => !isShared).map(({ job }) => job);
}

/** Returns the content of a directory, or nothing if it does not exist. */
function entriesIn(directory: string): fs.Dirent[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw readFailure(directory, error);
  }
}

/** Removes a file, or a directory with its content. @throws SvcError `local` */
function remove(file: string): void {
  try {
    fs.rmSync(file, { recursive: true, force: true });
  } catch (error) {
    throw writeFailure(file, error);
  }
}

function removeIfEmpty(root: string | undefined): void {
  try {
    if (root !== undefined) fs.rmdirSync(root);
  } catch {
    // The directory contains files of the operator, or is a link, so it stays.
  }
}
