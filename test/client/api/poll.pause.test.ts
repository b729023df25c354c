import { expect, it } from 'vitest';
import { pause, pollUntil, type WakeUp } from '../../../src/client/api/poll.ts';
import { FakeClock } from '../../support/clock.ts';

const never = new AbortController().signal;

/** A wake-up that never comes; it resolves when it is aborted. */
const silent: WakeUp = (signal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

it('the pause between looks ends when a nudge comes, and leaves no sleeper and no asker behind', async () => {
  const clock = new FakeClock({ auto: false });
  let asked: AbortSignal | undefined;
  await pause(clock, 60_000, never, async (signal) => {
    asked = signal;
  });
  expect(clock.sleeping).toBe(0);
  expect(asked?.aborted).toBe(true);
});

it('the pause between looks ends by itself when no nudge comes', async () => {
  const clock = new FakeClock();
  const begun = clock.now();
  await pause(clock, 60_000, never, silent);
  expect(clock.now() - begun).toBe(60_000);
});

it('R19: the pause between looks ends with the reason of the signal', async () => {
  const clock = new FakeClock({ auto: false });
  const abort = new AbortController();
  const waiting = pause(clock, 60_000, abort.signal, silent);
  abort.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

it('the pause between looks that is cut short decides nothing: what counts is what the poll finds', async () => {
  const clock = new FakeClock();
  const statuses = ['pending', 'pending', 'completed'];
  const begun = clock.now();
  let calls = 0;
  const wakeUp: WakeUp = (signal) => ((calls += 1) === 1 ? Promise.resolve() : silent(signal));
  const { seen: found } = await pollUntil(
    { clock, signal: never },
    {
      poll: async () => statuses.shift() ?? 'none',
      isDone: (status) => status === 'completed',
      limitMs: () => 1e9,
      random: () => 0,
      wakeUp,
    },
  );
  expect(found).toBe('completed');
  // The wake-up ended only the first pause. The second pause has its full length.
  expect(clock.now() - begun).toBe(5_000);
});
