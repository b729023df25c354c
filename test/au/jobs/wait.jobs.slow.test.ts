import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeResults } from '../../../src/au/results/merge.ts';
import { isReadable, type JobEvent } from '../../../src/au/jobs/job.ts';
import { type Part, partOf, type PartState } from '../../../src/au/run/part.ts';
import { progressOf } from '../../../src/au/run/record.ts';
import { applyToRun } from '../../../src/au/run/run.ts';
import { RunDirectory } from '../../../src/au/run/run-directory.ts';
import { retryFailed } from '../../../src/au/send/upload-parts.ts';
import { waitForRun } from '../../../src/au/jobs/wait.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { Client } from '../../../src/client/api/client.ts';
import { AccountUpdater } from '../../../src/client/api/resources.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { type Bench, openBench, planRun, submitFile, uploadsTaken } from '../support.ts';

const HOUR = 3_600_000;
const LIST = /^\/account-updater\/jobs(\?|$)/;
const STORE = /^\/store\//;
const ONE = /^\/account-updater\/jobs\/[^/]+$/;

let bench: Bench;
afterEach(() => {
  vi.restoreAllMocks();
  return bench.close();
});

const onEvent = (event: JobEvent): void => void bench.events.push(event);

async function upload(run: RunDirectory, client = bench.client): Promise<void> {
  await bench.ledger.upload(client, run, bench.file, { onEvent });
}

function uploads(): number {
  return uploadsTaken(bench.path('sandbox')).length;
}

/** Changes the jobs that the service shows until the test ends. A job that becomes undefined is hidden. */
function pretend(turn: (job: AccountUpdaterJob) => AccountUpdaterJob | undefined): void {
  // An earlier call may already have changed them.
  vi.restoreAllMocks();
  const { accountUpdater } = bench.client;
  const read = accountUpdater.read.bind(accountUpdater);
  const list = accountUpdater.list.bind(accountUpdater);
  vi.spyOn(AccountUpdater.prototype, 'read').mockImplementation(async (id) => {
    const job = turn(await read(id));
    if (job) return job;
    throw new SvcError('not_found', 'no such job', { status: 404 });
  });
  vi.spyOn(AccountUpdater.prototype, 'list').mockImplementation((options) => {
    const pages = list(options);
    const turned = async function* (): ReturnType<typeof pages.pages> {
      for await (const page of pages.pages())
        yield { ...page, items: page.items.filter(isReadable).flatMap((job) => turn(job) ?? []) };
    };
    return Object.assign(Object.create(pages) as typeof pages, { pages: turned });
  });
}

function jobOf(run: RunDirectory, part: number): string {
  return run.record.parts[part - 1]?.job ?? '';
}

function part(state: PartState, seen?: string): Part {
  const plan = { number: 1, first_row: 1, rows: 1, start: 0, end: 1, bytes: 1, sha256: '' };
  const results = {
    file: 'results-0001.csv',
    bytes: 1,
    sha256: '',
    job: 'job-1',
    proof: 'md5',
    compared: true,
  } as const;
  return partOf({ ...plan, state, job: 'job-1', seen, results });
}

