import { isSvcError } from '../../base/errors.ts';
import {
  type Context,
  defineCommand,
  dryRunParameter,
  Preview,
  PROFILES_PARAMETER,
  type Result,
} from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, choice, moment, PAGING_PARAMETERS, text, value } from '../../cli/app/parameter.ts';
import {
  listPrinter,
  newListProgress,
  once,
  pageSizeFor,
  recordPrinter,
  reportRest,
  wanted,
} from '../../cli/app/print.ts';
import { countText } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import type { Page } from '../../client/api/pages.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { isUntouched } from '../run/record.ts';
import { everyRun, explainMissing, jobRequest, namedRun, partRows, partView, toneOf } from '../run/run-view.ts';
import { showRun } from '../run/show-progress.ts';

/** How Account Updater jobs are shown. Both addresses are secrets. */
export const jobView: View<AccountUpdaterJob> = {
  name: 'job',
  fields: fieldPaths('id tenant_id status created_by created_at expires_at upload_url errors download_url'),
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};

export const create = defineCommand({
  examples: [
    ['svc au create', 'a new job'],
    ['svc au create --fields id', 'its id, for a script'],
  ],
  permissions: ['account-updater:job:create'],
  exitCodes: [9],
  changes: true,
  fields: jobView.fields,
  parameters: { dryRun: dryRunParameter },
  async run(context, { dryRun }): Promise<Result> {
    const print = await recordPrinter(context, jobView);
    const { createJobRequest } = await import('../../client/api/resources.ts');
    if (dryRun) return new Preview(createJobRequest());
    const client = await context.client();
    const job = await client.accountUpdater.create();
    noteNext(context, `created job ${job.id}; upload a file within the hour`, ['au', 'upload', job.id, '<file>']);
    await print(job);
  },
  request: async () => (await import('../../client/api/resources.ts')).createJobRequest(),
});

export const upload = defineCommand({
  description: 'The file is checked first. A job that has its file already is left alone: nothing is uploaded twice.',
  examples: [['svc au upload 5f0c… tokens.csv', 'then: svc au wait 5f0c…']],
  permissions: ['account-updater:job:read'],
  exitCodes: [9, 12, 13],
  changes: true,
  worksElsewhere: true,
  fields: jobView.fields,
  parameters: {
    job: argument('<job>', 'id of a pending job', text),
    file: argument('<file|->', 'a request file, or - for standard input', text),
    dryRun: dryRunParameter,
  },
  async run(context, { job, file, dryRun }): Promise<Result> {
    const { openJobFile } = await import('./check.ts');
    const { readJob } = await import('../run/job.ts');
    const { uploadAddress, uploadToJob } = await import('../run/upload.ts');
    const print = await recordPrinter(context, jobView);
    const { source } = await openJobFile(context, file);
    const client = await context.client();
    const pending = await explainMissing(context, job, readJob(client, job));
    if (dryRun) {
      const { uploadRequest } = await import('../../client/transfer/upload.ts');
      const request = uploadRequest(uploadAddress(pending, client), source.size);
      return new Preview({ ...request, file: { name: file, bytes: source.size } });
    }
    await uploadToJob(client, pending, source, { onEvent: showRun(context) });
    await print(await readJob(client, job));
  },
  request: async (_, { job }) => (await import('../../client/api/resources.ts')).readJobRequest(job),
});

