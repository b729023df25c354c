import fs from 'node:fs';
import path from 'node:path';
import { SvcError, writeFailure } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, value } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { positiveDuration } from '../../cli/app/value-parsers.ts';
import { isoTime } from '../../cli/output/time.ts';
import { countText, formatBytes } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { JobFiles } from '../job/job-files.ts';
import { stateOf } from '../ledger/command-ledger.ts';
import { openClaims } from '../open-claims.ts';
import { removeOrphanedSpool } from '../request/spool.ts';

/** The files of a job on this machine. */
interface OldFiles {
  readonly job: string;
  /** The time of the last change of these files. */
  readonly written_at: string;
  readonly files: number;
  readonly bytes: number;
}

const prunedView: View<OldFiles> = {
  name: 'pruned job',
  fields: ['job', 'written_at', 'files', 'bytes'],
  columns: simpleColumns({ job: 'id', written_at: 'time', files: 'number', bytes: 'number' }),
};

export const prune = defineCommand({
  description:
    'Removes what this machine keeps of old jobs, the rows that it sent and the results: both contain tokens. Jobs whose results nobody received stay, and the files named with --out; cycles of au refresh are listed with the command that removes them.',
  details:
    'What is paid for stands in the ledger, which keeps no token and is not touched: submitting the same file again is still recognized, and results that the service still has are downloaded again.',
  examples: [
    ['svc au prune --older-than 90d --dry-run', 'show what would be removed'],
    ['svc au prune --older-than 90d --yes', 'from cron'],
  ],
  fields: prunedView.fields,
  parameters: {
    olderThan: value(
      '--older-than <duration>',
      'only files that were written longer ago, such as 90d',
      positiveDuration,
    ),
    dryRun: flag('--dry-run', 'show what would be removed, and remove nothing'),
  },
  async run(context, { olderThan, dryRun }) {
    if (olderThan === undefined)
      throw new SvcError('usage', '--older-than is missing', {
        hint: 'Say how old the files must be: --older-than 90d.',
      });
    const print = await listPrinter(context, prunedView);
    const before = context.clock.now() - olderThan;
    const { notices } = context;
    if (!dryRun) await removeOrphanedSpool(context.system);
    const old = oldFiles(context, before);
    await print(oneBatch(old.map(({ row }) => row)));
    const bytes = old.reduce((sum, { row }) => sum + row.bytes, 0);
    const what = `the files of ${countText(old.length, 'job')} (${formatBytes(bytes)})`;
    if (old.length === 0) notices.note('no files to prune');
    else if (dryRun) notices.note(`dry run: ${what} would be removed`);
    else {
      await context.prompts().confirm(`Remove ${what}?`, 'nothing was removed');
      for (const { directory } of old) remove(context, directory);
      notices.success(`removed ${what}`);
    }
    await noteOldCycles(context, before);
  },
});

/** Returns the files of closed jobs that were last changed before a time. */
function oldFiles(context: Context, before: number): { readonly directory: string; readonly row: OldFiles }[] {
  const { jobs: root, ledgers } = stateOf(context);
  const open = new Set(openClaims(ledgers).map(({ job }) => new JobFiles(root, job).directory));
  const names = fs.existsSync(root) ? fs.readdirSync(root).toSorted() : [];
  return names.flatMap((job) => {
    const directory = path.join(root, job);
    const directoryStat = fs.statSync(directory, { throwIfNoEntry: false });
    if (!directoryStat?.isDirectory()) return [];
    const files = fs.readdirSync(directory);
    const stats = files.flatMap((name) => fs.statSync(path.join(directory, name), { throwIfNoEntry: false }) ?? []);
    // A process that was killed may have left a directory without files.
    const written = Math.max(...(stats.length === 0 ? [directoryStat] : stats).map(({ mtimeMs }) => mtimeMs));
    if (open.has(directory) || !(written < before) || new JobFiles(root, job).isHeld(context.system)) return [];
    const bytes = stats.reduce((sum, { size }) => sum + size, 0);
    return [{ directory, row: { job, written_at: isoTime(written), files: files.length, bytes } }];
  });
}

function remove({ signal }: Context, directory: string): void {
  signal.throwIfAborted();
  try {
    fs.rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

/** Notes the directories of old cycles with a command that removes them. svc does not: their files are the operator's. */
async function noteOldCycles(context: Context, before: number): Promise<void> {
  const { oldCyclesIn } = await import('../refresh/refresh-directory.ts');
  const { usualParent } = await import('../refresh/rehearsal.ts');
  const parent = usualParent(context);
  const old = oldCyclesIn(context, parent, before);
  if (old.length === 0) return;
  const have = old.length === 1 ? 'has' : 'have';
  context.notices.note(
    `${countText(old.length, 'cycle')} in ${parent} ${have} not been written to for as long, and ${have} tokens; to remove ${old.length === 1 ? 'it' : 'them'}:`,
  );
  const remove = context.system.platform === 'win32' ? 'Remove-Item -Recurse' : 'rm -r';
  for (const { path: directory } of old) context.notices.command(`${remove} ${directory}`);
}
