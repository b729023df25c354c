import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RowsToClaim, claimRows, RowsTaken } from '../../../src/au/ledger/claim-rows.ts';
import { standingClaims } from '../../../src/au/ledger/claims.ts';
import { keyOfNewToken, RowSet } from '../../../src/au/ledger/row-set.ts';
import { type CreateFault, MemoryObjects } from '../../support/memory-objects.ts';
import { UUID } from '../rows.ts';
import { claimBody } from './entries.ts';
import { claim, claimOf, Machines, oneClaim } from './machines.ts';
import { cases } from '../../support/cases.ts';

/** Returns the error of a claim of another machine. */
async function refusalOf(machines: Machines, tokens: readonly string[], more: Partial<RowsToClaim> = {}) {
  const laptop = await machines.open('laptop');
  return claim(laptop, tokens, more).then(
    () => undefined,
    (error: unknown) => error,
  );
}

it('R58: rows that two claims have are sent to neither job until one of the claims ends', async () => {
  const machines = await oneClaim();
  const runner = await machines.open('runner-7');
  const own = await claimOf(runner, { id: 'job-1', status: 'pending' }, ['a', 'b']);
  const other = await claimOf(runner, { id: 'job-2', status: 'pending' }, ['b', 'c']);
  await claimRows(runner.ledger, own);
  // As where the claims of another ledger were copied into this one.
  const cycle = runner.ledger.cycle('2026-12');
  const { sha256, rows } = other;
  const copied = claimBody('job-2', { keys: 2, row_set: await cycle.createRowSet(rows.rows), sha256 });
  await cycle.append(async () => copied);
  for (const claiming of [own, other])
    await expect(claimRows(runner.ledger, claiming)).rejects.toMatchObject({ code: 'pending', exitCode: 11 });
  await cycle.endClaim({ kind: 'release', job: 'job-2', why: 'gone', proof: '' });
  await expect(claimRows(runner.ledger, own)).resolves.toBe(false);
});

describe('claiming free rows', () => {
  it('claiming free rows marks the job, then stores the rows, then the claim that names both, and proves that it is not replaced', async () => {
    const machines = await oneClaim();
    const created = machines.objects.requests.filter((request) => request.startsWith('create'));
    const kinds = created.map((request) => /probe|jobs|rows|\d{8}\.json/.exec(request)?.[0]);
    expect(kinds).toEqual(['probe', 'probe', 'jobs', 'rows', '00000001.json', '00000001.json']);
    const entry = JSON.parse(machines.objects.text('ours/cycles/2026-12/00000001.json')) as Record<string, unknown>;
    expect(entry).toMatchObject({
      kind: 'claim',
      job: 'job-1',
      created_at: '2026-12-01T05:00:00.000Z',
      expires_at: '2026-12-01T06:00:00.000Z',
      rows: 2,
      by: { host: 'runner-7' },
    });
    expect(machines.service.taken).toEqual([]);
    const everything = [...machines.objects.objects.values()].map((bytes) => Buffer.from(bytes).toString('latin1'));
    expect(everything.join('\n')).not.toContain('a,26');
  });

  it('claiming the rows of one job twice makes one claim', async () => {
    const machines = new Machines();
    const runner = await machines.open('runner-7');
    const job = await runner.client.accountUpdater.create();
    for (const isNew of [true, false])
      expect(await claimRows(runner.ledger, await claimOf(runner, job, ['a', 'b']))).toBe(isNew);
    const again = await machines.open('runner-7');
    expect(await claimRows(again.ledger, await claimOf(again, job, ['a', 'b']))).toBe(false);
    expect(await machines.entries()).toEqual(['claim job-1']);
  });

  it.each([
    ['other rows', ['c']],
    ['other bytes of its rows', ['b', 'a']],
  ])('R36: a job with a claim is not claimed for %s', async (_, tokens) => {
    const machines = await oneClaim();
    const laptop = await machines.open('laptop');
    const claiming = await claimOf(laptop, await laptop.client.accountUpdater.read('job-1'), tokens);
    await expect(claimRows(laptop.ledger, claiming)).rejects.toMatchObject({ code: 'conflict' });
    expect(await machines.entries()).toEqual(['claim job-1']);
  });

  it.each<readonly [CreateFault, string]>([
    ['lost', 'jobs/'],
    ['lost', 'rows/'],
    ['lost', '00000001.json'],
    ['refused', 'jobs/'],
    ['refused', 'rows/'],
    ['refused', '00000001.json'],
  ])('R58: a claim that ended because a request was %s (%s) is made once by the next attempt', async (fault, name) => {
    const machines = new Machines();
    const runner = await machines.open('runner-7');
    const job = await runner.client.accountUpdater.create();
    machines.objects.onCreate = (created) => (created.includes(name) ? fault : undefined);
    const attempt = claimRows(runner.ledger, await claimOf(runner, job, ['a']));
    await expect(attempt).rejects.toMatchObject({ code: 'network' });
    machines.objects.onCreate = undefined;
    const again = await machines.open('runner-7');
    await claimRows(again.ledger, await claimOf(again, job, ['a']));
    expect(await machines.entries()).toEqual(['claim job-1']);
    expect(await again.ledger.isMarked('job-1')).toBe(true);
  });

  it('a job whose claim was released gets no file any more', async () => {
    const machines = new Machines();
    const runner = await machines.open('runner-7');
    const job = await claim(runner, ['a', 'b']);
    const end = { kind: 'release', job: job.id, why: 'operator', proof: '' } as const;
    await runner.ledger.cycle('2026-12').endClaim(end);
    const claiming = await claimOf(runner, job, ['a', 'b']);
    await expect(claimRows(runner.ledger, claiming)).rejects.toMatchObject({ code: 'job_expired' });
  });

  it.each(['created_at', 'expires_at'] as const)('a job without %s gets no claim and no file', async (member) => {
    const machines = new Machines();
    const runner = await machines.open('runner-7');
    for (const at of [null, undefined, 'soon']) {
      const job = { ...(await runner.client.accountUpdater.create()), [member]: at };
      const claiming = await claimOf(runner, job, ['a']);
      await expect(claimRows(runner.ledger, claiming)).rejects.toMatchObject({ code: 'bad_response' });
    }
    expect(await machines.entries()).toEqual([]);
  });
});

