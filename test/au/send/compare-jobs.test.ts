import { expect, it } from 'vitest';
import { type Beginning, compareJobs } from '../../../src/au/send/compare-jobs.ts';
import { Pages } from '../../../src/client/api/pages.ts';
import type { AccountUpdaterJob, ListedJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeService } from '../fake-service.ts';

const NOON = Date.UTC(2026, 10, 2, 12);
const MINUTE = 60_000;

function jobAt(id: string, minutes: number, key: string, status = 'processing'): AccountUpdaterJob {
  return { id, status, created_at: new Date(NOON + minutes * MINUTE).toISOString(), created_by: key };
}

/** Compares the job of an upload with a list in pages of 100, after a request at noon that got no response. */
function compared(
  list: readonly ListedJob[],
  job: AccountUpdaterJob,
  { since = NOON, unclearSince = [NOON] }: { readonly since?: number; readonly unclearSince?: readonly number[] } = {},
): ReturnType<typeof compareJobs> {
  const service = new FakeService(new FakeClock({ start: NOON + 60 * MINUTE }));
  const client = service.client(new AbortController().signal, () => undefined);
  Object.assign(client.accountUpdater, {
    list: () =>
      new Pages(async (cursor = '0') => {
        const from = Number(cursor);
        return { items: list.slice(from, from + 100), next: from + 100 < list.length ? String(from + 100) : undefined };
      }),
  });
  const ledger = { hasSent: async () => false, isBegun: async () => true, since: async () => since };
  const beginning: Partial<Beginning> = {
    ledger: { isShared: false, open: async () => ledger } as unknown as Beginning['ledger'],
    job,
    known: new Set([job.id]),
    unclearSince,
    again: ['au', 'resume'],
    words: ['au', 'submit', 'tokens.csv'],
  };
  return compareJobs(client, beginning as Beginning);
}

const JOB = jobAt('new', 20, 'ours', 'pending');
const OTHERS = Array.from({ length: 150 }, (_, at) => jobAt(`other-${at}`, 30, 'theirs'));
const EARLIER = jobAt('earlier', -60, 'theirs');

it('R74: a job that a request without a response may have created stops the upload, however many jobs of another system came later', async () => {
  const lost = jobAt('lost', 1, 'ours');
  // A job whose time is not known may come of the request too.
  for (const job of [lost, { ...lost, created_at: null }, { ...lost, created_at: 'then' }])
    await expect(compared([JOB, ...OTHERS, job, EARLIER], JOB)).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('lost'),
    });
  expect(await compared([JOB, ...OTHERS, EARLIER], JOB)).toEqual([]);
});

it('R74: a page of later jobs of another system proves nothing about a request without a response', async () => {
  await expect(compared(OTHERS, JOB)).rejects.toMatchObject({ code: 'bad_response' });
});

it('a job of the second in which the ledger began is not older than the ledger, where the list gives whole seconds', async () => {
  const [before, same] = [jobAt('before', -1 / 60, 'ours'), jobAt('same', 0, 'ours')];
  expect(await compared([JOB, same, before], JOB, { since: NOON + 500, unclearSince: [] })).toEqual(['same']);
});
