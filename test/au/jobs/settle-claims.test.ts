import { describe, expect, it } from 'vitest';
import { settleClaims } from '../../../src/au/jobs/settle-claims.ts';
import { claimBody } from '../ledger/entries.ts';
import { claim, DAY, fileOf, fileRows, Machines, MINUTE, oneClaim, settle } from '../ledger/machines.ts';

/** Returns the jobs that still have rows, each with their number and its status. */
function words({ taken }: Awaited<ReturnType<typeof settle>>): string[] {
  return taken.map(({ claim: { job }, rows, status = 'not found', wasRead }) =>
    [job, rows, status ?? 'not asked', ...(wasRead ? ['done'] : [])].join(' '),
  );
}

describe('a claim that stands', () => {
  it.each(['pending', 'processing', 'completed'] as const)(
    'R58: a claim whose job is %s stands, with the number of rows that it has of the file',
    async (status) => {
      const machines = await oneClaim();
      if (status !== 'pending') machines.store('job-1', status);
      const settled = await settle(await machines.open('laptop'), ['b', 'c', 'd']);
      expect([words(settled), settled.failed]).toEqual([[`job-1 1 ${status}`], []]);
      expect(await machines.entries()).toEqual(['claim job-1']);
    },
  );

  it('a claim without rows of the file is not looked at', async () => {
    const machines = await oneClaim();
    const { requests } = machines.service;
    expect(words(await settle(await machines.open('laptop'), ['c']))).toEqual([]);
    expect(machines.service.requests).toBe(requests);
  });

  it('a claim of a job of the caller does not count', async () => {
    const machines = await oneClaim();
    const own = new Set(['job-1']);
    expect(words(await settle(await machines.open('laptop'), ['a'], { ownJobs: own }))).toEqual([]);
  });

  it('R58: a claim of unknown rows has every row', async () => {
    const machines = new Machines();
    const laptop = await machines.open('laptop');
    const { id } = await laptop.client.accountUpdater.create();
    await laptop.ledger.cycle('2026-12').append(async () => claimBody(id, { row_set: null }));
    expect(words(await settle(laptop, ['x', 'y']))).toEqual(['job-1 2 pending']);
  });

  it('every claim stands without a client, and nothing is read or written', async () => {
    const machines = await oneClaim();
    machines.store('job-1', 'failed');
    const { ledger } = await machines.open('laptop');
    const rows = await fileRows(ledger, fileOf(['a', 'b']));
    const { requests } = machines.service;
    const settled = await settleClaims(undefined, ledger.cycle('2026-12'), rows);
    expect([words(settled), settled.failed]).toEqual([['job-1 2 not asked'], []]);
    expect(machines.service.requests).toBe(requests);
    expect(await machines.entries()).toEqual(['claim job-1']);
  });
});

describe('a claim whose job failed', () => {
  it('a claim whose job failed ends, and its rows are free after one command has said so', async () => {
    const machines = await oneClaim();
    machines.store('job-1', 'failed');
    const laptop = await machines.open('laptop');
    const first = await settle(laptop, ['b', 'c']);
    expect(first.failed).toMatchObject([{ claim: { job: 'job-1' }, rows: 1, status: 'failed' }]);
    expect(words(first)).toEqual([]);
    expect(await machines.entries()).toEqual(['claim job-1', 'release job-1']);
    expect(await settle(laptop, ['b', 'c'])).toEqual({ taken: [], failed: [] });
    await claim(laptop, ['b', 'c']);
  });

  it('a claim stands whose results were read although the service says now that its job failed', async () => {
    const machines = await oneClaim();
    const { ledger } = await machines.open('runner-7');
    await ledger.cycle('2026-12').endClaim({ kind: 'done', job: 'job-1', born: null });
    machines.store('job-1', 'failed');
    const settled = await settle(await machines.open('laptop'), ['a']);
    expect([words(settled), settled.failed]).toEqual([['job-1 1 failed done'], []]);
    expect(await machines.entries()).toEqual(['claim job-1', 'done job-1']);
  });
});

/** Returns machines of which the first has claimed rows for job-1, which the operator then freed. */
async function freedClaim(): Promise<Machines> {
  const machines = await oneClaim();
  const { ledger } = await machines.open('runner-7');
  await ledger.cycle('2026-12').endClaim({ kind: 'release', job: 'job-1', why: 'operator', proof: 'the operator' });
  return machines;
}

describe('a claim that the operator freed', () => {
  it.each(['processing', 'completed'] as const)('R79: a freed claim stands again whose job is %s', async (status) => {
    const machines = await freedClaim();
    machines.store('job-1', status);
    const laptop = await machines.open('laptop');
    for (let time = 1; time <= 2; time += 1)
      expect(words(await settle(laptop, ['b', 'c']))).toEqual([`job-1 1 ${status}`]);
    expect(await machines.entries()).toEqual(['claim job-1', 'release job-1', 'claim job-1']);
  });

  it('a freed claim that stands again warns of its rows that another job has by then', async () => {
    const machines = await freedClaim();
    const laptop = await machines.open('laptop');
    await claim(laptop, ['b', 'c']);
    machines.store('job-1', 'completed');
    const texts: string[] = [];
    for (let time = 1; time <= 2; time += 1) await settle(laptop, ['a', 'b'], { warn: (text) => texts.push(text) });
    expect(texts).toEqual([expect.stringContaining('1 row of 2026-12 was paid for twice: job job-1')]);
  });

  it.each(['pending', 'failed', 'not found'] as const)('a freed claim whose job is %s stays free', async (status) => {
    const machines = await freedClaim();
    if (status === 'failed') machines.store('job-1', 'failed');
    if (status === 'not found') await machines.clock.advance(8 * DAY);
    expect(await settle(await machines.open('laptop'), ['a', 'b'])).toEqual({ taken: [], failed: [] });
    expect(await machines.entries()).toEqual(['claim job-1', 'release job-1']);
  });

  it('R79: a freed claim whose results were read later stands again, although the service has forgotten its job', async () => {
    const machines = await freedClaim();
    const { ledger } = await machines.open('runner-7');
    await ledger.cycle('2026-12').endClaim({ kind: 'done', job: 'job-1', born: null });
    await machines.clock.advance(8 * DAY);
    expect(words(await settle(await machines.open('laptop'), ['a']))).toEqual(['job-1 1 not found done']);
  });

  it('R58: a freed claim of unknown rows, which would have every row, stays free', async () => {
    const machines = new Machines();
    const laptop = await machines.open('laptop');
    const { id: job } = await laptop.client.accountUpdater.create();
    const cycle = laptop.ledger.cycle('2026-12');
    await cycle.append(async () => claimBody(job, { row_set: null }));
    await cycle.endClaim({ kind: 'release', job, why: 'operator', proof: 'the operator' });
    machines.store(job, 'completed');
    expect(words(await settle(laptop, ['x']))).toEqual([]);
  });
});

