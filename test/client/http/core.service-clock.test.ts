import { describe, expect, it } from 'vitest';
import { ServiceClock } from '../../../src/client/http/service-clock.ts';
import { FakeClock } from '../../support/clock.ts';
import { answer } from '../../support/fault-steps.ts';
import { failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const HOUR = 3_600_000;

describe("the service's clock", () => {
  it.each([-26, -1, 1, 26])(
    "R25: the service's clock is learned from the Date header when ours is %i h off",
    (hours) => {
      const clock = new FakeClock({ start: Date.UTC(2026, 0, 5, 12) });
      const service = new ServiceClock(clock);
      expect(service.now()).toBe(clock.now());
      service.learn(new Date(clock.now() + hours * HOUR).toUTCString());
      expect(Math.abs(service.now() - clock.now() - hours * HOUR)).toBeLessThanOrEqual(1_000);
    },
  );

  it('R25: a difference that a header of whole seconds cannot show counts as none', () => {
    for (const ms of [0, 1, 499, 999]) {
      const clock = new FakeClock({ start: Date.UTC(2026, 0, 5, 12) + ms });
      const service = new ServiceClock(clock);
      service.learn(new Date(clock.now()).toUTCString());
      expect(service.now()).toBe(clock.now());
    }
  });

  it('R25: a header that is no date changes nothing', () => {
    const service = new ServiceClock(new FakeClock());
    service.learn(new Date(service.now() + 26 * HOUR).toUTCString());
    const learned = service.now();
    for (const header of [undefined, '', 'now', 'x'.repeat(1_000)]) service.learn(header);
    expect(service.now()).toBe(learned);
  });

  it("R25: the service's clock is learned from every answer, errors too", async () => {
    const clock = new FakeClock();
    const server = await serve([
      answer(200, '{}', { date: new Date(clock.now() + 26 * HOUR).toUTCString() }),
      answer(404, '{}', { date: new Date(clock.now() - 26 * HOUR).toUTCString() }),
    ]);
    const core = makeCore(server.url, { clock });
    await core.call(READ);
    expect((core.serviceClock.now() - clock.now()) / HOUR).toBeCloseTo(26, 2);
    await failureOf(core.call(READ));
    expect((core.serviceClock.now() - clock.now()) / HOUR).toBeCloseTo(-26, 2);
  });
});
