import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/au/run/job.ts';
import type { RunDirectory } from '../../../src/au/run/run-directory.ts';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { settleUploads } from '../../../src/au/send/upload-parts.ts';
import {
  answerLost,
  type Bench,
  inTurn,
  openBench,
  planRun,
  refuseWith,
  submitFile,
  uploadsTaken,
} from '../support.ts';

const JOBS = /\/jobs$/;
const LIST = /\/jobs(?:\?|$)/;
const STORE = /^\/store\//;
const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const HOUR = 3_600_000;

let bench: Bench;
afterEach(() => bench.close());

async function upload(run: RunDirectory, pollOnce = false): Promise<void> {
  const onEvent = (event: JobEvent): void => void bench.events.push(event);
  await bench.ledger.upload(bench.client, run, bench.file, { onEvent, pollOnce });
}

function uploads(): string[] {
  return uploadsTaken(bench.path('sandbox'));
}

/** Returns the record as another process would read it. */
function saved(run: RunDirectory): unknown {
  return JSON.parse(readFileSync(`${run.path}/run.json`, 'utf8'));
}

describe('the parts of a run', () => {
  it.each([1, 3])('R34: each have the header in front, and one alone is the file itself: %i', async (parts) => {
    const bodies = new Map<string, string>();
    bench = await openBench((incoming, _outgoing, proceed) => {
      const { method, url = '' } = incoming;
      if (method === 'PUT') incoming.on('data', (chunk) => bodies.set(url, (bodies.get(url) ?? '') + String(chunk)));
      proceed();
    });
    const run = await planRun(bench, parts);
    await upload(run);
    const numbers = Array.from({ length: parts }, (_, number) => number);
    expect([...bodies.values()].toSorted()).toEqual(numbers.map((row) => `${HEADER}\ntoken-${row},,,\n`));
    expect(run.record.parts).toMatchObject(numbers.map(() => ({ state: 'uploaded', sent: 'stored' })));
    expect(saved(run)).toEqual(run.record);
    expect(new Set(uploads())).toEqual(new Set(run.record.parts.map(({ job }) => job)));
  });

  it('the parts of a run are not begun after the first failure', async () => {
    bench = await openBench(inTurn('POST', JOBS, ...Array.from({ length: 9 }, () => refuseWith(403))));
    const run = await planRun(bench, 6);
    await expect(upload(run)).rejects.toMatchObject({ code: 'forbidden' });
    expect(bench.calls('POST', JOBS)).toBeLessThanOrEqual(3);
  });
});

describe('the creation of a job', () => {
  it('R36: the creation of a job that was refused created nothing, and leaves the part as it was', async () => {
    bench = await openBench(inTurn('POST', JOBS, refuseWith(403)));
    const run = await planRun(bench, 1);
    const before = saved(run);
    await expect(upload(run)).rejects.toMatchObject({ code: 'forbidden' });
    expect(saved(run)).toEqual(before);
    await upload(run);
    expect(bench.events.filter(({ kind }) => kind === 'orphan')).toEqual([]);
  });

  it('R36: the creation of a job without a clear response is on record, and the jobs that may have come of it are reported', async () => {
    let isLost = false;
    bench = await openBench((incoming, outgoing, proceed) => {
      if (isLost && incoming.method === 'POST') answerLost(incoming, outgoing, proceed);
      else proceed();
    });
    // Neither the older job nor the job with a file can come from the lost creation.
    const older = await bench.client.accountUpdater.create();
    await bench.clock.advance(HOUR / 2);
    const other = await submitFile(bench);
    await bench.clock.advance(120_000);
    const run = await planRun(bench, 2);
    isLost = true;
    await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
    isLost = false;
    expect(run.record.parts).toMatchObject([{ state: 'creating' }, { state: 'creating' }]);
    expect(saved(run)).toEqual(run.record);
    await upload(run);
    const orphans = new Set(bench.events.flatMap((event) => (event.kind === 'orphan' ? event.job : [])));
    expect(orphans.size).toBe(2);
    for (const id of [older.id, other, ...run.record.parts.map(({ job }) => job)]) expect(orphans).not.toContain(id);
    expect(run.record.parts.every((part) => !('creating_since' in part))).toBe(true);
    expect(uploads()).toHaveLength(3);
  });

  it.each([
    ['created', 'POST', JOBS],
    ['uploaded', 'PUT', STORE],
  ])(
    'the creation of a job goes on where the first job of the tenant was %s while the key was checked',
    async (_, method, path) => {
      const held: (() => void)[] = [];
      let isHeld = false;
      bench = await openBench((incoming, outgoing, proceed) => {
        const { url = '' } = incoming;
        if (incoming.method === method && path.test(url)) outgoing.once('finish', () => held.pop()?.());
        if (url !== '/tenants/self' || isHeld) return proceed();
        // The part that asks first has seen an empty list by now, and goes on only after another part.
        isHeld = true;
        held.push(proceed);
      });
      const run = await planRun(bench, 2);
      await upload(run);
      expect(isHeld).toBe(true);
      expect(run.record.parts.map(({ state }) => state)).toEqual(['uploaded', 'uploaded']);
      expect(uploads()).toHaveLength(2);
    },
  );

  it('R37: the creation of a job is repeated for a job that expires, three times at most', async () => {
    bench = await openBench((incoming, outgoing, proceed) => {
      const isOne = incoming.method === 'GET' && /\/jobs\/[^/?]+$/.test(incoming.url ?? '');
      const isGone = isOne && bench.calls('PUT', STORE) > 0;
      if (incoming.method === 'PUT')
        refuseWith(403, '<Error><Code>ExpiredToken</Code></Error>')(incoming, outgoing, proceed);
      else if (isGone) outgoing.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"gone"}');
      else proceed();
    });
    const run = await planRun(bench, 1);
    await expect(upload(run)).rejects.toMatchObject({ code: 'job_expired' });
    expect(bench.calls('POST', JOBS)).toBe(3);
    expect(run.record.parts).toMatchObject([{ state: 'planned' }]);
    expect(run.record.parts[0]?.earlier_jobs).toHaveLength(3);
  });
});

