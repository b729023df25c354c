import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { type Page, Pages } from '../../../src/client/api/pages.ts';
import type { ListedJob } from '../../../src/schema/account-updater.ts';
import { Machines } from '../ledger/machines.ts';
import { requireClaims } from '../../../src/au/jobs/compare-jobs.ts';
import { comparing, jobAt, MINUTE, NOON, pagesOf } from './comparing.ts';

const JOB = jobAt('new', 20, 'ours', 'pending');
const OTHERS = Array.from({ length: 150 }, (_, at) => jobAt(`other-${at}`, 30, 'theirs'));
const EARLIER = jobAt('earlier', -60, 'theirs');

const SHORT = { items: [JOB], next: '1' };
const FULL = { items: OTHERS.slice(0, 100), next: '1' };
const CUT = new SvcError('bad_response', 'the page cannot be read');

it.each<[string, readonly (Page<ListedJob> | SvcError)[], string]>([
  ['has a short page before another', [SHORT, { items: [EARLIER], next: undefined }], 'a page is not full'],
  ['has more jobs on a page than were requested', [{ items: [...OTHERS, JOB], next: undefined }], 'has 151'],
  ['is not newest first', [{ items: [EARLIER, JOB], next: undefined }], 'it is not newest first'],
  ['repeats a cursor', [FULL, { items: OTHERS.slice(0, 100), next: '1' }], 'the same cursor twice'],
  ['breaks off', [FULL, CUT], 'the page cannot be read'],
])(
  'R74: a list of jobs that %s proves nothing: a shared ledger takes no upload, and that of one machine is not compared',
  async (_, pages, message) => {
    const shared = comparing(pages, JOB, { isShared: true });
    await expect(shared).rejects.toMatchObject({ code: 'outcome_unknown', message: expect.stringContaining(message) });
    expect(await comparing(pages, JOB, {})).toBeUndefined();
  },
);

it('R74: an empty list of jobs proves nothing if the ledger knows results of the last seven days', async () => {
  const empty = [{ items: [], next: undefined }];
  expect(await comparing(empty, JOB, {})).toEqual([]);
  expect(await comparing(empty, JOB, { resultsAt: NOON - 6 * 24 * 60 * MINUTE })).toBeUndefined();
  expect(await comparing(empty, JOB, { resultsAt: NOON - 8 * 24 * 60 * MINUTE })).toEqual([]);
});

it.each([true, false])('R74: the first job of a new tenant begins its ledger (shared: %s)', async (isShared) => {
  const alone = [{ items: [JOB], next: undefined }];
  expect(await comparing(alone, JOB, { isShared, isBegun: false })).toEqual([]);
});

it('R74: a list that lags behind the job of the upload begins no ledger, unless it is empty, as that of a new tenant', async () => {
  const [lagging, empty] = [[{ items: [EARLIER], next: undefined }], [{ items: [], next: undefined }]];
  await expect(comparing(lagging, JOB, { isBegun: false })).rejects.toMatchObject({ code: 'bad_response' });
  expect(await comparing(empty, JOB, { isBegun: false })).toEqual([]);
  await expect(comparing(empty, JOB, { isBegun: false, isShared: true })).rejects.toMatchObject({
    code: 'bad_response',
  });
});

it('a job of the second in which the ledger began is not older than the ledger, where the list gives whole seconds', async () => {
  const [before, same] = [jobAt('before', -1 / 60, 'ours'), jobAt('same', 0, 'ours')];
  expect(await comparing(pagesOf([JOB, same, before]), JOB, { since: NOON + 500 })).toEqual(['same']);
});

it('a job without its claim stops a command only where the service shows that it has its file', async () => {
  const { ledger, client } = await new Machines().open('laptop');
  const { id } = await client.accountUpdater.create();
  await ledger.mark(id, '2026-12');
  const check = (status: string): Promise<void> => {
    const list = () => new Pages(async () => ({ items: [jobAt(id, 0, 'ours', status)], next: undefined }));
    Object.assign(client.accountUpdater, { list });
    return requireClaims(client, ledger);
  };
  for (const status of ['pending', 'failed', 'cancelled']) await check(status);
  for (const status of ['processing', 'completed'])
    await expect(check(status)).rejects.toThrow(`the claim of job ${id} is missing`);
});