describe('a claim whose job the service does not find', () => {
  it('R58: a claim stands before it can be proven that its job is gone, and no job is created for the proof', async () => {
    const machines = await oneClaim();
    // The address of the job lived until 6:00, and a second and a quarter of an hour more are under way.
    await machines.clock.advance(75 * MINUTE);
    const laptop = await machines.open('laptop');
    expect(words(await settle(laptop, ['b', 'c']))).toEqual(['job-1 1 not found']);
    expect(machines.service.jobs).toHaveLength(1);
    await machines.clock.advance(1000);
    expect(words(await settle(laptop, ['b', 'c']))).toEqual([]);
  });

  it('a claim whose job is proven gone is released with the proof', async () => {
    const machines = await oneClaim();
    await machines.clock.advance(76 * MINUTE);
    expect(await settle(await machines.open('laptop'), ['a', 'b'])).toEqual({ taken: [], failed: [] });
    expect(await machines.entries()).toEqual(['claim job-1', 'release job-1']);
    expect(JSON.parse(machines.objects.text('ours/cycles/2026-12/00000002.json'))).toMatchObject({
      why: 'gone',
      proof: 'two lists show job job-2, created 2026-12-01T06:16:00.000Z, and not job job-1',
      by: { host: 'laptop' },
    });
  });

  it('R58: a claim stands where no job may be created for the proof', async () => {
    const machines = await oneClaim();
    await machines.clock.advance(76 * MINUTE);
    const settled = await settle(await machines.open('laptop'), ['a'], { createJob: async () => undefined });
    expect(words(settled)).toEqual(['job-1 1 not found']);
  });

  it('R58: a claim stands after more than a week, because the absence of its job proves nothing any more', async () => {
    const machines = await oneClaim();
    await machines.clock.advance(8 * DAY);
    expect(words(await settle(await machines.open('laptop'), ['a', 'b']))).toEqual(['job-1 2 not found']);
    expect(await machines.entries()).toEqual(['claim job-1']);
    expect(machines.service.jobs).toHaveLength(1);
  });

  it('R58: a claim whose results were read stands although the service has forgotten its job', async () => {
    const machines = await oneClaim();
    const { ledger } = await machines.open('runner-7');
    await ledger.cycle('2026-12').endClaim({ kind: 'done', job: 'job-1', born: null });
    for (const wait of [76 * MINUTE, 40 * DAY]) {
      await machines.clock.advance(wait);
      const ended = new Set(['job-1']);
      expect(words(await settle(await machines.open('laptop'), ['b', 'c'], { jobsWithoutFile: ended }))).toEqual([
        'job-1 1 not found done',
      ]);
    }
  });

  it('R58: results that are entered while the job is looked for keep the rows claimed', async () => {
    const machines = await oneClaim();
    await machines.clock.advance(76 * MINUTE);
    const [laptop, runner] = [await machines.open('laptop'), await machines.open('runner-7')];
    const done = { kind: 'done', job: 'job-1', born: null } as const;
    const newer = async () => {
      await runner.ledger.cycle('2026-12').endClaim(done);
      return laptop.client.accountUpdater.create();
    };
    expect(words(await settle(laptop, ['a', 'b'], { createJob: newer }))).toEqual(['job-1 2 not found done']);
    expect(await machines.entries()).toEqual(['claim job-1', 'done job-1']);
  });

  it('a claim ends at once where the record of the only machine says that its job never had a file', async () => {
    const machines = await oneClaim();
    await machines.clock.advance(61 * MINUTE);
    const settled = await settle(await machines.open('runner-7'), ['a'], { jobsWithoutFile: new Set(['job-1']) });
    expect(settled).toEqual({ taken: [], failed: [] });
    expect(JSON.parse(machines.objects.text('ours/cycles/2026-12/00000002.json'))).toMatchObject({
      why: 'gone',
      proof: 'the record of this machine: job job-1 never had its file',
    });
  });

  it.each(['pending', 'processing', 'completed'] as const)(
    'R58: a claim stands while its job is %s, whatever the record of the machine says',
    async (status) => {
      const machines = await oneClaim();
      if (status !== 'pending') machines.store('job-1', status);
      const settled = await settle(await machines.open('runner-7'), ['a'], { jobsWithoutFile: new Set(['job-1']) });
      expect(words(settled)).toEqual([`job-1 1 ${status}`]);
      expect(await machines.entries()).toEqual(['claim job-1']);
    },
  );
});
