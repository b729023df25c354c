import { describe, expect, it } from 'vitest';
import { type PollOptions, pollUntil } from '../../src/account-updater/job.ts';
import { SvcError } from '../../src/errors.ts';
import { FakeClock } from '../support/clock.ts';

const HOUR = 3_600_000;

/** Finds the words one after the other, the last one forever; an error is thrown. */
function polling(
  words: readonly (string | Error)[],
  clock: FakeClock,
  more: Partial<PollOptions<string>> = {},
): Parameters<typeof pollUntil<string>> {
  let at = 0;
  const poll = async (): Promise<string> => {
    const word = words[Math.min(at, words.length - 1)] ?? '';
    at += 1;
    if (word instanceof Error) throw word;
    return word;
  };
  const host = { clock, signal: new AbortController().signal };
  return [host, { poll, isDone: (seen) => seen === 'done', limitMs: () => HOUR, random: () => 0, ...more }];
}

describe('polling until something is done', () => {
  it('R42 polls at once, soon again, then with increasing intervals', async () => {
    const clock = new FakeClock();
    expect(await pollUntil(...polling(['open', 'open', 'open', 'open', 'done'], clock))).toBe('done');
    expect(clock.slept).toEqual([2000, 5000, 6500, 8450]);
    const quick = new FakeClock();
    expect(await pollUntil(...polling(['done'], quick))).toBe('done');
    expect(quick.slept).toEqual([]);
  });

  it('R42 survives outages and ends at anything else', async () => {
    const outage = new SvcError('network', 'no answer');
    const clock = new FakeClock();
    const seen: string[] = [];
    const onPoll: PollOptions<string>['onPoll'] = (result) => seen.push('seen' in result ? result.seen : result.reason);
    expect(await pollUntil(...polling([outage, 'open', outage, 'done'], clock, { onPoll }))).toBe('done');
    expect(seen).toEqual(['no answer', 'open', 'no answer']);
    await expect(pollUntil(...polling([new SvcError('forbidden', 'no')], clock))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('R42 ends exactly when the time is up, by what was seen last', async () => {
    const clock = new FakeClock();
    const started = clock.now();
    const limitMs = (seen: string | undefined): number => (seen === 'long' ? 2 * HOUR : 1000);
    expect(await pollUntil(...polling(['open'], clock, { limitMs }))).toBe('open');
    expect(clock.now() - started).toBe(1000);
    expect(await pollUntil(...polling(['long'], clock, { limitMs }))).toBe('long');
    expect(clock.now() - started).toBe(2 * HOUR + 1000);
    expect(await pollUntil(...polling([new SvcError('server', 'down')], clock))).toBeUndefined();
  });
});
