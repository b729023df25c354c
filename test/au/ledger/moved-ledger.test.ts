import { expect, it } from 'vitest';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { type MovedLedger, requireMoved } from '../../../src/au/ledger/moved-ledger.ts';
import { RowSet } from '../../../src/au/ledger/row-set.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { absentPlace } from '../../../src/client/store/objects.ts';
import { FakeClock } from '../../support/clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { claimBody, WHO } from './entries.ts';

const clock = new FakeClock({ start: Date.UTC(2026, 11, 1, 5) });

/** A ledger that was moved as a whole, with the copies of a machine. */
async function movedLedger() {
  const [from, to, copies] = [new MemoryObjects(), new MemoryObjects(), new MemoryObjects()];
  const ledger = await Ledger.open(to, 'ours', { clock, who: WHO, cache: copies });
  const cycle = ledger.cycle('2026-12');
  const set = await cycle.createRowSet(RowSet.of([1n]));
  await cycle.append(async () => claimBody('job-1', { row_set: set, rows: 1 }));
  return { from, to, copies, onlyReads: false } satisfies MovedLedger;
}

const missingBucket = new SvcError('not_found', 'no such bucket', { facts: { store_code: 'NoSuchBucket' } });

it.each([
  ['a directory that is gone', absentPlace('/old', 'ledger'), true],
  ['a bucket that is gone', missingBucket, true],
  ['a place that this machine may not read', new SvcError('forbidden', 'closed'), false],
  ['a place that does not answer', new SvcError('network', 'no response'), false],
])('a ledger that was moved: %s as its old place', async (_, refusal, isMoved) => {
  const moved = await movedLedger();
  moved.from.read = () => Promise.reject(refusal);
  const found = await requireMoved('ours', moved).catch((error: unknown) => error);
  expect(found).toBe(isMoved ? undefined : refusal);
});

it('a ledger that was moved is not used in a store that replaces objects', async () => {
  const moved = await movedLedger();
  moved.to.ignoresCondition = true;
  await expect(requireMoved('ours', moved)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('replaces objects that exist'),
  });
  // A machine that may only read tries the store once it may write.
  await expect(requireMoved('ours', { ...moved, onlyReads: true })).resolves.toBeUndefined();
});

it('a ledger that was moved is only read by the check', async () => {
  const moved = await movedLedger();
  const before = new Map(moved.to.objects);
  await requireMoved('ours', { ...moved, onlyReads: true });
  expect([...moved.to.objects]).toEqual([...before]);
  moved.to.objects.delete('ours/cycles/2026-12/00000001.json');
  await expect(requireMoved('ours', moved)).rejects.toMatchObject({
    message:
      'the ledger in memory does not have all that this machine read: memory/ours/cycles/2026-12/00000001.json is missing',
  });
  expect(moved.to.objects.size).toBe(before.size - 1);
});