describe('rows that another job has', () => {
  it('R58: rows that another job has are not claimed, and the error names that job', async () => {
    const machines = await oneClaim();
    const error = await refusalOf(machines, ['b', 'c', 'd']);
    expect(error).toBeInstanceOf(RowsTaken);
    expect(error).toMatchObject({
      code: 'conflict',
      message: 'job job-1 got rows of tokens.csv meanwhile; nothing was sent',
      facts: { job: 'job-1' },
    });
    expect(await machines.entries()).toEqual(['claim job-1']);
  });

  it('R58: a claim of unknown rows has every row', async () => {
    const machines = new Machines();
    const { ledger } = await machines.open('runner-7');
    await ledger.cycle('2026-12').append(async () => claimBody('job-9', { row_set: null }));
    expect(await refusalOf(machines, ['x', 'y'])).toMatchObject({ facts: { job: 'job-9' } });
  });

  it('R58: a release names a job, so that a late one frees no newer claim', async () => {
    const machines = await oneClaim();
    const release = { kind: 'release', job: 'job-1', why: 'gone', proof: 'late' } as const;
    const { ledger } = await machines.open('late');
    await ledger.cycle('2026-12').endClaim(release);
    await claim(await machines.open('laptop'), ['a', 'b']);
    await ledger.cycle('2026-12').append(async () => release);
    expect(await refusalOf(machines, ['a', 'c'])).toMatchObject({ facts: { job: 'job-2' } });
  });

  it('R83: rows are not claimed beside a claim whose set is gone', async () => {
    const machines = await oneClaim();
    for (const name of machines.objects.objects.keys())
      if (name.includes('/rows/')) machines.objects.objects.delete(name);
    expect(await refusalOf(machines, ['c'])).toMatchObject({ exitCode: 3 });
    expect(await machines.entries()).toEqual(['claim job-1']);
  });

  it('R83: the claim of an earlier attempt does not count if the restored ledger has another in its place', async () => {
    const machines = new Machines();
    const cache = new MemoryObjects();
    const runner = await machines.open('runner-7', cache);
    const job = await claim(runner, ['a', 'b']);
    for (const name of machines.objects.objects.keys()) machines.objects.objects.delete(name);
    await claim(await machines.open('laptop'), ['a', 'b']);
    const again = await machines.open('runner-7', cache);
    await expect(claimRows(again.ledger, await claimOf(again, job, ['a', 'b']))).rejects.toMatchObject({ exitCode: 3 });
  });

  it('R58: among machines that claim overlapping files at once, each row has at most one claim', async () => {
    const file = fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 });
    const files = fc.array(file, { minLength: 2, maxLength: 4 });
    const faults = fc.array(fc.constantFrom<CreateFault | undefined>('repeated', undefined), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(files, faults, async (all, left) => {
        const machines = new Machines();
        machines.objects.onCreate = (name) => (machines.objects.objects.has(name) ? undefined : left.shift());
        const outcomes = await Promise.allSettled(
          all.map(async (tokens, at) => claim(await machines.open(`host-${at}`), tokens)),
        );
        const { ledger } = await machines.open('reader');
        const cycle = ledger.cycle('2026-12');
        const claims = standingClaims(await cycle.read());
        const keys: bigint[] = [];
        for (const one of claims) keys.push(...((await cycle.rowSetOf(one))?.keys ?? []));
        expect(new Set(keys).size).toBe(keys.length);
        expect(claims).toHaveLength(outcomes.filter(({ status }) => status === 'fulfilled').length);
        expect(claims.length).toBeGreaterThan(0);
        const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
        expect(refusals.filter((reason) => !(reason instanceof RowsTaken))).toEqual([]);
      }),
      { numRuns: cases(500) },
    );
  });
});

