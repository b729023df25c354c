import { jobView } from '../job/job-view.ts';
import { resumable } from '../job/resumable.ts';
import { showJobs } from '../job/show-progress.ts';
import { explainMissing } from '../jobs/missing-job.ts';
import { confirmParameters, confirmWords, onlyRecordedParameter } from '../jobs/options.ts';
import { acceptParameter } from '../request/checks.ts';
import { wholeJobId } from '../whole-job-id.ts';
import { isSvcError } from '../../base/errors.ts';
import { type Context, Preview, type Result, defineCommand, dryRunParameter } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import { type Input, argument, reading } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';

const parameters = {
  job: argument('<job>', 'id of a pending job', textToSend),
  file: reading(argument('<file|->', 'a request file, or - for standard input', text), ['.csv']),
  accept: acceptParameter,
  ...confirmParameters,
  onlyRecorded: onlyRecordedParameter,
  dryRun: dryRunParameter,
} as const;

type UploadInput = Input<typeof parameters>;

export const upload = defineCommand({
  description:
    'The file is checked first. A job that already has its file, or may have it, is left alone, so that nothing is uploaded twice. A file with a token for several merchants is refused, because submit makes several jobs of it. Like submit, it stops for jobs of the key that the ledger does not know, and for rows of an open or young cycle.',
  examples: [['svc au upload 5f0c… tokens.csv', 'then: svc au resume 5f0c… --wait']],
  permissions: ['account-updater:job:read'],
  exitCodes: [[6, 'another job or a young cycle has rows of the file'], 9, 10, 11, 12, 13],
  changes: true,
  fields: jobView.fields,
  parameters,
  async run(context, input): Promise<Result> {
    const { job, dryRun } = input;
    return dryRun ? uploadFile(context, input) : resumable(wordsFor(job, input), { job }, uploadFile(context, input));
  },
  request: async (_, { job }) => (await import('../../client/api/resources.ts')).readJobRequest(job),
});

/** Returns the command line for a job, as words. */
function wordsFor(
  job: string,
  { file, accept, onlyRecorded, ...confirmed }: Omit<UploadInput, 'job'>,
): readonly string[] {
  const recorded = onlyRecorded ? ['--only-recorded'] : [];
  return ['au', 'upload', job, file, ...option('--accept', accept), ...confirmWords(confirmed), ...recorded];
}

async function uploadFile(context: Context, { job: typed, ...input }: UploadInput): Promise<Result> {
  const { file, accept, payAgain, newLedger, onlyRecorded, dryRun } = input;
  const { noteOverview, openJobFile } = await import('../request/open-request-file.ts');
  const { implausibleFile } = await import('../request/implausible-file.ts');
  const { requireTokensOnce } = await import('../request/rows-file.ts');
  const { readJob } = await import('../job/job.ts');
  const { mayBeAnotherFile, requireArrived, sentBefore, uploadAddress, uploadToJob } = await import('../job/upload.ts');
  const print = await recordPrinter(context, jobView);
  const checked = await openJobFile(context, file);
  const { source } = checked;
  const client = await context.client();
  const job = await wholeJobId(context, typed);
  const pending = await explainMissing(context, job, readJob(client, job));
  // Checked before the claim: a job that has its file takes no other.
  const address = uploadAddress(pending, client);
  const words = wordsFor(job, input);
  const refused = implausibleFile(checked.submitted, { name: checked.name, words, accept });
  if (refused !== undefined) throw refused;
  await requireTokensOnce(checked, file);
  noteOverview(context, undefined, checked.submitted);
  const { claimFile } = await import('../jobs/claim-file.ts');
  const submit = ['au', 'submit', file, ...option('--accept', accept)];
  const claiming = {
    file: checked,
    words,
    submit,
    confirmed: { payAgain, newLedger },
    onlyRecorded,
    onlyReads: dryRun,
  };
  await claimFile(context, client, pending, claiming, async (sent) => {
    const onEvent = showJobs(context);
    if (sent.sent === 'refused') throw mayBeAnotherFile(job);
    if (sent.mayBeWhole) await requireArrived(client, job, sentBefore(job), { onEvent });
    else await uploadToJob(client, pending, source, { onEvent, onSent: sent.record });
    sent.record('stored');
  });
  if (dryRun) {
    const { uploadRequest } = await import('../../client/transfer/upload.ts');
    const request = uploadRequest(address, source.size);
    const addressShownBy = ['au', 'status', job, '--show-urls'];
    return new Preview({ ...request, file: { name: file, bytes: source.size }, addressShownBy });
  }
  const shown = await jobToShow(context, client, pending);
  await print(shown);
  if (shown.status !== null) noteNext(context, 'to wait until it is completed', ['au', 'resume', job, '--wait']);
  return undefined;
}

/** Reads a job to show it. A failure changes nothing: the store has the file. */
async function jobToShow(context: Context, client: Client, pending: AccountUpdaterJob): Promise<ListedJob> {
  const { id, tenant_id, created_by, created_at } = pending;
  const read = await client.bestEffort(({ accountUpdater }) => accountUpdater.read(id));
  if (!isSvcError(read)) return read;
  context.notices.note(`the store has the file, but job ${id} could not be read: ${read.message}`);
  noteNext(context, 'to see its status', ['au', 'status', id]);
  return { id, tenant_id, status: null, created_by, created_at };
}
