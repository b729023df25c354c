import { describe, expect, it } from 'vitest';
import { KNOWN_RATES, Pacer, type RateRule } from '../../../src/client/http/pacer.ts';
import { FakeClock } from '../../support/clock.ts';

const quiet = (): void => undefined;

describe('pacing', () => {
  it('R18: pacing does not hold back what fits', async () => {
    const clock = new FakeClock();
    const pacer = new Pacer(KNOWN_RATES, clock);
    for (let n = 0; n < 48; n += 1) (await pacer.take({ key: 'management', path: '/logs' }, undefined, quiet))();
    expect(clock.slept).toEqual([]);
    for (let n = 0; n < 9; n += 1)
      (await pacer.take({ key: 'private', path: '/account-updater/jobs' }, undefined, quiet))();
    expect(clock.slept).toEqual([]);
  });

  it('R18: 40 jobs of three requests each take no longer than the rule makes them', async () => {
    const clock = new FakeClock();
    const pacer = new Pacer(KNOWN_RATES, clock);
    const started = clock.now();
    for (let n = 0; n < 120; n += 1)
      (await pacer.take({ key: 'private', path: '/account-updater/jobs' }, undefined, quiet))();
    expect(clock.now() - started).toBe(Math.floor(119 / 9) * 10_000);
  });

  it('R18: keys are counted apart', async () => {
    const clock = new FakeClock();
    const rule: RateRule = { name: 'all', applies: () => true, count: 1, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    await pacer.take({ key: 'private', path: '/x' }, undefined, quiet);
    await pacer.take({ key: 'management', path: '/x' }, undefined, quiet);
    expect(clock.slept).toEqual([]);
  });

  it('R18: pacing tells of each pause, and those who wait go in turn', async () => {
    const clock = new FakeClock();
    const rule: RateRule = { name: 'all', applies: () => true, count: 2, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    const order: number[] = [];
    const told: number[] = [];
    await Promise.all(
      Array.from({ length: 7 }, async (_, n) => {
        const ended = await pacer.take({ key: 'private', path: '/x' }, undefined, (ms) => told.push(ms));
        order.push(n);
        ended();
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told.every((ms) => ms > 0 && ms <= 1_000)).toBe(true);
  });

  it('R19: a pause ends with the signal, and takes nobody else along', async () => {
    const clock = new FakeClock({ auto: false });
    const rule: RateRule = { name: 'all', applies: () => true, count: 1, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    (await pacer.take({ key: 'private', path: '/x' }, undefined, quiet))();
    const abort = new AbortController();
    const first = pacer.take({ key: 'private', path: '/x' }, abort.signal, quiet);
    const second = pacer.take({ key: 'private', path: '/x' }, undefined, quiet);
    const reason = new Error('stop');
    abort.abort(reason);
    await expect(first).rejects.toBe(reason);
    await clock.advance(1_000);
    await second;
  });

  it('R18: a request that is not answered yet counts, however old it is', async () => {
    const clock = new FakeClock();
    const rule: RateRule = { name: 'all', applies: () => true, count: 1, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    const ended = await pacer.take({ key: 'private', path: '/x' }, undefined, quiet);
    const second = pacer.take({ key: 'private', path: '/x' }, undefined, quiet).then(() => clock.now());
    await clock.sleep(60_500);
    const answered = clock.now();
    ended();
    expect((await second) - answered).toBeGreaterThanOrEqual(1_000);
  });

  it('R17: a refusal holds back all that the broken rule governs, and nothing else', async () => {
    const clock = new FakeClock();
    const pacer = new Pacer(KNOWN_RATES, clock);
    const started = clock.now();
    pacer.hold({ key: 'private', path: '/account-updater/jobs' }, 7_000);
    pacer.hold({ key: 'private', path: '/account-updater/jobs' }, 3_000);
    await pacer.take({ key: 'private', path: '/3ds/sessions' }, undefined, quiet);
    await pacer.take({ key: 'management', path: '/logs' }, undefined, quiet);
    expect(clock.now()).toBe(started);
    await pacer.take({ key: 'private', path: '/account-updater/jobs/1' }, undefined, quiet);
    expect(clock.now() - started).toBe(7_000);
    new Pacer([], clock).hold({ key: 'private', path: '/x' }, 1_000);
  });

  it('R17: pacing knows how long a broken rule blocks', () => {
    const pacer = new Pacer(KNOWN_RATES, new FakeClock());
    expect(pacer.blockMs({ key: 'management', path: '/logs' })).toBe(60_000);
    expect(pacer.blockMs({ key: 'private', path: '/account-updater/jobs' })).toBe(10_000);
    expect(new Pacer([], new FakeClock()).blockMs({ key: 'private', path: '/x' })).toBe(0);
  });
});
