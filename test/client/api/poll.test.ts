import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { type PollOptions, pollUntil } from '../../../src/client/api/poll.ts';
import { FakeClock } from '../../support/clock.ts';

const HOUR = 3_600_000;

/** Returns the arguments of a poll that finds the words in order and repeats the last one; it throws an error. */
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

async function lastSeen(args: Parameters<typeof pollUntil<string>>): Promise<string> {
  return (await pollUntil(...args)).seen;
}

describe('polling until something is done', () => {
  it('R42: polling polls at once, soon again, then with increasing intervals', async () => {
    const clock = new FakeClock();
    expect(await lastSeen(polling(['open', 'open', 'open', 'open', 'done'], clock))).toBe('done');
    expect(clock.slept).toEqual([2000, 5000, 6500, 8450]);
    const quick = new FakeClock();
    expect(await lastSeen(polling(['done'], quick))).toBe('done');
    expect(quick.slept).toEqual([]);
  });

  it('R42: polling survives outages and ends at anything else', async () => {
    const outage = new SvcError('network', 'no answer');
    const clock = new FakeClock();
    const seen: string[] = [];
    const onPoll: PollOptions<string>['onPoll'] = (result) =>
      seen.push('seen' in result ? result.seen : result.error.message);
    expect(await lastSeen(polling([outage, 'open', outage, 'done'], clock, { onPoll }))).toBe('done');
    expect(seen).toEqual(['no answer', 'open', 'no answer']);
    await expect(pollUntil(...polling([new SvcError('forbidden', 'no')], clock))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('R42: polling ends exactly when the time is up, by what was seen last', async () => {
    const clock = new FakeClock();
    const started = clock.now();
    const limitMs = (seen: string | undefined): number => (seen === 'long' ? 2 * HOUR : 1000);
    expect(await lastSeen(polling(['open'], clock, { limitMs }))).toBe('open');
    expect(clock.now() - started).toBe(1000);
    expect(await lastSeen(polling(['long'], clock, { limitMs }))).toBe('long');
    expect(clock.now() - started).toBe(2 * HOUR + 1000);
  });

  it('R72: polling throws the last outage where no poll was answered, whether its own time or that of the command is up', async () => {
    const outages = [new SvcError('network', 'refused'), new SvcError('server', 'down')];
    await expect(lastSeen(polling(outages, new FakeClock()))).rejects.toMatchObject({ code: 'server' });
    const timeUp = new SvcError('timeout', 'the time limit was reached');
    await expect(lastSeen(polling([...outages, timeUp], new FakeClock()))).rejects.toBe(timeUp);
  });

  it('R72: polling gives what was said before the command reached its time limit', async () => {
    const timeUp = new SvcError('timeout', 'the time limit was reached');
    const outage = new SvcError('network', 'refused');
    expect(await pollUntil(...polling(['open', outage, timeUp], new FakeClock()))).toEqual({
      seen: 'open',
      outage,
      commandTimeout: timeUp,
    });
  });
});
