import { afterEach, describe, expect, it } from 'vitest';
import { submitFile } from '../../src/runs/submit.ts';
import { uploadToJob } from '../../src/runs/upload.ts';
import { fileSource } from '../../src/transfer/source.ts';
import { answerLost, type Bench, type Fault, inTurn, openBench, refuseWith } from './support.ts';

let bench: Bench;
afterEach(() => bench.close());

const STORE = /^\/store\//;

async function submit(fault?: Fault): Promise<string> {
  bench = await openBench(fault);
  const job = await submitFile(bench.client, await fileSource(bench.file), {
    onEvent: (event) => bench.events.push(event),
  });
  return job.id;
}

function kinds(): string[] {
  return bench.events.map(({ kind }) => kind).filter((kind) => kind !== 'uploading');
}

const neverArrived: Fault = (incoming, outgoing) =>
  incoming.resume().on('end', () => outgoing.socket?.destroy());

describe('bringing a file to its job', () => {
  it('creates one job and uploads once', async () => {
    const id = await submit();
    expect(kinds()).toEqual(['created', 'uploaded']);
    expect(bench.uploads()).toBe(1);
    expect(await bench.client.accountUpdater.read(id)).toMatchObject({
      status: expect.stringMatching(/processing|completed/),
    });
  });

  it('R36 reads the job after an upload whose answer was lost, and does not upload again', async () => {
    await submit(inTurn('PUT', STORE, answerLost));
    expect(kinds()).toEqual(['created', 'unclear', 'uploaded']);
    expect(bench.calls('PUT', STORE)).toBe(1);
    expect(bench.calls('POST', /jobs$/)).toBe(1);
  });

  it('R36 uploads again when the job still has no file after several looks', async () => {
    await submit(inTurn('PUT', STORE, neverArrived));
    expect(kinds()).toEqual(['created', 'unclear', 'uploaded']);
    expect(bench.uploads()).toBe(1);
    expect(bench.calls('GET', /\/jobs\/[^/]+$/)).toBeGreaterThanOrEqual(3);
  });

  const EXPIRED: readonly (readonly [name: string, status: number, body: string])[] = [
    ['AWS', 403, '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'],
    ['Ceph', 403, '<Error><Code>AccessDenied</Code></Error>'],
    ['Azure', 403, '<Error><Code>AuthenticationFailed</Code><Message>sig=SECRET</Message></Error>'],
    ['GCS', 400, '<Error><Code>ExpiredToken</Code></Error>'],
    ['R2', 403, '<Error><Code>ExpiredRequest</Code></Error>'],
    ['nothing said', 401, ''],
  ];

  it.each(EXPIRED)(
    'R37 asks the job for a new address when the store calls it expired (%s)',
    async (_name, status, body) => {
      // The sandbox signs anew at each look, so a later look gives another address.
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

  it('R37 makes a new job, and says so, when the first one vanished before it had its file', async () => {
    await submit((incoming, outgoing, proceed) => {
      if (incoming.method === 'PUT' && bench.calls('POST', /jobs$/) === 1) {
        void bench.clock.advance(2 * 3_600_000);
        refuseWith(403, '<Error><Code>AccessDenied</Code></Error>')(incoming, outgoing, proceed);
      } else proceed();
    });
    expect(kinds()).toEqual(['created', 'replaced', 'uploaded']);
    expect(bench.uploads()).toBe(1);
  });

  it('leaves a job alone that has its file already', async () => {
    const id = await submit();
    const job = await bench.client.accountUpdater.read(id);
    await expect(uploadToJob(bench.client, job, await fileSource(bench.file))).rejects.toMatchObject({
      code: 'changed',
      message: expect.stringContaining('nothing was uploaded'),
    });
    expect(bench.uploads()).toBe(1);
  });

  it('does not create a second job when the first creation had no clear answer', async () => {
    await expect(submit(inTurn('POST', /jobs$/, answerLost))).rejects.toMatchObject({
      code: 'outcome_unknown',
      hint: expect.stringContaining('svc au list'),
    });
    expect(bench.calls('POST', /jobs$/)).toBe(1);
  });
});
