import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TransportFailure } from '../../../src/client/http/transport-failure.ts';
import { Watchdog } from '../../../src/client/http/watchdog.ts';

const LIMITS = { connect: 1_000, headers: 2_000, idle: 3_000, body: 10_000 };

describe('the watchdog', () => {
  let expired: TransportFailure[] = [];
  let watchdog: Watchdog;

  beforeEach(() => {
    vi.useFakeTimers();
    expired = [];
    watchdog = new Watchdog(LIMITS, (failure) => expired.push(failure));
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('R14: the watchdog bounds the wait for headers from the last piece that went out, however long the sending takes', () => {
    watchdog.sending();
    for (let n = 0; n < 100; n += 1) {
      vi.advanceTimersByTime(1_900);
      watchdog.progress();
    }
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(3_000);
    expect(expired).toMatchObject([{ stage: 'send', sent: true }]);
  });

  it('R14: a body without a bound may take forever, as long as it flows', () => {
    const endless = new Watchdog({ ...LIMITS, body: Infinity }, (failure) => expired.push(failure));
    watchdog.stop();
    endless.sending();
    endless.responding();
    for (let n = 0; n < 1_000; n += 1) {
      vi.advanceTimersByTime(2_999);
      endless.received();
    }
    expect(expired).toEqual([]);
    endless.stop();
  });

  it('R19: the watchdog once stopped arms nothing, whatever is still told of the exchange', () => {
    for (const stage of ['connect', 'send', 'body'] as const) {
      const over = new Watchdog(LIMITS, (failure) => expired.push(failure));
      if (stage !== 'connect') over.sending();
      if (stage === 'body') over.responding();
      over.stop();
      over.sending();
      over.progress();
      over.responding();
      over.received();
    }
    watchdog.stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(expired).toEqual([]);
  });
});