describe('watching a run', () => {
  it('R42: the wait for a run covers all its jobs with one list call a poll', async () => {
    bench = await openBench();
    const run = await planRun(bench, 7);
    await upload(run);
    const before = { list: bench.calls('GET', LIST), one: bench.calls('GET', ONE) };
    await waitForRun(bench.client, run, { onEvent });
    const polls = bench.events.filter(({ kind }) => kind === 'polled').length + 1;
    expect(polls).toBeGreaterThan(1);
    expect(bench.calls('GET', LIST) - before.list).toBe(polls);
    // Each part is read once, for the address of its results.
    expect(bench.calls('GET', ONE) - before.one).toBe(7);
    expect(bench.events.at(-1)).toEqual({ kind: 'completed', job: run.record.id });
  });

  it('the wait for a run reads single jobs that the list does not show, and not page after page for one that is gone', async () => {
    bench = await openBench();
    const run = await planRun(bench, 3);
    await upload(run);
    for (let other = 0; other < 120; other += 1) await bench.client.accountUpdater.create();
    const before = bench.calls('GET', LIST);
    await waitForRun(bench.client, run, { onEvent });
    expect(run.record.parts.map(({ state }) => state)).toEqual(['downloaded', 'downloaded', 'downloaded']);
    const polls = bench.events.filter(({ kind }) => kind === 'polled').length + 1;
    expect(bench.calls('GET', LIST) - before).toBeLessThanOrEqual(polls);
  });

  it('R18: the wait for a run gets no 429 in a run of 40 jobs against a service that enforces its limits', async () => {
    bench = await openBench();
    const strict = await startSandbox({ directory: bench.path('strict'), clock: bench.clock, limits: 'on' });
    const { clock } = bench;
    const client = new Client({ baseUrl: strict.url, privateKey: 'sandbox-private-key', clock });
    const run = await planRun(bench, 40);
    await upload(run, client);
    await waitForRun(client, run, {});
    expect(run.record.parts.every(({ state }) => state === 'downloaded')).toBe(true);
    expect(strict.ledger().filter(({ status }) => status === 429)).toEqual([]);
    expect(strict.ledger().length).toBeGreaterThan(160);
    await client.close();
    await strict.close();
  });

  it('the wait for a run says how many parts are done and what the others do', () => {
    expect(progressOf({ parts: [part('uploaded', 'processing')] })).toBe('processing');
    expect(
      progressOf({
        parts: [
          part('downloaded'),
          part('uploaded', 'processing'),
          part('uploaded', 'processing'),
          part('uploaded', 'pondering'),
          part('failed'),
        ],
      }),
    ).toBe('1 of 5 jobs done, 2 processing, 1 pondering, 1 failed');
  });
});

describe('a job that fails', () => {
  it('R43: a job that fails does not stop the other parts, and only its part is submitted again', async () => {
    bench = await openBench();
    const run = await planRun(bench, 3);
    await upload(run);
    const bad = jobOf(run, 2);
    pretend((job) => (job.id === bad ? { ...job, status: 'failed', errors: ['bad merchant'] } : job));
    await expect(waitForRun(bench.client, run, { onEvent })).rejects.toMatchObject({
      code: 'job_failed',
      message: expect.stringContaining('1 of 3 jobs'),
      facts: { problems: [expect.stringContaining('bad merchant')] },
    });
    expect(run.record.parts.map(({ state }) => state)).toEqual(['downloaded', 'failed', 'downloaded']);
    await retryFailed(bench.client, run);
    await upload(run);
    await waitForRun(bench.client, run, {});
    expect(uploads()).toBe(4);
    expect(run.record.parts[1]?.earlier_jobs).toEqual([{ job: bad, ended: 'failed' }]);
    const created = bench.events.findLast(({ kind }) => kind === 'created');
    expect(created).toMatchObject({ job: { id: jobOf(run, 2) } });
    const { file } = await writeResults(run, { out: bench.path('out.csv'), force: false });
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(4);
  });

  it('a job that fails is not paid again when it has not failed after all', async () => {
    bench = await openBench();
    const run = await planRun(bench, 1);
    await upload(run);
    const [part] = run.record.parts;
    if (part) Object.assign(part, { state: 'failed', errors: ['as somebody believed'] });
    await retryFailed(bench.client, run);
    await upload(run);
    await waitForRun(bench.client, run, {});
    expect(uploads()).toBe(1);
  });
});

