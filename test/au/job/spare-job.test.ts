import { expect, it, onTestFinished } from 'vitest';
import { SpareJob } from '../../../src/au/job/spare-job.ts';
import { openBench } from '../support.ts';

const MINUTE = 60_000;

it('a spare job is one job until rows take it, and another one once it is old', async () => {
  const bench = await openBench();
  onTestFinished(() => bench.close());
  const spare = new SpareJob(bench.client);
  expect(spare.take()).toBeUndefined();
  const first = await spare.get();
  expect((await spare.get()).id).toBe(first.id);
  await bench.clock.advance(4 * MINUTE);
  expect(spare.take()?.id).toBe(first.id);
  spare.put(first);
  // The service would be asked why a job that it just created is so old.
  await bench.clock.advance(2 * MINUTE);
  expect((await spare.get()).id).not.toBe(first.id);
  await bench.clock.advance(6 * MINUTE);
  expect(spare.take()).toBeUndefined();
});
