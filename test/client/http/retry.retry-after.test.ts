import { describe, expect, it } from 'vitest';
import { Pacer, type RateRule } from '../../../src/client/http/pacer.ts';
import { retryAfterMs } from '../../../src/client/http/retry.ts';
import { FakeClock } from '../../support/clock.ts';
import { answer, json } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const NOW = Date.UTC(2026, 0, 5, 12, 0, 0, 400);
const at = (seconds: number): string => new Date(NOW - 400 + seconds * 1000).toUTCString();

describe('Retry-After', () => {
  it.each([
    ['whole seconds', '7', 7_000],
    ['zero', '0', 0],
    ['seconds with space around', '  7\t', 7_000],
    ['decimal seconds', '1.25', 1_250],
    ['a date', at(30), 30_599],
    ['a date of this second', at(0), undefined],
    ['a date in the past', at(-30), undefined],
    ['a date in the form of RFC 850', 'Monday, 05-Jan-26 12:00:30 GMT', 30_599],
    ['a date as asctime writes it', 'Mon Jan  5 12:00:30 2026', 30_599],
    ['a negative number', '-5', undefined],
    ['words', 'soon, please', undefined],
    ['nothing', '', undefined],
    ['a number with a unit', '5s', undefined],
    ['an exponent', '1e3', undefined],
    ['infinity', 'Infinity', undefined],
    ['two numbers', '5, 30', 30_000],
    ['a date and a number', `${at(30)}, 5`, 30_599],
    ['words and a number', 'soon, 5', 5_000],
    ['an RFC 3339 time', '2026-01-05T12:00:30Z', undefined],
    ['absurdly many seconds', `1${'0'.repeat(22)}`, Number.MAX_SAFE_INTEGER],
    ['more seconds than a number holds', '9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('R17: Retry-After reads %s', (_, header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms);
  });

  it('R17: Retry-After reads no header as no pause', () => {
    expect(retryAfterMs(undefined, NOW)).toBeUndefined();
  });

  it.each([
    ['429', 429, '7', 7_000],
    ['503', 503, '7', 7_000],
    ['a header sent twice', 429, ['3', '9'], 9_000],
    ['a header sent twice, the longer one first', 429, ['9', '3'], 9_000],
  ] as const)('R17: Retry-After never waits less than the service asked for: %s', async (_, status, value, least) => {
    const server = await serve([answer(status, '', { 'retry-after': value }), json({})]);
    for (const random of [0, 0.5, 0.999]) {
      server.play([answer(status, '', { 'retry-after': value }), json({})]);
      const clock = new FakeClock();
      await makeCore(server.url, { clock, random: () => random }).call(READ);
      expect(clock.slept).toHaveLength(1);
      expect(clock.slept[0]).toBeGreaterThanOrEqual(least);
      expect(clock.slept[0]).toBeLessThanOrEqual(least + 500);
    }
  });

  it('R17: a pause as long as allowed is taken; one longer ends the command with exit 7', async () => {
    const server = await serve([answer(429, '', { 'retry-after': '60' }), json({})]);
    const clock = new FakeClock();
    await makeCore(server.url, { clock, maxWaitMs: 60_000 }).call(READ);
    expect(clock.slept[0]).toBeGreaterThanOrEqual(60_000);

    for (const request of [READ, CREATE]) {
      server.play([answer(429, '', { 'retry-after': '61' })]);
      const patient = new FakeClock();
      const error = await failureOf(makeCore(server.url, { clock: patient, maxWaitMs: 60_000 }).call(request));
      expect(error).toMatchObject({ code: 'rate_limited', exitCode: 7, status: 429, retryable: true });
      expect(error.message).toContain('asks to wait 61 s');
      expect(error.hint).toBe('Run the command again in 61 s.');
      expect(error.facts).toEqual({ retry_after_s: 61 });
      expect(patient.slept).toEqual([]);
      expect(server.ledger).toHaveLength(1);
    }
  });

  it('R17: a pause of more than a day is not offered to be allowed', async () => {
    const server = await serve([answer(429, '', { 'retry-after': `1${'0'.repeat(23)}` })]);
    const error = await failureOf(makeCore(server.url, { clock: new FakeClock() }).call(READ));
    expect(error).toMatchObject({ code: 'rate_limited', exitCode: 7 });
    expect(error.message).toContain('asks to wait more than a day');
    expect(`${error.message} ${error.hint}`).not.toMatch(/--max-wait|e\+|\d{6}/);
  });

  it('R17: a 429 that names no pause waits as long as the broken rule blocks', async () => {
    const rule: RateRule = { name: 'all', applies: () => true, count: 100, windowMs: 1_000, blockMs: 45_000 };
    for (const value of [undefined, 'soon', '-1']) {
      const server = await serve([answer(429, '', value === undefined ? {} : { 'retry-after': value }), json({})]);
      const clock = new FakeClock();
      await makeCore(server.url, { clock, pacer: new Pacer([rule], clock) }).call(READ);
      expect(clock.slept[0]).toBeGreaterThanOrEqual(45_000);
    }
  });

  it('R17: a pause that one request was requested is kept by those beside it', async () => {
    const server = await serve((_, index) => (index === 0 ? answer(429, '', { 'retry-after': '30' }) : json({})));
    const clock = new FakeClock({ auto: false });
    const rule: RateRule = { name: 'all', applies: () => true, count: 100, windowMs: 1_000, blockMs: 1_000 };
    const core = makeCore(server.url, { clock, pacer: new Pacer([rule], clock), random: () => 0 });
    const first = core.call(READ);
    await expect.poll(() => clock.sleeping).toBe(1);
    const second = core.call(READ);
    await expect.poll(() => clock.sleeping).toBe(2);
    await clock.advance(29_999);
    expect(clock.sleeping).toBe(2);
    expect(server.ledger).toHaveLength(1);
    await clock.advance(1);
    await Promise.all([first, second]);
    expect(server.ledger).toHaveLength(3);
  });

  it('R17 and R25: a date counts by the clock of the service, however wrong ours is', async () => {
    for (const hours of [-26, 0, 26]) {
      const clock = new FakeClock();
      const theirs = clock.now() + hours * 3_600_000;
      const server = await serve([
        answer(429, '', {
          date: new Date(theirs).toUTCString(),
          'retry-after': new Date(theirs + 20_000).toUTCString(),
        }),
        json({}),
      ]);
      await makeCore(server.url, { clock, random: () => 0 }).call(READ);
      expect(clock.slept[0]).toBeGreaterThanOrEqual(20_000);
      expect(clock.slept[0]).toBeLessThanOrEqual(22_000);
    }
  });
});
