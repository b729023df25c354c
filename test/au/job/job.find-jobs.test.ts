import { expect, it, onTestFinished } from 'vitest';
import { findJobs } from '../../../src/au/job/job.ts';
import { openBench } from '../support.ts';

/** Opens a bench with jobs that have no file, and the requests that the service gets from then on. */
async function openJobs(count: number) {
  const requests: string[] = [];
  const bench = await openBench(({ method, url = '' }, _outgoing, proceed) => {
    requests.push(`${method} ${url.replace(/^.*\/account-updater/, '').replace(/\?.*/, '')}`);
    proceed();
  });
  onTestFinished(() => bench.close());
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push((await bench.client.accountUpdater.create()).id);
    // The list is ordered by seconds, and the service allows ten requests in ten.
    await bench.clock.advance(1000);
  }
  requests.length = 0;
  return { ...bench, ids, requests };
}

it('R42: many jobs are found with one request for the list', async () => {
  const { client, ids, requests } = await openJobs(12);
  const wanted = ids.slice(2);
  const found = await findJobs(client, new Set(wanted));
  expect([...found.keys()].toSorted()).toEqual(wanted.toSorted());
  expect(requests).toEqual(['GET /jobs']);
});

it('R42: one job is found by its id alone', async () => {
  const { client, ids, requests } = await openJobs(2);
  const [id = ''] = ids;
  expect([...(await findJobs(client, new Set([id]))).keys()]).toEqual([id]);
  expect(requests).toEqual([`GET /jobs/${id}`]);
});

it('R42: a job that the list leaves out is looked for by its id, and left out if the service does not know it', async () => {
  const { client, ids, requests } = await openJobs(2);
  expect([...(await findJobs(client, new Set([...ids, 'unknown']))).keys()].toSorted()).toEqual(ids.toSorted());
  expect(requests).toEqual(['GET /jobs', 'GET /jobs/unknown']);
});
