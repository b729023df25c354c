import { EXIT_CODES, isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { flag, value } from '../../cli/app/parameter.ts';
import { type ListPrinter, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { positiveDuration } from '../../cli/app/value-parsers.ts';
import { countText, formatBytes, isoTime } from '../../cli/output/time.ts';
import type { View } from '../../cli/output/view.ts';
import { removeOrphanedSpool } from '../request/spool.ts';
import { type OldRun, oldRun, pruneRun } from '../run/prune.ts';
import { everyRun } from '../run/recorded-runs.ts';
import { shownStatus, toneOf } from '../run/run-view.ts';

const prunedRunView: View<ReturnType<typeof prunedRun>> = {
  name: 'pruned run',
  fields: ['run', 'profile', 'cycle', 'status', 'ended_at', 'files', 'bytes'],
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'profile', kind: 'text', priority: 1 },
    { path: 'cycle', kind: 'text', priority: 2 },
    { path: 'ended_at', kind: 'time', priority: 4 },
    { path: 'files', kind: 'number', priority: 3 },
    { path: 'bytes', kind: 'number' },
  ],
};

export const prune = defineCommand({
  description:
    'Removes the results that ended runs keep in their directories, and after 35 days the copies of their request files: both contain tokens. Open runs, unclear runs and the files named with --out stay; cycles of au refresh are listed with the command that removes them.',
  details:
    'Only runs that have been completed, failed or abandoned for longer than --older-than are pruned, never those whose outcome at the service is unknown or whose record cannot be read. The record of a run stays, without any token: submitting the same file again is still recognized, and results that the service still has can be downloaded again.',
  examples: [
    ['svc au prune --older-than 90d --dry-run', 'show what would be removed'],
    ['svc au prune --older-than 90d --yes', 'from cron'],
  ],
  exitCodes: [3],
  fields: prunedRunView.fields,
  parameters: {
    olderThan: value('--older-than <duration>', 'only runs that ended longer ago, such as 90d', positiveDuration),
    dryRun: flag('--dry-run', 'show what would be removed, and remove nothing'),
  },
  async run(context, { olderThan, dryRun }) {
    if (olderThan === undefined)
      throw new SvcError('usage', '--older-than is missing', {
        hint: 'Say how old the runs must be: --older-than 90d.',
      });
    const print = await listPrinter(context, prunedRunView);
    const before = context.clock.now() - olderThan;
    const code = await pruneRuns(context, { before, dryRun, print });
    await noteOldCycles(context, before);
    return code;
  },
});

interface Pruning {
  readonly before: number;
  readonly dryRun: boolean;
  readonly print: ListPrinter<ReturnType<typeof prunedRun>>;
}

async function pruneRuns(context: Context, { before, dryRun, print }: Pruning): Promise<number> {
  const { runs, unreadable } = await everyRun(context);
  // A run whose record is unreadable may be old enough to prune.
  const code = unreadable.length > 0 ? EXIT_CODES.config : 0;
  const old = runs.flatMap((run) => oldRun(run, before, context.clock.now()) ?? []);
  if (!dryRun) await removeOrphanedSpool(context.system);
  await print(oneBatch(old.map(prunedRun)));
  if (old.length === 0) {
    if (code === 0) context.notices.note('no runs to prune');
    return code;
  }
  const bytes = old.reduce((sum, run) => sum + run.bytes, 0);
  const what = `the files of ${countText(old.length, 'run')} (${formatBytes(bytes)})`;
  if (dryRun) {
    context.notices.note(`dry run: ${what} would be removed`);
    return code;
  }
  await context.prompts().confirm(`Remove ${what}?`, 'nothing was removed');
  const failed = await pruneAll(context, old, before);
  return failed === 0 ? code : failed;
}

/** Names the directories of old cycles with the command that removes them, because their files are the operator's. */
async function noteOldCycles(context: Context, before: number): Promise<void> {
  const { oldCycles } = await import('../refresh/open-cycles.ts');
  const { usualParent } = await import('../refresh/rehearsal.ts');
  const parent = usualParent(context);
  const old = await oldCycles(context, parent, before);
  if (old.length === 0) return;
  const have = old.length === 1 ? 'has' : 'have';
  context.notices.note(
    `${countText(old.length, 'cycle')} in ${parent} ${have} not been written to for as long, and ${have} tokens; to remove ${old.length === 1 ? 'it' : 'them'}:`,
  );
  const remove = context.system.platform === 'win32' ? 'Remove-Item -Recurse' : 'rm -r';
  for (const { path: directory } of old) context.notices.command(`${remove} ${directory}`);
}

function prunedRun({ run: { record }, ended, files, bytes }: OldRun) {
  return {
    run: record.id,
    profile: record.profile,
    cycle: record.cycle ?? null,
    status: shownStatus(record),
    ended_at: isoTime(ended),
    files: files.length,
    bytes,
  };
}

/**
 * Prunes runs and returns the exit code. Reports a run that another process is using, and continues with the others.
 */
async function pruneAll(context: Context, old: readonly OldRun[], before: number): Promise<number> {
  const { notices, system, clock, signal } = context;
  let pruned = 0;
  let failed = 0;
  for (const each of old) {
    signal.throwIfAborted();
    try {
      if (await pruneRun(each, before, system, clock.now())) pruned += 1;
    } catch (error) {
      if (!isSvcError(error)) throw error;
      failed += 1;
      warnOf(context, each.run.record.id, error);
    }
  }
  const removed = `removed the files of ${countText(pruned, 'run')}`;
  if (failed > 0) {
    notices.warn(`${removed}; ${countText(failed, 'run')} could not be pruned`);
    return EXIT_CODES.local;
  }
  // Another process may have pruned or changed the runs after they were listed.
  if (pruned === 0) notices.note('nothing was removed: none of these runs is one to prune any more');
  else notices.success(removed);
  return 0;
}
