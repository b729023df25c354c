import { describe, expect, it } from 'vitest';
import { durationMs, expectedLeft, type Known, type Timed } from '../../src/account-updater/expected.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 5, 12);

function at(ms: number): string {
  return new Date(START + ms).toISOString();
}

function sent(ms: number): Timed {
  return { state: 'uploaded', sent_at: at(ms) };
}

function done(from: number, to: number): Timed {
  return { state: 'downloaded', sent_at: at(from), done_at: at(to) };
}

function known(ms: number, more: Partial<Known> = {}): Known {
  return { now: START + ms, earlier: [], isSandbox: false, ...more };
}

describe('the time that a wait is likely to take', () => {
  it('comes from the parts of the run that are done', () => {
    const parts = [done(0, 5 * HOUR), done(0, 6 * HOUR), done(0, 7 * HOUR), sent(HOUR)];
    expect(expectedLeft(parts, known(5 * HOUR, { earlier: [DAY] }))).toBe('about 2h left');
    expect(expectedLeft(parts, known(8 * HOUR))).toBe('longer than the 6h of its other parts');
  });

  it('comes from earlier jobs at the same place where no part is done', () => {
    const earlier = [20 * HOUR, 30 * HOUR, 22 * HOUR];
    expect(expectedLeft([sent(0)], known(2 * HOUR, { earlier }))).toBe('about 20h left');
    expect(expectedLeft([sent(0)], known(3 * DAY, { earlier }))).toBe('longer than the 22h of earlier jobs');
  });

  it.each([
    [59_000, undefined],
    [2 * HOUR, 'typically about 22h left, 7d at most'],
    [2 * DAY, 'up to 5d left'],
    [6 * DAY + 23 * HOUR, 'up to 1h left'],
    [8 * DAY, 'longer than the seven days that it takes at most'],
  ])('is what the service says after %i ms where nothing else is known: %s', (ms, words) => {
    expect(expectedLeft([sent(0)], known(ms))).toBe(words);
  });

  it('is not guessed in the sandbox, nor for parts that were not sent', () => {
    expect(expectedLeft([sent(0)], known(HOUR, { isSandbox: true }))).toBeUndefined();
    expect(expectedLeft([sent(0)], known(0, { isSandbox: true, earlier: [2_400] }))).toBe('about 2s left');
    expect(expectedLeft([{ state: 'planned' }], known(HOUR))).toBeUndefined();
    expect(expectedLeft([{ state: 'uploaded' }], known(HOUR))).toBeUndefined();
    expect(expectedLeft([], known(HOUR))).toBeUndefined();
  });

  it('leaves out times that cannot be', () => {
    const odd: Timed = { state: 'downloaded', sent_at: 'then', done_at: at(0) };
    expect(durationMs([done(HOUR, 0), odd, done(0, HOUR), { state: 'downloaded' }])).toEqual([HOUR]);
  });
});
