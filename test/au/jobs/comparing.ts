import { type UploadComparison, compareJobs } from '../../../src/au/jobs/compare-jobs.ts';
import type { SvcError } from '../../../src/base/errors.ts';
import { type Page, Pages } from '../../../src/client/api/pages.ts';
import type { AccountUpdaterJob, ListedJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeService } from '../fake-service.ts';

export const NOON = Date.UTC(2026, 10, 2, 12);
export const MINUTE = 60_000;

/** Returns a job that was created some minutes after noon. */
export function jobAt(id: string, minutes: number, key: string, status = 'processing'): AccountUpdaterJob {
  return { id, status, created_at: new Date(NOON + minutes * MINUTE).toISOString(), created_by: key };
}

/** Returns the pages of a list. */
export function pagesOf(list: readonly ListedJob[]): readonly Page<ListedJob>[] {
  const starts = Array.from({ length: Math.max(1, Math.ceil(list.length / 100)) }, (_, at) => at * 100);
  return starts.map((from) => ({
    items: list.slice(from, from + 100),
    next: from + 100 < list.length ? String(from / 100 + 1) : undefined,
  }));
}

/** How jobs are compared, and what the ledger knows. */
export interface HowCompared {
  readonly since?: number | undefined;
  readonly isShared?: boolean | undefined;
  readonly isBegun?: boolean | undefined;
  /** When the job was created whose results somebody read last. */
  readonly resultsAt?: number | undefined;
}

/** Compares the job of an upload with a list of these pages. The ledger knows jobs whose ids begin with `known`. */
export function comparing(
  pages: readonly (Page<ListedJob> | SvcError)[],
  job: AccountUpdaterJob,
  { since = NOON, isShared = false, isBegun = true, resultsAt }: HowCompared,
): ReturnType<typeof compareJobs> {
  const service = new FakeService(new FakeClock({ start: NOON + 60 * MINUTE }));
  const client = service.client(new AbortController().signal, () => undefined);
  const read = async (cursor = '0'): Promise<Page<ListedJob>> => {
    const page = pages[Number(cursor)];
    if (page === undefined || 'code' in page) throw page;
    return page;
  };
  Object.assign(client.accountUpdater, { list: () => new Pages(read) });
  const ledger = {
    restore: async () => undefined,
    hasSent: async (id: string) => id.startsWith('known'),
    isBegun: async () => isBegun,
    begin: async () => undefined,
    since: async () => since,
    hasResultsSince: async (time: number) => resultsAt !== undefined && resultsAt >= time,
  };
  const beginning: Partial<UploadComparison> = {
    ledger: { isShared, ledgerToCompare: async () => ({ ledger }) } as unknown as UploadComparison['ledger'],
    job,
    again: ['au', 'resume'],
    words: ['au', 'submit', 'tokens.csv'],
  };
  return compareJobs(client, beginning as UploadComparison);
}
