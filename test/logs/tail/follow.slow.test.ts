import { describe, expect, it } from 'vitest';
import { KNOWN_RATES, RateLedger, Pacer } from '../../../src/client/http/pacer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import { checkpointText, parseCheckpoint } from '../../../src/logs/tail/checkpoint.ts';
import { Tail, type TailEvent, type TailOptions } from '../../../src/logs/tail/follow.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import type { Log } from '../../../src/schema/log.ts';
import { CALM, type Happening, Killed, logOf, type Manner, ModelClock, ModelService } from '../model.ts';

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const HOUR = 3_600_000;

const subject = { service: 'https://a.invalid', entityType: undefined, entityId: undefined };

interface Seen {
  readonly words: string[];
  readonly events: TailEvent[];
  readonly service: ModelService;
}

async function follow(
  happenings: readonly Happening[],
  manner: Partial<Manner> = {},
  options: Partial<TailOptions> = {},
  lengthMs = 600 * SECOND,
): Promise<Seen> {
  const service = new ModelService(new ModelClock(START), happenings, { ...CALM, ...manner }, () => 0.5);
  const seen: Seen = { words: [], events: [], service };
  const tail = new Tail(service, {
    begin: beginAt(START),
    overlapMs: 60 * SECOND,
    retentionMs: 24 * HOUR,
    onEvent: (event) => {
      seen.events.push(event);
      if (service.now() >= START + lengthMs) throw new Killed();
    },
    ...options,
  });
  await tailInto(tail, seen.words);
  return seen;
}

