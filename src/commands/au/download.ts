import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { type Context, defineCommand } from '../../app/command.ts';
import { argument, flag, text, value } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import type { TakeOptions } from './download-results.ts';
import { downloadView } from './view.ts';

/** `svc au download` */
export const download = defineCommand({
  description:
    'The results of a job come byte for byte; those of a run are joined in the order of its input. A file counts only when it is proven whole: by its MD5 or its length, its header and its columns. What is not is downloaded again, three times in all, and never put in place.',
  examples: [
    ['svc au download 5f0c… --out results.csv', 'a transfer that was cut off is resumed'],
    ['svc au download run-20260131-0a1b2c3d-4e5f', 'every part of a run, as one file'],
    ['svc au download 5f0c… --out - | gzip > results.csv.gz', 'to standard output, once it is whole'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 10, 11, 12, 130],
  fields: downloadView.fields,
  parameters: {
    of: argument('<job|run>', 'id of a job, or id or directory of a run', text),
    out: value('--out <file|->', 'where to write, or - for standard output; by default results.csv', text),
    force: flag('--force', 'replace a file that exists; of a run, download everything once more'),
    acceptUnproven: flag(
      '--accept-unproven',
      'take results that came the same each time although one check fails',
    ),
  },
  async run(context, { of, out, ...how }) {
    const { namedRun, resultsPath } = await import('./runs.ts');
    const run = namedRun(context, of);
    if (run) await downloadRun(context, run, { out: out ?? resultsPath(context, run.record), ...how });
    else await downloadJob(context, of, { out: out ?? 'results.csv', ...how });
  },
  async request(context, { of: name }) {
    return (await import('./runs.ts')).jobRequest(context, name);
  },
});

async function downloadJob(context: Context, job: string, options: TakeOptions): Promise<void> {
  const { explainMissing } = await import('./runs.ts');
  const { withResumeHint } = await import('../../account-updater/events.ts');
  const { downloadResults } = await import('../../account-updater/results.ts');
  const { inspectTarget } = await import('../../files/target.ts');
  const { copyOut, openSpool, requireDestination } = await import('./deliver-results.ts');
  const { showRun } = await import('./progress.ts');
  const { out, force, acceptUnproven } = options;
  const print = await recordPrinter(context, downloadView);
  await requireDestination(context, options);
  const isFile = out !== '-' && (await inspectTarget(out, force)).kind === 'file';
  const file = isFile ? out : (await openSpool(context)).path;
  const client = await context.client();
  const again = `svc au download ${job} --out ${out}`;
  const download = downloadResults(client, job, file, {
    overwrite: force,
    acceptUnproven,
    host: context.system,
    onEvent: showRun(context),
  }).catch((error: unknown) => {
    throw orAccept(error, job);
  });
  const { bytes, sha256 } = await withResumeHint(again, job, explainMissing(context, job, download));
  if (!isFile) await copyOut(context, file, out);
  if (out !== '-') await print({ job, file: out, bytes, sha256 });
}

/** How to take results that are not proven whole, where the same bytes came each time. */
function orAccept(error: unknown, job: string): unknown {
  if (!isSvcError(error, 'checksum_mismatch') || typeof error.facts?.['kept'] !== 'string') return error;
  const { code, message, hint, facts, retryable } = error;
  return new SvcError(code, message, {
    hint,
    next: ['au', 'download', job, '--accept-unproven'],
    facts,
    retryable,
  });
}

async function downloadRun(context: Context, run: RunDirectory, options: TakeOptions): Promise<void> {
  const { downloadResults } = await import('./download-results.ts');
  const { requireDestination } = await import('./deliver-results.ts');
  const { out } = options;
  const print = await recordPrinter(context, downloadView);
  await requireDestination(context, options, run);
  const { bytes, sha256 } = await run.hold(context.system, () => downloadResults(context, run, options));
  if (out !== '-') await print({ job: run.record.id, file: out, bytes, sha256 });
}
