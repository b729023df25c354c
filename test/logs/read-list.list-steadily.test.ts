import { describe, expect, it } from 'vitest';
import { listSteadily } from '../../src/logs/read-list.ts';
import { log, logs, take } from './list/expiring-cursors.ts';

describe('a list of logs', () => {
  it('R27: a list keeps the requested interval after its cursor expired', async () => {
    const all = Array.from({ length: 100 }, (_, index) => log([(99 - index) * 1_000, 0]));
    const service = logs(all, 2);
    const filter = { startDate: log([10_000, 0]).created_at, endDate: log([90_000, 0]).created_at };
    const found = await take(listSteadily(service, filter, { pageSize: 5 }));
    expect(found).toEqual(all.slice(10, 90));
    expect(service.expired).toBeGreaterThan(5);
  });

  it('R27: a list fails when its rest cannot be determined', async () => {
    const mixed = [log([0, 0]), log([5_000, 0]), log([1_000, 0]), log([9_000, 0])];
    await expect(take(listSteadily(logs(mixed, 3), {}, { pageSize: 1 }))).rejects.toMatchObject({
      code: 'truncated',
      retryable: false,
    });
    const one = [log([0, 0]), log([0, 1]), log([0, 2])];
    await expect(take(listSteadily(logs(one, 1), {}, { pageSize: 1, start: '1' }))).rejects.toMatchObject({
      code: 'truncated',
    });
  });

  it('R27: a list gives up on a cursor that expires before every page', async () => {
    const all = Array.from({ length: 30 }, () => log([0, 0]));
    await expect(take(listSteadily(logs(all, 1), {}, { pageSize: 5 }))).rejects.toMatchObject({ status: 410 });
  });
});