describe('tokens that a cycle made', () => {
  it('R85: a token that the results of a cycle made is not claimed in it, and is in another', async () => {
    const machines = await oneClaim(['a', 'b']);
    const { ledger } = await machines.open('runner-7');
    const cycle = ledger.cycle('2026-12');
    const born = await cycle.createRowSet(RowSet.of([keyOfNewToken(ledger.salt, UUID)], ledger.salt));
    await cycle.endClaim({ kind: 'done', job: 'job-1', keys: 2, born });
    for (const token of [UUID, UUID.toUpperCase()]) {
      const error = await refusalOf(machines, ['c', token]);
      expect(error).toBeInstanceOf(RowsTaken);
      expect(error).toMatchObject({
        message: 'results of this cycle made tokens of tokens.csv meanwhile; nothing was sent',
      });
    }
    await claim(await machines.open('laptop'), ['c', UUID], { cycle: '2027-01' });
    await claim(await machines.open('laptop'), ['c', 'd']);
  });

  it('R85: a token of results that are entered while its rows are claimed is not sent', async () => {
    const machines = await oneClaim(['a', 'b']);
    const [laptop, runner] = [await machines.open('laptop'), await machines.open('runner-7')];
    const born = await runner.ledger
      .cycle('2026-12')
      .createRowSet(RowSet.of([keyOfNewToken(runner.ledger.salt, 'c')], runner.ledger.salt));
    const done = { kind: 'done', job: 'job-1', keys: 2, born } as const;
    let isLate = true;
    machines.objects.onCreate = (name) => {
      if (isLate && name.includes('/jobs/')) {
        isLate = false;
        void runner.ledger.cycle('2026-12').endClaim(done);
      }
      return undefined;
    };
    await expect(claim(laptop, ['c'])).rejects.toBeInstanceOf(RowsTaken);
    expect(await machines.entries()).toEqual(['claim job-1', 'done job-1']);
  });

  it('R85: the tokens of a job are entered although its claim was released', async () => {
    const machines = await oneClaim(['a']);
    const { ledger } = await machines.open('runner-7');
    const cycle = ledger.cycle('2026-12');
    await cycle.endClaim({ kind: 'release', job: 'job-1', why: 'operator', proof: '' });
    const born = await cycle.createRowSet(RowSet.of([keyOfNewToken(ledger.salt, 'c')], ledger.salt));
    for (let time = 0; time < 2; time += 1) await cycle.endClaim({ kind: 'done', job: 'job-1', keys: 2, born });
    expect(await machines.entries()).toEqual(['claim job-1', 'release job-1', 'done job-1']);
    expect(await refusalOf(machines, ['c'])).toBeInstanceOf(RowsTaken);
  });
});
