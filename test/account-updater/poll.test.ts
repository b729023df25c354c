import { describe, expect, it } from 'vitest';
import { type PollOptions, pollUntil } from '../../src/account-updater/poll.ts';
import { SvcError } from '../../src/errors.ts';
import { FakeClock } from '../support/clock.ts';

const HOUR = 3_600_000;

/** Looks at the words one after the other, the last one for ever; an error is thrown. */
function looking(
  words: readonly (string | Error)[],
  clock: FakeClock,
  more: Partial<PollOptions<string>> = {},
): PollOptions<string> {
  let at = 0;
  const look = async (): Promise<string> => {
    const word = words[Math.min(at, words.length - 1)] ?? '';
    at += 1;
    if (word instanceof Error) throw word;
    return word;
  };
  return {
    look,
    isDone: (seen) => seen === 'done',
    limitMs: () => HOUR,
    clock,
    signal: new AbortController().signal,
    random: () => 0,
    ...more,
  };
}

describe('looking until something is done', () => {
  it('R42 looks at once, soon again, then less and less often', async () => {
    const clock = new FakeClock();
    expect(await pollUntil(looking(['open', 'open', 'open', 'open', 'done'], clock))).toBe('done');
    expect(clock.slept).toEqual([2000, 5000, 6500, 8450]);
    const quick = new FakeClock();
    expect(await pollUntil(looking(['done'], quick))).toBe('done');
    expect(quick.slept).toEqual([]);
  });

  it('R42 survives outages and ends at anything else', async () => {
    const outage = new SvcError('network', 'no answer');
    const clock = new FakeClock();
    const seen: string[] = [];
    const onLook: PollOptions<string>['onLook'] = (glance) =>
      seen.push('seen' in glance ? glance.seen : glance.reason);
    expect(await pollUntil(looking([outage, 'open', outage, 'done'], clock, { onLook }))).toBe('done');
    expect(seen).toEqual(['no answer', 'open', 'no answer']);
    await expect(pollUntil(looking([new SvcError('forbidden', 'no')], clock))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('R42 ends exactly when the time is up, by what was seen last', async () => {
    const clock = new FakeClock();
    const started = clock.now();
    const limitMs = (seen: string | undefined): number => (seen === 'long' ? 2 * HOUR : 1000);
    expect(await pollUntil(looking(['open'], clock, { limitMs }))).toBe('open');
    expect(clock.now() - started).toBe(1000);
    expect(await pollUntil(looking(['long'], clock, { limitMs }))).toBe('long');
    expect(clock.now() - started).toBe(2 * HOUR + 1000);
    expect(await pollUntil(looking([new SvcError('server', 'down')], clock))).toBeUndefined();
  });
});