describe('a job that is gone', () => {
  it('R37: a job that is gone before its upload gets a successor, and that is said', async () => {
    bench = await openBench();
    const run = await planRun(bench, 2);
    const [part] = run.record.parts;
    const { id } = await bench.client.accountUpdater.create();
    if (part) Object.assign(part, { state: 'created', job: id });
    await bench.clock.advance(2 * HOUR);
    await upload(run);
    expect(bench.events).toContainEqual({ kind: 'replaced', gone: id, job: jobOf(run, 1) });
    expect(uploads()).toBe(2);
  });

  it('R43 and R58: a job that is gone with its results, completed, is polled on, then in doubt, and the other parts are downloaded', async () => {
    bench = await openBench();
    const run = await planRun(bench, 2);
    await upload(run);
    const gone = jobOf(run, 1);
    let completed = false;
    pretend((job) => {
      if (job.id !== gone) return job;
      if (completed) return undefined;
      completed = job.status === 'completed';
      return job;
    });
    await expect(waitForRun(bench.client, run, { onEvent })).rejects.toMatchObject({
      code: 'outcome_unknown',
      facts: { problems: [expect.stringContaining('not been found since')] },
    });
    expect(run.record.parts.map(({ state }) => state)).toEqual(['unknown', 'downloaded']);
  });

  it('R58: a job that is gone after the store acknowledged its file, is never replaced, even a fortnight later', async () => {
    bench = await openBench();
    const run = await planRun(bench, 1);
    await upload(run);
    const gone = jobOf(run, 1);
    pretend((job) => (job.id === gone ? undefined : job));
    await expect(waitForRun(bench.client, run, { onEvent })).rejects.toMatchObject({
      code: 'outcome_unknown',
      exitCode: 9,
      next: ['au', 'status', run.name],
      hint: expect.stringContaining('paid for twice'),
    });
    expect(bench.events).toContainEqual({ kind: 'missing', job: gone });
    await bench.clock.advance(14 * 24 * HOUR);
    await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
    await retryFailed(bench.client, run);
    expect([jobOf(run, 1), run.record.parts[0]?.state, uploads()]).toEqual([gone, 'unknown', 1]);
    expect(bench.calls('POST', LIST)).toBe(1);
  });

  it('R58: seen failed before, is in doubt and not paid again', async () => {
    bench = await openBench();
    const run = await planRun(bench, 1);
    await upload(run);
    const [part] = run.record.parts;
    if (part) Object.assign(part, { state: 'failed', errors: ['completed, and gone without its results'] });
    pretend(() => undefined);
    await retryFailed(bench.client, run);
    await bench.clock.advance(HOUR);
    await expect(waitForRun(bench.client, run, {})).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect([part?.state, uploads()]).toEqual(['unknown', 1]);
  });

  it('R58: a job that is gone for a moment, as a lagging replica has it, ends nothing', async () => {
    bench = await openBench();
    const run = await planRun(bench, 2);
    await upload(run);
    let polls = 0;
    pretend((job) => ((polls += 1) % 3 === 1 ? undefined : job));
    await waitForRun(bench.client, run, {});
    expect([uploads(), bench.calls('POST', LIST)]).toEqual([2, 2]);
  });
});

/** Creates a part as a kill leaves it after the last piece was sent. The store never received the file. */
async function killed(sent?: 'all'): Promise<RunDirectory> {
  bench = await openBench();
  // A job in the list shows the tenant that the key belongs to.
  await submitFile(bench);
  const run = await planRun(bench, 1);
  const [part] = run.record.parts;
  const { id, tenant_id: tenant } = await bench.client.accountUpdater.create();
  applyToRun(run.record, { kind: 'bound', tenant: tenant ?? '' });
  const at = new Date(bench.clock.now()).toISOString();
  // Older records do not say how much was sent.
  if (part) Object.assign(part, partOf({ ...part, state: 'uploading', job: id, sent_at: at, sent }));
  return run;
}