/** Puts an item without an id into a list of jobs. */
function withUnreadable(outgoing: ServerResponse): void {
  captureResponse(outgoing, (body) => {
    const list = JSON.parse(body.toString()) as { data: unknown[] };
    const text = JSON.stringify({ ...list, data: [{ status: 'completed' }, ...list.data] });
    outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
  });
}

/** Creates a run whose file was sent completely, without a response from the store. */
async function doubtful(isListUnreadable = () => false): Promise<RunDirectory> {
  let isBroken = true;
  bench = await openBench((incoming, outgoing, proceed) => {
    if (incoming.url === '/tenants/self') return refuseWith(403)(incoming, outgoing, proceed);
    if (incoming.method === 'GET' && LIST.test(incoming.url ?? '') && isListUnreadable()) withUnreadable(outgoing);
    if (incoming.method !== 'PUT' || !isBroken) return proceed();
    isBroken = false;
    incoming.resume().on('end', () => outgoing.destroy());
  });
  const run = await planRun(bench, 1);
  await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
  expect(run.record.parts).toMatchObject([{ state: 'unknown', sent: 'all' }]);
  return run;
}

describe('an upload in doubt', () => {
  it('R58: an upload in doubt is polled once by a later process, and stays in doubt', async () => {
    const run = await doubtful();
    const reads = bench.calls('GET', /jobs\//);
    const before = bench.clock.now();
    await expect(upload(run, true)).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(bench.calls('GET', /jobs\//)).toBe(reads + 1);
    expect(bench.clock.now()).toBe(before);
  });

  it('R58: an upload in doubt ends once its job is deleted, in a tenant without other jobs and with a key that may not read the tenant', async () => {
    const run = await doubtful();
    await bench.clock.advance(HOUR);
    await expect(upload(run, true)).rejects.toMatchObject({ facts: { settled_after: expect.any(String) } });
    expect(bench.calls('POST', JOBS)).toBe(1);
    await bench.clock.advance(16 * 60_000);
    await upload(run, true);
    // Only one more job is created. It proves the tenant of the list, and gets the file.
    expect(bench.calls('POST', JOBS)).toBe(2);
    expect(run.record.parts).toMatchObject([{ state: 'uploaded', earlier_jobs: [{ ended: 'gone' }] }]);
    expect(uploads()).toEqual([run.record.parts[0]?.job]);
  });

  it.each([
    [0, 'outcome_unknown'],
    [1, 'bad_response'],
    [2, 'bad_response'],
    [3, 'bad_response'],
  ])(
    'R58: an upload in doubt is not uploaded again while a list has an item that may be its job, after %i lists without one',
    async (readable, code) => {
      let lists = -Infinity;
      const run = await doubtful(() => (lists += 1) > readable);
      await bench.clock.advance(HOUR);
      await expect(upload(run, true)).rejects.toMatchObject({ code: 'outcome_unknown' });
      await bench.clock.advance(16 * 60_000);
      lists = 0;
      await expect(upload(run, true)).rejects.toMatchObject({ code });
      expect(uploads()).toEqual([]);
      lists = -Infinity;
      await upload(run, true);
      expect(uploads()).toEqual([run.record.parts[0]?.job]);
    },
  );

  it('an upload in doubt is settled by one read where an earlier process was cut off', async () => {
    const run = await doubtful();
    const [part] = run.record.parts;
    Object.assign(part!, { state: 'uploading' });
    await settleUploads(bench.client, run);
    expect(part).toMatchObject({ state: 'unknown', sent: 'all' });
    Object.assign(part!, { state: 'uploading', sent: 'some' });
    await settleUploads(bench.client, run);
    expect(part).toMatchObject({ state: 'created', sent: 'some' });
  });
});