async function tailInto(tail: Tail, words: string[]): Promise<void> {
  try {
    for await (const batch of tail.batches()) words.push(...batch.map(({ message }) => message ?? ''));
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

function happening(at: number, words: string): Happening {
  return { at: START + at, seenAt: START + at, words };
}

/** Returns the nth of many entries. One in three is late by up to the overlap, and one in seven equals the previous one. */
function lateOne(index: number, at: number, overlapMs: number): Happening {
  const lateMs = index % 3 === 0 ? (((index * 7_919) % 1009) / 1008) * overlapMs : 0;
  const second = START + Math.floor(at / SECOND) * SECOND;
  return {
    at: START + at,
    seenAt: Math.max(START + at, second + lateMs),
    words: `one ${index - (index % 7 === 1 ? 1 : 0)}`,
  };
}

function kinds({ events }: Seen): string[] {
  return events.map(({ kind }) => kind).filter((kind) => kind !== 'polled' && kind !== 'catching up');
}

/** A model service with the rate limit of a management key, which other clients may use too. */
function limited(service: ModelService): LogSource {
  const pacer = new Pacer(KNOWN_RATES, service.clock, Object.assign(new RateLedger(), { isShared: true }));
  return {
    clock: service.clock,
    signal: service.signal,
    now: () => service.now(),
    async *pages(range, size) {
      const pages = service.pages(range, size);
      for (;;) {
        const answered = await pacer.take({ key: 'management', path: '/logs' }, undefined, () => undefined);
        const { value } = await pages.next();
        answered();
        yield value;
        if (value.next === undefined) return;
      }
    },
  };
}

function dieAtPresent({ kind }: TailEvent): void {
  if (kind === 'polled') throw new Killed();
}

function isYes({ message }: Log): boolean {
  return message === 'yes';
}

describe('a tail', () => {
  it('R29: a tail reports its position after each batch, so that a crash repeats at most one batch', async () => {
    const happenings = Array.from({ length: 250 }, (_, index) => happening(30 * SECOND, `entry ${index}`));
    const service = new ModelService(new ModelClock(START), happenings, CALM, () => 0.5);
    const options = { overlapMs: 60 * SECOND, retentionMs: 24 * HOUR, batchSize: 100, limit: 240 };
    const taken: number[] = [];
    const told: number[] = [];
    const tail = new Tail(service, {
      ...options,
      begin: beginAt(START),
      onPosition: ({ passed }) => void told.push(passed.length),
    });
    for await (const batch of tail.batches()) taken.push(batch.length);
    expect(taken).toEqual([100, 100, 40]);
    expect(told.slice(-3)).toEqual([100, 200, 240]);
  });

  it('a tail of a quiet log reports its position as soon as it has caught up', async () => {
    const told: number[] = [];
    const begin = beginAt(START - 20 * HOUR);
    await follow([], {}, { begin, onEvent: dieAtPresent, onPosition: ({ readTo }) => void told.push(readTo) });
    expect(told.at(-1)).toBeGreaterThan(START - 150 * SECOND);
  });

  it('R30: a tail continues after an outage, and reports once that it was disconnected and once that it caught up', async () => {
    const outages = [{ from: START + 60 * SECOND, to: START + 400 * SECOND }];
    const seen = await follow([happening(200 * SECOND, 'meanwhile'), happening(500 * SECOND, 'after')], { outages });
    expect(kinds(seen)).toEqual(['disconnected', 'caught up']);
    expect(seen.events).toContainEqual({ kind: 'caught up', afterMs: 344_860, entries: 1 });
    expect(seen.words).toEqual(['meanwhile', 'after']);
  });

  it.each([
    ['of the past', -3600 * SECOND],
    ['of the present', 30 * SECOND],
  ])('a tail gives up on a second %s with more pages than a cursor lives for', async (_, at) => {
    const crowd = Array.from({ length: 300 }, (_entry, index) => happening(at, `entry ${index}`));
    const manner = { pageShare: 1, expiries: 1000 };
    const begin = beginAt(START - 7200 * SECOND);
    await expect(follow(crowd, manner, { begin }, 3600 * SECOND)).rejects.toMatchObject({
      code: 'truncated',
      message: expect.stringContaining('the cursor expired each time') as string,
    });
  });

  it('a tail continues when the overlap has more pages than a cursor lives for, and no single second has', async () => {
    const crowd = Array.from({ length: 100 }, (_, index) => happening(index * 500, `entry ${index}`));
    const { words } = await follow(crowd, { pageShare: 2, expiries: 1000 }, {}, 300 * SECOND);
    expect(words.toSorted()).toEqual(crowd.map((one) => one.words).toSorted());
  });

  it('R31: a tail reports the interval that retention may have removed, up to the oldest entry left', async () => {
    const begin = beginAt(START - 50 * HOUR);
    const lastHour = [happening(-30 * HOUR, 'gone'), happening(-HOUR, 'kept')];
    const seen = await follow(lastHour, {}, { begin }, 30 * SECOND);
    const gap = seen.events.find(({ kind }) => kind === 'gap');
    expect(gap).toMatchObject({ kind: 'gap', from: START - 50 * HOUR });
    expect((gap?.kind === 'gap' ? gap.to : 0) - (START - 24 * HOUR)).toBeLessThan(60 * SECOND);
    expect(seen.words).toEqual(['kept']);
    const whole = await follow(
      [happening(-30 * HOUR, 'kept')],
      { retentionMs: 99 * HOUR },
      { begin: beginAt(START - 30 * HOUR - SECOND) },
      30 * SECOND,
    );
    expect(whole.words).toEqual(['kept']);
    expect(whole.events.filter(({ kind }) => kind === 'gap')).toEqual([
      { kind: 'gap', from: START - 30 * HOUR - SECOND, to: START - 30 * HOUR },
    ]);
  });

  it('R31: a tail that goes on reports what retention removed during each of two outages', async () => {
    const retentionMs = 1200 * SECOND;
    const steady = Array.from({ length: 8400 }, (_, index) => happening(index * SECOND, `entry ${index}`));
    const outages = [1200, 5000].map((at) => ({ from: START + at * SECOND, to: START + (at + 1800) * SECOND }));
    // The oldest page comes first, so that its entries are older than the retention once the last one is read.
    const manner = { outages, retentionMs, order: 'oldest first' } as const;
    const seen = await follow(steady, manner, { retentionMs }, 9000 * SECOND);
    const lost = steady.filter(({ words }) => !seen.words.includes(words));
    expect(lost.length).toBeGreaterThan(1000);
    const gaps = seen.events.flatMap((event) => (event.kind === 'gap' ? [event] : []));
    expect(lost.filter(({ at }) => !gaps.some(({ from, to }) => at >= from && at < to))).toEqual([]);
    expect(gaps).toHaveLength(2);
  });

  it('a tail that ends at the present leaves nothing of the overlap to a later poll', async () => {
    // Equal entries at every page boundary, in more seconds than one poll reads again.
    const twins = Array.from({ length: 3000 }, (_, index) =>
      happening(-55 * SECOND + Math.floor(index / 60) * SECOND, 'twin'),
    );
    const begin = beginAt(START - 60 * SECOND);
    const { words } = await follow(twins, {}, { begin, untilPresent: true });
    expect(words).toHaveLength(3000);
  });

  it('a tail until the present ends there, and also ends with an outage', async () => {
    const past = Array.from({ length: 500 }, (_, index) => happening(-10 * HOUR + index * 60 * SECOND, `${index}`));
    const begin = beginAt(START - 11 * HOUR);
    const { words, service } = await follow(past, {}, { begin, untilPresent: true });
    expect(words).toEqual(past.map((one) => one.words));
    expect(service.now() - START).toBeLessThan(120 * SECOND);
    const empty = await follow([], {}, { begin: beginAt(START - SECOND), untilPresent: true });
    expect(empty.service.requests).toBe(1);
    const outages = [{ from: START, to: START + HOUR }];
    await expect(follow(past, { outages }, { begin, untilPresent: true })).rejects.toThrow('no answer');
  });

  it('a tail sends at most 33 requests a minute on a quiet log, even when the overlap has many pages', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => happening(index * 10, `one ${index}`));
    const { service } = await follow(many, {}, {}, 120 * SECOND);
    const before = service.requests;
    const idle = await follow(many, {}, {}, 3600 * SECOND + 120 * SECOND);
    expect((idle.service.requests - before) / 60).toBeLessThan(33);
    const quiet = await follow([], {}, {}, 3600 * SECOND);
    expect(quiet.service.requests / 60).toBeLessThan(5);
  });

  it.each([
    { perSecond: 5, overlapMs: 120 * SECOND, mostPerMinute: 110 },
    { perSecond: 50, overlapMs: 120 * SECOND, mostPerMinute: 130 },
    { perSecond: 50, overlapMs: 20 * SECOND, mostPerMinute: 130 },
  ])(
    'R28: a tail follows $perSecond entries a second, with the latest arrivals allowed, within its share of the rate limit',
    async ({ perSecond, overlapMs, mostPerMinute }) => {
      const lengthMs = 300 * SECOND;
      const busy = Array.from({ length: (lengthMs / SECOND) * perSecond }, (_, index) =>
        lateOne(index, index * (SECOND / perSecond), overlapMs),
      );
      const options = { overlapMs };
      const { words, service } = await follow(busy, {}, options, lengthMs + 3 * overlapMs);
      const expected = busy.map((one) => one.words).toSorted();
      expect(words.toSorted()).toEqual(expected);
      expect((service.requests / lengthMs) * 60 * SECOND).toBeLessThan(mostPerMinute);
    },
  );

  it.each([
    { order: 'newest first', cursor: 'place' },
    { order: 'oldest first', cursor: 'entry' },
    { order: 'any', cursor: 'place' },
  ] as const)(
    'R28: a tail keeps reading a log twice that is barely too busy for it, $order, cursor by $cursor',
    async (manner) => {
      const overlapMs = 30 * SECOND;
      // Alternating minutes of 40 and 52 entries a second, of the 55 that can be read twice.
      const busy = Array.from({ length: 16_560 }, (_, index) => {
        const [round, rest] = [Math.floor(index / 5_520), index % 5_520];
        const at = round * 120 * SECOND + (rest < 2_400 ? rest * 25 : 60 * SECOND + ((rest - 2_400) * SECOND) / 52);
        return lateOne(index, at, overlapMs);
      });
      const options = { overlapMs, mostPerSecond: 55 };
      const seen = await follow(busy, manner, options, 1200 * SECOND);
      expect(seen.words.toSorted()).toEqual(busy.map(({ words }) => words).toSorted());
      expect(kinds(seen).filter((kind) => kind === 'delayed')).toEqual([]);
    },
  );

  it('a tail polls again soon when a poll of the whole overlap finds fewer new entries than it has pages', async () => {
    const steady = Array.from({ length: 18_000 }, (_, index) => happening(index * 33, `one ${index}`));
    const service = new ModelService(new ModelClock(START), steady, CALM, () => 0.1);
    const tail = new Tail(service, { begin: beginAt(START), overlapMs: 120 * SECOND, retentionMs: HOUR });
    let latest = 0;
    for await (const batch of tail.batches()) {
      latest = Math.max(latest, ...batch.map(({ created_at: at }) => service.now() - Date.parse(at)));
      if (service.now() > START + 590 * SECOND) break;
    }
    expect(latest).toBeLessThan(20 * SECOND);
  });

  it('R28: a tail keeps requests for the next poll when it settles 150 entries a second under the rate limit', async () => {
    let state = 3;
    const chance = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    let at = 0;
    const busy = Array.from({ length: 45_000 }, (_, index) =>
      happening((at -= (Math.log(1 - chance()) * SECOND) / 150), `one ${index}`),
    );
    const service = limited(new ModelService(new ModelClock(START), busy, CALM, () => 0.1));
    const tail = new Tail(service, { begin: beginAt(START), overlapMs: 60 * SECOND, retentionMs: HOUR });
    const words: string[] = [];
    let latest = 0;
    for await (const batch of tail.batches()) {
      const now = service.now();
      if (now > START + 280 * SECOND) break;
      words.push(...batch.map(({ message }) => message ?? ''));
      if (now < START + 90 * SECOND) continue;
      for (const { created_at: at } of batch) latest = Math.max(latest, now - Date.parse(at));
    }
    expect(words.toSorted()).toEqual(
      busy
        .slice(0, words.length)
        .map((one) => one.words)
        .toSorted(),
    );
    expect(latest).toBeLessThan(10 * SECOND);
  });

  describe('of a log that is too busy to be read twice', () => {
    const overlapMs = 30 * SECOND;
    // 20 entries a second for ten minutes, then one in five seconds. One in three is late, and one in seven has a twin.
    const busy = Array.from({ length: 12_000 }, (_, index) => lateOne(index, index * 50, overlapMs));
    const quiet = Array.from({ length: 60 }, (_, index) => lateOne(index, (600 + index * 5) * SECOND, overlapMs));
    const all = [...busy, ...quiet];
    const options = { overlapMs, mostPerSecond: 5 };

    it('R28: a tail reads a very busy log once, after the overlap, until it is quiet again, and reports both changes', async () => {
      const seen = await follow(all, {}, options, 1200 * SECOND);
      expect(seen.words.toSorted()).toEqual(all.map((one) => one.words).toSorted());
      const delays = seen.events.flatMap((event) => (event.kind === 'delayed' ? [event.isDelayed] : []));
      expect(delays).toEqual([true, false]);
    });

    it('R28: a tail of a very busy log returns each entry at most 15 s after the overlap, with one request for each hundred', async () => {
      const service = new ModelService(new ModelClock(START), busy, CALM, () => 0.1);
      const tail = new Tail(service, { ...options, begin: beginAt(START), retentionMs: HOUR });
      let [latest, requests, entries] = [0, 0, 0];
      for await (const batch of tail.batches()) {
        const now = service.now();
        if (now > START + 590 * SECOND) break;
        if (now < START + 120 * SECOND) [requests, entries] = [service.requests, 0];
        else for (const { created_at } of batch) latest = Math.max(latest, now - Date.parse(created_at));
        entries += batch.length;
      }
      expect(latest).toBeLessThanOrEqual(overlapMs + 15 * SECOND);
      // Ranges of five seconds have slightly more than one page here.
      expect((service.requests - requests) / (entries / 100)).toBeLessThan(2.2);
    });

    it('R29: a tail resumes from a checkpoint of either way of reading, and keeps that way', async () => {
      const service = new ModelService(new ModelClock(START), all, CALM, () => 0.5);
      const words: string[] = [];
      const starts = new Set<boolean>();
      let position = beginAt(START);
      for (let restart = 0; service.now() < START + 1200 * SECOND; restart += 1) {
        const end = service.now() + (40 + ((restart * 37) % 130)) * SECOND;
        const events: TailEvent[] = [];
        const onEvent = (event: TailEvent): void => {
          events.push(event);
          if (event.kind === 'polled' && service.now() >= end) throw new Killed();
        };
        const begin = parseCheckpoint('tail.json', checkpointText(subject, position), subject).position;
        const tail = new Tail(service, { ...options, begin, retentionMs: HOUR, onEvent });
        await tailInto(tail, words);
        position = tail.position();
        starts.add(events[0]?.kind === 'delayed');
      }
      expect(words.toSorted()).toEqual(all.map((one) => one.words).toSorted());
      expect(starts).toEqual(new Set([true, false]));
    });
  });

  it('R28: a tail finds late entries of a large burst after which the log is quiet', async () => {
    const burst = Array.from({ length: 6_000 }, (_, index) => happening(index * 3, `burst ${index}`));
    const late = { at: START + 5 * SECOND, seenAt: START + 60 * SECOND, words: 'late' };
    const { words } = await follow([...burst, late], {}, {}, 600 * SECOND);
    expect(words).toHaveLength(6_001);
    expect(words).toContain('late');
  });

  it('a tail keeps no more than the entries of the overlap', async () => {
    const steady = Array.from({ length: 5000 }, (_, index) => happening(index * 100, `one ${index}`));
    let largest = 0;
    const onPosition: TailOptions['onPosition'] = ({ passed }) => {
      largest = Math.max(largest, passed.length);
    };
    const { words } = await follow(steady, {}, { onPosition });
    expect(words).toHaveLength(5000);
    expect(largest).toBeGreaterThan(500);
    expect(largest).toBeLessThan(1500);
  });

  it('a tail is idle although each of its reads is logged, and not while others do something', async () => {
    const service = new ModelService(new ModelClock(START), [], CALM, () => 0.5);
    const left: { at: number; log: Log }[] = [];
    const source: LogSource = {
      clock: service.clock,
      signal: service.signal,
      now: () => service.now(),
      async *pages(window) {
        const at = service.now();
        const { created_at } = logOf({ at, seenAt: at, words: '' });
        const log = { operation: 'read', entity_type: 'log', message: 'Logs read', created_at };
        const items = left.filter((one) => one.at >= window.from && one.at < window.to);
        left.push({ at, log });
        if (at < START + 300 * SECOND) left.push({ at, log: { ...log, message: `card read at ${at}` } });
        service.clock.time += 100;
        yield { items: items.map((one) => one.log), next: undefined };
      },
    };
    const idleMs = 60 * SECOND;
    const tail = new Tail(source, { begin: beginAt(START), overlapMs: 60 * SECOND, retentionMs: HOUR, idleMs });
    let count = 0;
    for await (const batch of tail.batches()) count += batch.length;
    expect(service.now() - START).toBeGreaterThan(300 * SECOND);
    expect(service.now() - START).toBeLessThan(420 * SECOND);
    expect(count).toBeGreaterThan(40);
  });

  it('the idle time of a tail begins when it has caught up, however long that takes and however few entries match', async () => {
    const past = Array.from({ length: 120 }, (_, index) => happening((index - 123) * 600 * SECOND, 'no'));
    const service = new ModelService(
      new ModelClock(START),
      [...past, happening(-300 * SECOND, 'yes')],
      CALM,
      () => 0.5,
    );
    const slow: LogSource = {
      clock: service.clock,
      signal: service.signal,
      now: () => service.now(),
      async *pages(window, size) {
        service.clock.time += SECOND;
        yield* service.pages(window, size);
      },
    };
    const words: string[] = [];
    const begin = beginAt(START - 20 * HOUR);
    const options = { overlapMs: 60 * SECOND, retentionMs: 24 * HOUR, idleMs: 5 * SECOND };
    await tailInto(new Tail(slow, { begin, keep: isYes, ...options }), words);
    expect(words).toEqual(['yes']);
  });
});

describe('a checkpoint', () => {
  it.each(['', '{}', '[]', 'x', '{"version":1}', '{"version":1,"settled":"2026-01-05T12:00:00Z"}', '{"version":2}'])(
    'a checkpoint with the content %j is refused, not treated as a new one',
    (text) => {
      expect(() => parseCheckpoint('tail.json', text, subject)).toThrow(
        expect.objectContaining({ code: 'config', message: expect.stringContaining('tail.json') }),
      );
    },
  );
});