describe('a part whose file was sent whole without an answer', () => {
  it.each([['all' as const], [undefined]])(
    'R36: a part whose file was sent whole without an answer is unknown while its job is pending, and is uploaded to another job once that expired (sent: %s)',
    async (sent) => {
      const run = await killed(sent);
      const before = jobOf(run, 1);
      await expect(upload(run)).rejects.toMatchObject({
        code: 'outcome_unknown',
        facts: { problems: [expect.stringContaining('svc au resume settles it, after ')] },
      });
      expect(bench.calls('PUT', STORE)).toBe(1);
      await bench.clock.advance(2 * HOUR);
      // The first poll that does not find the job proves nothing, and a second one only after a while.
      await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
      await bench.clock.advance(HOUR);
      await upload(run);
      expect(bench.events).toContainEqual({ kind: 'replaced', gone: before, job: jobOf(run, 1) });
      expect(bench.calls('PUT', STORE)).toBe(2);
    },
  );

  it('R58: a part whose file was sent whole without an answer is not uploaded again with the key of another tenant, behind a wrong path or a stale list', async () => {
    const run = await killed('all');
    const [part] = run.record.parts;
    await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
    await bench.clock.advance(14 * 24 * HOUR);
    const worlds: [code: string, world: (job: AccountUpdaterJob) => AccountUpdaterJob | undefined][] = [
      ['config', (job) => (job.id === part?.job ? undefined : { ...job, tenant_id: 'another' })],
      ['outcome_unknown', () => undefined],
    ];
    for (const [code, world] of worlds) {
      vi.restoreAllMocks();
      pretend(world);
      for (let round = 0; round < 3; round += 1) {
        await expect(upload(run)).rejects.toMatchObject({ code });
        await bench.clock.advance(HOUR);
      }
    }
    expect(bench.calls('PUT', STORE)).toBe(1);
  });

  it.each([1, -1])(
    'R58: a part whose file was sent whole without an answer is not taken for expired because of false Date headers (%s)',
    async (direction) => {
      const run = await killed('all');
      const [part] = run.record.parts;
      pretend((job) => (job.id === part?.job ? undefined : job));
      const now = vi.spyOn(bench.client, 'now');
      for (let days = 1; days <= 4; days += 1) {
        now.mockReturnValue(bench.clock.now() + direction * days * 24 * HOUR);
        await expect(upload(run)).rejects.toMatchObject({ code: 'outcome_unknown' });
      }
      expect(bench.calls('PUT', STORE)).toBe(1);
    },
  );

  it('R36: a part whose file was sent whole without an answer is sent again to the same job when not all of it had gone out', async () => {
    const run = await killed('all');
    const [part] = run.record.parts;
    if (part) Object.assign(part, { sent: 'some' });
    const before = jobOf(run, 1);
    await upload(run);
    expect(jobOf(run, 1)).toBe(before);
    expect(uploads()).toBe(2);
  });

  it('R36: a part whose file was sent whole without an answer is settled by its job when that shows the file', async () => {
    const run = await killed('all');
    const { upload_url: address = '' } = await bench.client.accountUpdater.read(jobOf(run, 1));
    await fetch(address ?? '', { method: 'PUT', body: readFileSync(bench.file) });
    await upload(run);
    await waitForRun(bench.client, run, {});
    expect(uploads()).toBe(2);
  });
});

describe('a run of another tenant', () => {
  it('R58: a run of another tenant has no job created for it', async () => {
    bench = await openBench();
    await submitFile(bench);
    const run = await planRun(bench, 2);
    Object.assign(run.record, { tenant_id: 'another' });
    await expect(upload(run)).rejects.toMatchObject({ code: 'config', exitCode: 3 });
    expect(bench.calls('POST', LIST)).toBe(1);
  });
});

describe('a run on disk', () => {
  it('R36: a run on disk is read again once it is held: another process may have gone on', async () => {
    bench = await openBench();
    const mine = await planRun(bench, 1);
    const other = await RunDirectory.open(mine.path);
    await upload(mine);
    const host = { pid: process.pid, isAlive: () => true, clock: bench.clock, signal: bench.abort.signal };
    await other?.hold(host, () => upload(other));
    expect(uploads()).toBe(1);
  });

  it('R35 and R36: a run on disk uploads nothing of a file that changed meanwhile, and continues when it is back', async () => {
    bench = await openBench();
    const run = await planRun(bench, 2);
    const before = readFileSync(bench.file, 'utf8');
    writeFileSync(bench.file, before.replace('token-1', 'token-x'));
    await expect(upload(run)).rejects.toMatchObject({ code: 'checksum_mismatch', exitCode: 12 });
    expect(uploads()).toBeLessThan(2);
    writeFileSync(bench.file, before);
    await upload(run);
    expect(uploads()).toBe(2);
  });
});
