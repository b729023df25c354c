import { afterEach, describe, expect, it } from 'vitest';
import { uploadToJob } from '../../../src/au/job/upload.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { jobReadBy } from '../job-faults.ts';
import {
  acceptThen,
  answerLost,
  type Bench,
  changeJson,
  type Fault,
  inTurn,
  openBench,
  refuseWith,
} from '../support.ts';

let bench: Bench;
afterEach(() => bench.close());

const STORE = /^\/store\//;

async function submit(fault?: Fault): Promise<string> {
  bench = await openBench(fault);
  const job = await bench.client.accountUpdater.create();
  await uploadToJob(bench.client, job, await fileSource(bench.file), { onEvent: (event) => bench.events.push(event) });
  return job.id;
}

function kinds(): string[] {
  return bench.events.map(({ kind }) => kind).filter((kind) => kind !== 'uploading' && kind !== 'polled');
}

const neverArrived: Fault = (incoming, outgoing) => incoming.resume().on('end', () => outgoing.socket?.destroy());

describe('uploading a file to its job', () => {
  it('R36: an upload to a job reads the job after an upload whose answer was lost, and does not upload again', async () => {
    await submit(inTurn('PUT', STORE, answerLost));
    expect(kinds()).toEqual(['unclear', 'uploaded']);
    expect(bench.calls('PUT', STORE)).toBe(1);
    expect(bench.calls('POST', /jobs$/)).toBe(1);
  });

  it('R36: an upload to a job polls the job for ten minutes after an upload that never arrived, and sends nothing again', async () => {
    await expect(submit(inTurn('PUT', STORE, neverArrived))).rejects.toMatchObject({
      code: 'outcome_unknown',
      exitCode: 9,
    });
    expect(kinds()).toEqual(['unclear']);
    expect(bench.calls('PUT', STORE)).toBe(1);
    const pauses = bench.clock.slept.filter((ms) => ms > 0);
    expect(pauses[0]).toBeLessThan(3_000);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(600_000);
  });

  it.each([500, 503])(
    'R36: an upload to a job does not send again after a %i, whether the store kept the file or not',
    async (status) => {
      await submit(inTurn('PUT', STORE, acceptThen(status)));
      expect(kinds()).toEqual(['unclear', 'uploaded']);
      expect(bench.calls('PUT', STORE)).toBe(1);
      await bench.close();
      await expect(submit(inTurn('PUT', STORE, refuseWith(status)))).rejects.toMatchObject({ exitCode: 9 });
      expect(bench.calls('PUT', STORE)).toBe(1);
    },
  );

  const EXPIRED: readonly (readonly [name: string, status: number, body: string])[] = [
    ['AWS', 403, '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'],
    ['Ceph', 403, '<Error><Code>AccessDenied</Code></Error>'],
    ['Azure', 403, '<Error><Code>AuthenticationFailed</Code><Message>sig=SECRET</Message></Error>'],
    ['GCS', 400, '<Error><Code>ExpiredToken</Code></Error>'],
    ['R2', 403, '<Error><Code>ExpiredRequest</Code></Error>'],
    ['nothing said', 401, ''],
  ];

  it.each(EXPIRED)(
    'R37: an upload to a job asks the job for a new address when the store calls it expired (%s)',
    async (_name, status, body) => {
      // The sandbox signs a new address at each read, so a later read returns another one.
      await submit((incoming, outgoing, proceed) => {
        if (incoming.method === 'PUT' && bench.calls('PUT', STORE) === 0) {
          void bench.clock.advance(5_000);
          refuseWith(status, body)(incoming, outgoing, proceed);
        } else proceed();
      });
      expect(bench.calls('POST', /jobs$/)).toBe(1);
      expect(bench.uploads()).toBe(1);
    },
  );

  it.each([409, 412])(
    'R94: an upload to a job is not stored by a %i, after which the job has a file',
    async (status) => {
      await expect(submit(inTurn('PUT', STORE, acceptThen(status)))).rejects.toMatchObject({
        code: 'outcome_unknown',
        message: expect.stringContaining(`the store refused this one (${status})`),
      });
      expect(kinds()).toEqual([]);
      expect(bench.calls('PUT', STORE)).toBe(1);
    },
  );

  it('an upload to a job that failed meanwhile says so', async () => {
    const upload = submit((incoming, outgoing, proceed) => {
      const { method = '', url = '' } = incoming;
      if (method === 'PUT') return refuseWith(403)(incoming, outgoing, proceed);
      if (jobReadBy(method, url) !== undefined) changeJson(outgoing, (job: object) => ({ ...job, status: 'failed' }));
      return proceed();
    });
    await expect(upload).rejects.toMatchObject({ code: 'job_failed' });
  });

  it('R94: an upload to a job is not stored by a 200 that contains an error, and is not sent again', async () => {
    const error = '<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>';
    await expect(submit(inTurn('PUT', STORE, refuseWith(200, error)))).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('200 InternalError'),
    });
    expect(kinds()).toEqual(['unclear']);
    expect(bench.calls('PUT', STORE)).toBe(1);
  });

  it('R94: an upload to a job names its type where the address is signed for it', async () => {
    bench = await openBench();
    const job = await bench.client.accountUpdater.create();
    const signed = { ...job, upload_url: `${job.upload_url}&X-Amz-SignedHeaders=content-type%3Bhost` };
    await uploadToJob(bench.client, signed, await fileSource(bench.file));
    expect(bench.uploads()).toBe(1);
  });

  it('R94: an upload to a job sends nothing to an address that is signed for headers that svc does not send', async () => {
    bench = await openBench();
    const job = await bench.client.accountUpdater.create();
    const signed = { ...job, upload_url: `${job.upload_url}&X-Amz-SignedHeaders=host%3Bif-none-match` };
    await expect(uploadToJob(bench.client, signed, await fileSource(bench.file))).rejects.toMatchObject({
      code: 'rejected',
      facts: { headers: ['if-none-match'] },
    });
    expect(bench.calls('PUT', STORE)).toBe(0);
  });
});