export const status = defineCommand({
  examples: [
    ['svc au status run-20260131-0a1b2c3d-4e5f', 'its parts, polled now'],
    ['svc au status 5f0c…', 'one job, with its errors if it failed'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: [...new Set([...partView.fields, ...jobView.fields])],
  parameters: { of: argument('<job|run>', 'id of a job, or id or directory of a run', text) },
  async run(context, { of }) {
    const run = namedRun(context, of);
    if (run === undefined) return printJob(context, of);
    const print = await listPrinter(context, partView);
    if (isUntouched(run.record)) {
      await print(once(partRows(run.record)));
      return noteNext(context, `nothing of ${run.record.id} was sent yet; to submit it`, run.submitWords);
    }
    const client = await context.client();
    const { pollJobs, workOn } = await import('../run/poll-parts.ts');
    const poll = (save?: () => void): Promise<void> =>
      pollJobs({ ...workOn(client, run, { onEvent: showRun(context) }), ...(save && { save }) });
    let isHeld = false;
    const held = (): Promise<void> => {
      isHeld = true;
      return poll();
    };
    await run.hold(context.system, held).catch((error: unknown) => {
      // Another process holds it, or the directory cannot be written: what the service says can be shown all the same.
      if (!isSvcError(error, 'local') && (isHeld || !isSvcError(error, 'config'))) throw error;
      context.notices.note(`what the service says is shown, and not recorded: ${error.message}`);
      return poll(() => undefined);
    });
    await print(once(partRows(run.record)));
  },
  request: (context, { of }) => jobRequest(context, of),
});

async function printJob(context: Context, id: string): Promise<void> {
  const print = await recordPrinter(context, jobView);
  const { readJob } = await import('../run/job.ts');
  await print(await explainMissing(context, id, readJob(await context.client(), id)));
}

/** A job of the tenant, and the run on this machine that it belongs to. */
type ListedJob = AccountUpdaterJob & { readonly run: string | null; readonly part: number | null };

const listedJobView: View<ListedJob> = {
  ...jobView,
  fields: [...jobView.fields, 'run', 'part'],
  columns: [
    ...jobView.columns.slice(0, 3),
    { path: 'run', kind: 'id', priority: 4 },
    { path: 'part', kind: 'number', priority: 4 },
    ...jobView.columns.slice(3),
  ],
};

/** The most jobs that are read to find those of a status. */
const MOST_READ = 20_000;

const listParameters = {
  ...PAGING_PARAMETERS,
  ...PROFILES_PARAMETER,
  status: choice('--status <status>', 'only jobs with this status', JOB_STATUSES),
  since: value('--since <time>', 'only jobs that were created since then', moment),
} as const;

export const jobs = defineCommand({
  description:
    'Jobs of the service, with the run on this machine that each belongs to. The service cannot filter them: --status and --since read on until enough match. The runs themselves are listed with svc au runs.',
  examples: [
    ['svc au jobs', 'the newest page'],
    ['svc au jobs --status failed --since 30d', 'what failed in the last 30 days'],
    ['svc au jobs --all --fields id,status,run', 'every job the service still knows'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: listedJobView.fields,
  parameters: listParameters,
  async run(context, input) {
    const print = await listPrinter(context, listedJobView);
    const client = await context.client();
    const since = input.since?.(client.now());
    const isFiltered = input.status !== undefined || since !== undefined;
    const pages = client.accountUpdater.list({ start: input.start, pageSize: pageSizeFor(input, isFiltered) }).pages();
    const bounds = {
      all: input.all || since !== undefined,
      limit: input.limit ?? (isFiltered && !input.all && since === undefined ? 100 : undefined),
      ...(isFiltered && !input.all ? { mostRead: MOST_READ } : {}),
    };
    const seen = newListProgress();
    const isWanted = (job: AccountUpdaterJob): boolean =>
      (input.status === undefined || job.status === input.status) && !isBefore(job, since);
    await print(withRuns(context, wanted(untilOlder(pages, since), bounds, seen, isWanted)));
    reportRest(context, seen, isFiltered ? `no jobs match; ${countText(seen.read, 'job')} were read` : 'no jobs');
  },
  async request(_, input) {
    const { listJobsRequest } = await import('../../client/api/resources.ts');
    const { pageRequest } = await import('../../client/api/pages.ts');
    return pageRequest(listJobsRequest(), { start: input.start, pageSize: pageSizeFor(input) });
  },
});

function isBefore({ created_at: created }: AccountUpdaterJob, since: number | undefined): boolean {
  return since !== undefined && created != null && Date.parse(created) < since;
}

/** The newest jobs come first: behind an older one there is nothing to look for. */
async function* untilOlder(pages: AsyncIterable<Page<AccountUpdaterJob>>, since: number | undefined) {
  for await (const page of pages) {
    const isLast = page.items.some((job) => isBefore(job, since));
    yield isLast ? { ...page, next: undefined } : page;
    if (isLast) return;
  }
}

async function* withRuns(context: Context, batches: AsyncIterable<readonly AccountUpdaterJob[]>) {
  const known = new Map<string, { readonly run: string; readonly part: number }>();
  for (const { record } of everyRun(context).runs)
    for (const { job, number, earlier_jobs: earlier = [] } of record.parts)
      for (const id of [job, ...earlier.map((each) => each.job)])
        if (id !== undefined) known.set(id, { run: record.id, part: number });
  const listed = (job: AccountUpdaterJob): ListedJob => ({
    ...job,
    ...(known.get(job.id) ?? { run: null, part: null }),
  });
  for await (const batch of batches) yield batch.map(listed);
}
