import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';

it('a process that never waits is busy', () => {
  systemClock.isBusy?.();
  for (let count = 0; count < 20_000_000; count += 1);
  expect(systemClock.isBusy?.()).toBe(true);
});
