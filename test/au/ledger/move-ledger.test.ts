import { expect, it } from 'vitest';
import { claimRows } from '../../../src/au/ledger/claim-rows.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { enteredWithoutRows } from '../../../src/au/ledger/earlier-keys.ts';
import { copyClaims } from '../../../src/au/ledger/move-ledger.ts';
import { readRows } from '../../../src/au/ledger/request-rows.ts';
import { keyOfNewToken, RowSet } from '../../../src/au/ledger/row-set.ts';
import { rowsWithoutJob } from '../../../src/au/ledger/rows-without-job.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { claimBody, WHO } from './entries.ts';
import { claim, claimOf, fileOf, type Machine, Machines } from './machines.ts';

/** Opens the ledger that a machine has alone. */
async function openOwn(machines: Machines, objects: MemoryObjects): Promise<Machine> {
  const ledger = await Ledger.open(objects, 'ours', {
    clock: machines.clock,
    who: WHO,
    isFirstUse: false,
    isOwn: true,
  });
  return { ledger, client: (await machines.open('runner-7')).client };
}

it('a machine that begins to share its ledger copies the claims that stand, with their rows, and that results were read', async () => {
  const machines = new Machines();
  const own = await openOwn(machines, new MemoryObjects());
  const jobs = [await claim(own, ['a']), await claim(own, ['b']), await claim(own, ['c'])];
  const cycle = own.ledger.cycle('2026-12');
  const [released, done] = jobs.map(({ id }) => id);
  await cycle.endClaim({ kind: 'release', job: released ?? '', why: 'failed', proof: '' });
  await cycle.endClaim({ kind: 'done', job: done ?? '', born: null });
  await claim(own, ['a'], { cycle: '2027-01' });
  const { ledger } = await machines.open('runner-7');
  for (let time = 0; time < 2; time += 1) await copyClaims(own.ledger, ledger);
  expect(await machines.entries()).toEqual(['claim job-2', 'done job-2', 'claim job-3']);
  expect(await machines.entries('2027-01')).toEqual(['claim job-4']);
  const [copy] = await ledger.cycle('2026-12').read();
  expect(copy).toMatchObject({ keys: 2, rows: 1, file: { name: 'tokens.csv' } });
  expect(await ledger.cycle('2026-12').rowSetOf(copy as ClaimEntry)).toEqual(
    (await readRows(ledger.salt, fileOf(['b']))).rows,
  );
  for (const job of ['job-2', 'job-3', 'job-4']) expect([job, await ledger.isMarked(job)]).toEqual([job, true]);
});

it('a machine that begins to share its ledger copies which rows of a file no job has', async () => {
  const machines = new Machines();
  const own = await openOwn(machines, new MemoryObjects());
  const cycle = own.ledger.cycle('2026-12');
  const { rows } = await readRows(own.ledger.salt, fileOf(['a', 'b', 'c']));
  const file = { name: 'tokens.csv', sha256: '0'.repeat(64), rows: 3, row_sets: [await cycle.createRowSet(rows)] };
  const { id } = await claim(own, ['a'], { file });
  const { ledger } = await machines.open('runner-7');
  await copyClaims(own.ledger, ledger);
  const shared = ledger.cycle('2026-12');
  const lost = await rowsWithoutJob({ cycle: shared, entries: await shared.read() });
  expect(lost.map(({ claim: { job }, isEnded, rows: { size } }) => [job, isEnded, size])).toEqual([[id, false, 2]]);
});

it('of the claims without rows in a shared ledger, a machine takes only those that an earlier build entered for its own', async () => {
  const machines = new Machines();
  const own = await openOwn(machines, new MemoryObjects());
  const { id } = await claim(own, ['a']);
  const { ledger } = await machines.open('runner-7');
  for (const job of [id, 'job-of-another'])
    await ledger.cycle('2026-12').append(async () => claimBody(job, { row_set: null }));
  await ledger.mark(id, '2026-12');
  const entered = await enteredWithoutRows(own.ledger, ledger, ['2026-12']);
  expect(entered.map(({ job }) => job)).toEqual([id]);
});

it('R85: a machine that begins to share its ledger copies results that were read with the tokens that they made, delivered or not', async () => {
  const machines = new Machines();
  const own = await openOwn(machines, new MemoryObjects());
  const { id: job } = await claim(own, ['a']);
  const cycle = own.ledger.cycle('2026-12');
  const made = RowSet.of([keyOfNewToken(own.ledger.salt, 'n')], own.ledger.salt);
  const born = await cycle.createRowSet(made);
  await cycle.endClaim({ kind: 'done', job, keys: 2, born, delivered: false });
  const { ledger } = await machines.open('runner-7');
  await copyClaims(own.ledger, ledger);
  expect(await machines.entries()).toEqual(['claim job-1', 'done job-1']);
  expect((await ledger.cycle('2026-12').read())[1]).toMatchObject({ keys: 2, born, delivered: false });
  expect(await ledger.cycle('2026-12').rowSet(born, { keys: 2 })).toEqual(made);
});

it('a machine that begins to share its ledger copies no job that is known there', async () => {
  const machines = new Machines();
  const own = await openOwn(machines, new MemoryObjects());
  const job = await claim(own, ['a']);
  const runner = await machines.open('runner-7');
  await claimRows(runner.ledger, await claimOf(runner, job, ['a']));
  await copyClaims(own.ledger, runner.ledger);
  expect(await machines.entries()).toEqual(['claim job-1']);
});

it('R58: a process that still claims in the ledger that its machine left sends nothing, and its claim is entered', async () => {
  const machines = new Machines();
  const objects = new MemoryObjects();
  const atWork = await openOwn(machines, objects);
  await claim(atWork, ['a']);
  const { ledger: own } = await openOwn(machines, objects);
  await own.close('s3://bucket/ledger');
  await expect(claim(atWork, ['b'])).rejects.toMatchObject({
    code: 'config',
    exitCode: 3,
    message: 'this machine uses the ledger s3://bucket/ledger now; nothing was sent',
    next: ['profile', 'set', 'ledger', 's3://bucket/ledger'],
  });
});

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'R58: a machine that begins to share its ledger killed at request %i goes on later, and each job is entered once',
  async (request) => {
    const machines = new Machines();
    const own = await openOwn(machines, new MemoryObjects());
    for (const token of ['a', 'b']) await claim(own, [token]);
    await own.ledger.cycle('2026-12').endClaim({ kind: 'done', job: 'job-1', born: null });
    const { ledger } = await machines.open('runner-7');
    let left = request;
    machines.objects.onCreate = () => ((left -= 1) === 0 ? 'lost' : undefined);
    await copyClaims(own.ledger, ledger).catch(() => undefined);
    machines.objects.onCreate = undefined;
    // Whoever sees a mark takes the rows for claimed.
    const claimed = await machines.entries();
    for (const job of ['job-1', 'job-2'])
      expect([job, (await ledger.isMarked(job)) && !claimed.includes(`claim ${job}`)]).toEqual([job, false]);
    await copyClaims(own.ledger, (await machines.open('runner-7')).ledger);
    expect((await machines.entries()).toSorted()).toEqual(['claim job-1', 'claim job-2', 'done job-1']);
  },
);
