import path from 'node:path';
import { exactMembers } from '../../base/json/exact.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import {
  limitedPages,
  type ListProgress,
  newListProgress,
  pageSizeFor,
  PAGING_PARAMETERS,
  pagingWords,
  reportRest,
} from '../../cli/app/paging.ts';
import { choice, conflicting, flag, type Input, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { moment } from '../../cli/app/moment.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { cleanText } from '../../cli/output/text.ts';
import { isoTime, parseTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { View } from '../../cli/output/view.ts';
import { isEndless, type Page, type PageOptions } from '../../client/api/pages.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { jobView } from '../job/job-view.ts';
import { claimsSeen } from '../open-claims.ts';
import { isSvcError } from '../../base/errors.ts';
import { nextPollDelay } from '../../client/api/poll.ts';

/** A job of the tenant, with its cycle and file as this machine knows them from the ledger. */
type JobRow = ListedJob & { readonly cycle: string | null; readonly file: string | null };

const listedJobView: View<JobRow> = {
  ...jobView,
  fields: [...jobView.fields, 'cycle', 'file'],
  columns: [
    ...jobView.columns.slice(0, 3),
    { path: 'file', kind: 'text', priority: 2, repeats: ({ file }) => file === null },
    ...jobView.columns.slice(3),
  ],
};

/** The largest number of jobs to read in search of a status. */
const MAX_READ = 20_000;

const listParameters = {
  ...PAGING_PARAMETERS,
  status: choice('--status <status>', 'only jobs with this status', JOB_STATUSES),
  since: value('--since <time>', 'only jobs created since then', moment),
  watch: conflicting(
    ['all', 'start', 'status'],
    flag('-w, --watch', 'then show new and changed jobs, until none is under way'),
  ),
} as const;

type ListInput = Input<typeof listParameters>;

export const jobs = defineCommand({
  description:
    'Lists the jobs of the service, with the file and the cycle of those that are in the ledger. The service cannot filter them: with --status and --since, pages are read until enough jobs match.',
  examples: [
    ['svc au jobs', 'the newest page'],
    ['svc au jobs --status failed --since 30d', 'what failed in the last 30 days'],
    ['svc au jobs --all --fields id,status,cycle', 'every job the service still knows'],
    ['svc au jobs --watch', 'the newest page, then what changes'],
  ],
  permissions: ['account-updater:job:read'],
  paged: ({ watch }) => watch !== true,
  endsWithReader: true,
  fields: listedJobView.fields,
  parameters: listParameters,
  async run(context, input) {
    const print = await listPrinter(context, listedJobView);
    if (input.watch) {
      // The interval begins where it began at the first look: jobs that were in it stay in it.
      const since = input.since?.((await context.client()).now());
      const fixed = { ...input, since: since === undefined ? undefined : () => since };
      await print(watchJobs(context, () => look(context, fixed)));
      return 0;
    }
    const seen = newListProgress();
    const { jobs, isFiltered, since } = await listed(context, input, seen);
    const wordsFrom = (start: string) => [
      'au',
      'jobs',
      ...option('--status', input.status),
      ...option('--since', isoTime(since)),
      ...pagingWords(input, start),
    ];
    await print(jobs).catch((error: unknown) => {
      throw withSearched(error, seen, wordsFrom);
    });
    const nothing = isFiltered ? `no jobs match; ${countText(seen.read, 'job')} were read` : 'no jobs';
    reportRest(context, seen, { nothing, limit: input.limit, wordsFrom });
    return 0;
  },
  async request(_, input) {
    const { listJobsRequest } = await import('../../client/api/resources.ts');
    const { pageRequest } = await import('../../client/api/pages.ts');
    return pageRequest(listJobsRequest(), firstPage(input));
  },
});
/** Reads as much of the list as requested, and adds the file of each job. */
async function listed(context: Context, input: ListInput, seen: ListProgress) {
  const client = await context.client();
  const since = input.since?.(client.now());
  const isFiltered = isFilteredHere(input);
  const pages = client.accountUpdater.list(firstPage(input)).pages();
  const bounds = {
    all: input.all || since !== undefined,
    limit: input.limit ?? (isFiltered && !input.all && since === undefined ? 100 : undefined),
    ...(isFiltered && !input.all ? { mostRead: MAX_READ } : {}),
  };
  const isWanted = (job: ListedJob): boolean =>
    (input.status === undefined || job.status === input.status) && !isBefore(job, since);
  return {
    jobs: withFiles(context, limitedPages(untilOlder(pages, since), bounds, seen, isWanted)),
    isFiltered,
    since,
  };
}

async function look(context: Context, input: ListInput): Promise<readonly JobRow[]> {
  const { jobs } = await listed(context, input, newListProgress());
  const rows: JobRow[] = [];
  for await (const batch of jobs) rows.push(...batch);
  return rows;
}

/** Adds the number of jobs that were read, and the command that continues, to the error for an endless list. */
function withSearched(error: unknown, { read, next }: ListProgress, wordsFrom: (start: string) => string[]): unknown {
  if (!isEndless(error) || next === undefined) return error;
  return error.with({
    message: `${error.message}; read before them: ${countText(read, 'job')}`,
    hint: 'To read on from there:',
    next: wordsFrom(next),
  });
}

/** Tells whether svc filters the jobs, in which case a page may contain few matches. */
function isFilteredHere({ status, since }: ListInput): boolean {
  return status !== undefined || since !== undefined;
}

function firstPage(input: ListInput): PageOptions {
  return { start: input.start, pageSize: pageSizeFor(input, isFilteredHere(input)) };
}

function isBefore({ created_at: created }: ListedJob, since: number | undefined): boolean {
  return since !== undefined && (parseTime(created ?? '') ?? NaN) < since;
}

/** Stops at the first job before `since`, because the service lists the newest jobs first. */
async function* untilOlder(pages: AsyncIterable<Page<ListedJob>>, since: number | undefined) {
  for await (const page of pages) {
    const isLast = page.items.some((job) => isBefore(job, since));
    yield isLast ? { ...page, next: undefined } : page;
    if (isLast) return;
  }
}

async function* withFiles(
  context: Context,
  batches: AsyncIterable<readonly ListedJob[]>,
): AsyncGenerator<readonly JobRow[]> {
  const state = directoryOf(context.system, 'state');
  const claims = state === undefined ? [] : claimsSeen(path.join(state, 'ledger'));
  const claimsByJob = new Map(claims.map(({ job, cycle, file }) => [job, { cycle, file: cleanText(file) }]));
  const listed = (job: ListedJob): JobRow => ({
    ...job,
    ...exactMembers(job),
    ...(claimsByJob.get(job.id ?? '') ?? { cycle: null, file: null }),
  });
  for await (const batch of batches) yield batch.map(listed);
}

/** Errors that the next read of the list may not have. */
const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response'] as const;

/**
 * Reads a list of jobs at increasing intervals, and yields each job that is new or whose status has changed, until no
 * job in the list is under way. Outages after the first read do not end it.
 */
async function* watchJobs<T extends Pick<ListedJob, 'id' | 'status'>>(
  { clock, signal, progress, notices }: Pick<Context, 'clock' | 'signal' | 'progress' | 'notices'>,
  look: () => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  const started = clock.now();
  const statuses = new Map<string, string | undefined>();
  const live = progress.watching('jobs');
  let underWay = 0;
  try {
    for (let looks = 0; looks === 0 || underWay > 0; looks += 1) {
      const nextMs = nextPollDelay(looks, clock.now() - started, Math.random);
      try {
        const jobs = await look();
        yield jobs.filter(({ id, status }) => !id || statuses.get(id) !== (status ?? undefined));
        for (const { id, status } of jobs) if (id) statuses.set(id, status ?? undefined);
        // A job without a readable status does not count, since its end would never show.
        underWay = jobs.filter(({ status }) => status && status !== 'completed' && status !== 'failed').length;
      } catch (error) {
        if (looks === 0 || !isSvcError(error, ...OUTAGE)) throw error;
        notices.warn(`the list could not be read: ${error.message}; it is tried again`);
      }
      if (underWay === 0) return;
      live?.update({ state: `${countText(underWay, 'job')} under way`, nextPollAt: clock.now() + nextMs });
      await clock.sleep(nextMs, signal);
    }
  } finally {
    live?.done();
  }
}
