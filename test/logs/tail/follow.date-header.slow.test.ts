import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/system.ts';
import { beginAt, type TailPosition, TailState } from '../../../src/logs/entry.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import { Tail, type TailEvent, type TailOptions } from '../../../src/logs/tail/follow.ts';
import { checkPosition, SteadySource } from '../../../src/logs/tail/steady-source.ts';
import { CALM, type Happening, Killed, ModelClock, ModelService, nameOf } from '../model.ts';

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const OVERLAP_MS = MINUTE;
/** The longest time from an entry that is as late as possible to its batch, on a busy log. */
const LATEST_MS = OVERLAP_MS + 35 * SECOND;
const FUTURE = expect.stringMatching(/^the service's clock shows .*, before the position in the log, /) as string;
/** How wrong a false header is. */
const WRONG = [
  ['in 2030', Date.UTC(2030, 0, 5) - START],
  ['in 1970', -START],
  ['an hour ahead', HOUR],
  ['an hour behind', -HOUR],
] as const;

/** Returns by how many milliseconds the `Date` header of a response at some time after START is wrong. */
type HeaderError = (age: number) => number;

/** This machine's clock, which may be set. The process dies when it waits beyond the end. */
class MachineClock implements Clock {
  readonly real: ModelClock;
  end = Infinity;
  #step = { at: Infinity, ms: 0 };
  #pause = { at: Infinity, ms: 0 };
  #correctedAt = Infinity;

  constructor(real: ModelClock) {
    this.real = real;
  }

  stepAt(at: number, ms: number): void {
    this.#step = { at, ms };
  }

  correctAt(at: number): void {
    this.#correctedAt = at;
  }

  /** Stands still for a time, as on a machine that is suspended. */
  standStill(at: number, ms: number): void {
    this.#pause = { at, ms };
  }

  now(): number {
    const { time } = this.real;
    return time + (time < this.#step.at || time >= this.#correctedAt ? 0 : this.#step.ms);
  }

  async sleep(ms: number): Promise<void> {
    if (this.real.time + ms > this.end) throw new Killed();
    this.real.time += ms;
    if (this.real.time < this.#pause.at) return;
    this.stepAt(this.real.time, -this.#pause.ms);
    this.real.time += this.#pause.ms;
    this.#pause = { at: Infinity, ms: 0 };
  }
}

/** A service whose responses have a wrong `Date` header at some times. Its time is learned from the last one. */
class FalseDates implements LogSource {
  readonly real = new ModelClock(START);
  readonly clock = new MachineClock(this.real);
  readonly signal = new AbortController().signal;
  readonly #service: ModelService;
  readonly #errorAt: HeaderError;
  #aheadMs = 0;

  constructor(happenings: readonly Happening[], errorAt: HeaderError) {
    this.#service = new ModelService(this.real, happenings, CALM, () => 0.1);
    this.#errorAt = errorAt;
  }

  now(): number {
    return this.clock.now() + this.#aheadMs;
  }

  async *pages(...request: Parameters<LogSource['pages']>): ReturnType<ModelService['pages']> {
    for await (const page of this.#service.pages(...request)) {
      const { time } = this.real;
      this.#aheadMs = time + this.#errorAt(time - START) - this.clock.now();
      yield page;
    }
  }
}

interface Followed {
  readonly names: string[];
  readonly events: TailEvent[];
  readonly position: TailPosition;
  /** The longest time from an entry to its batch. */
  readonly latestMs: number;
}

async function follow(
  source: FalseDates,
  options: Partial<TailOptions> = {},
  lengthMs = 12 * MINUTE,
): Promise<Followed> {
  const names: string[] = [];
  const events: TailEvent[] = [];
  const tail = new Tail(source, {
    begin: beginAt(START),
    overlapMs: OVERLAP_MS,
    retentionMs: 24 * HOUR,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  source.clock.end = source.real.time + lengthMs;
  let latestMs = 0;
  try {
    for await (const batch of tail.batches()) {
      names.push(...batch.map(nameOf));
      for (const { created_at: at } of batch) latestMs = Math.max(latestMs, source.real.time - Date.parse(at));
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
  return { names, events, position: tail.position(), latestMs };
}

/** Returns entries at regular times. One in five is nearly as late as an entry may be. */
function regular(count: number, everyMs: number): Happening[] {
  return Array.from({ length: count }, (_, index) => {
    const at = START + index * everyMs;
    return { at, seenAt: at + (index % 5 === 0 ? OVERLAP_MS * 0.75 : 0), words: `entry ${index}` };
  });
}

function namesOf(happenings: readonly Happening[]): string[] {
  return happenings.map(({ at, words }) => nameOf({ created_at: isoSecond(at), message: words })).toSorted();
}

function isoSecond(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, '');
}

describe('a tail of a service whose Date header is wrong', () => {
  const manners = [
    ['of a quiet log', 100, 5 * SECOND, undefined],
    ['of a busy log', 10_000, 50, undefined],
    ['that reads a very busy log once', 10_000, 50, 5],
  ] as const;
  const cases = manners.flatMap(([manner, ...log]) => WRONG.map(([when, ms]) => [manner, when, ms, ...log] as const));

  it.each(cases)(
    'R28: a tail %s loses and repeats nothing when the header of one response, and later of many, is %s',
    async (_, _when, errorMs, count, everyMs, mostPerSecond) => {
      const happenings = regular(count, everyMs);
      let wrong = 0;
      const source = new FalseDates(happenings, (age) => {
        if (age > 2 * MINUTE) wrong += 1;
        return wrong === 1 || (age > 4 * MINUTE && age < 6 * MINUTE) ? errorMs : 0;
      });
      const { names, latestMs } = await follow(source, { mostPerSecond });
      expect(names.toSorted()).toEqual(namesOf(happenings));
      // Entries wait for the right header only where the wrong one is before entries that were read.
      const waitMs = errorMs < 0 ? 2 * MINUTE + 30 * SECOND : 0;
      expect(latestMs).toBeLessThan(LATEST_MS + waitMs);
    },
  );

  it.each(cases.filter(([, , ms]) => Math.abs(ms) === HOUR))(
    "R25: a tail %s goes on at once when this machine's clock is set to what was %s",
    async (_, _when, stepMs, count, everyMs, mostPerSecond) => {
      const happenings = regular(count, everyMs);
      const source = new FalseDates(happenings, () => 0);
      source.clock.stepAt(START + 2 * MINUTE, stepMs);
      const { names, latestMs } = await follow(source, { mostPerSecond });
      expect(names.toSorted()).toEqual(namesOf(happenings));
      expect(latestMs).toBeLessThan(LATEST_MS);
    },
  );

  it('R28: a tail that resumes from a position of 2030 returns new entries at once', async () => {
    const happenings = regular(18_000, 50);
    const source = new FalseDates(happenings, rightAlways);
    const { position, names } = await follow(source);
    const next = await follow(source, { begin: { ...position, readTo: START + WRONG[0][1] } });
    expect(next.latestMs).toBeLessThan(LATEST_MS);
    expect(next.position.readTo).toBeLessThanOrEqual(source.real.time);
    expect([...names, ...next.names].toSorted()).toEqual(namesOf(happenings));
  });

  it('R31: a tail that resumes from a position of 2030 reports what retention has removed', async () => {
    const early = regular(10, SECOND);
    const late = early.map(({ at, words }) => ({ at: at + 30 * HOUR, seenAt: at + 30 * HOUR, words: `late ${words}` }));
    const source = new FalseDates([...early, ...late], rightAlways);
    const { position } = await follow(source);
    source.real.time = START + 31 * HOUR;
    const { events, names } = await follow(source, { begin: { ...position, readTo: START + WRONG[0][1] } });
    const gaps = events.flatMap((event) => (event.kind === 'gap' ? [event] : []));
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.from).toBeLessThanOrEqual(START + 10 * SECOND);
    expect(gaps[0]?.to).toBeGreaterThan(START + 6 * HOUR);
    expect(names).toEqual(namesOf(late));
  });

  it("a tail that begins in the service's future says so, and ends with an error if it has to reach the present", async () => {
    const begin = beginAt(START + HOUR);
    const { events, names } = await follow(new FalseDates(regular(10, SECOND), rightAlways), { begin });
    expect(names).toEqual([]);
    expect(events).toEqual([expect.objectContaining({ kind: 'disconnected', reason: FUTURE })]);
    const once = follow(new FalseDates(regular(10, SECOND), rightAlways), { begin, untilPresent: true });
    await expect(once).rejects.toMatchObject({ code: 'bad_response', message: FUTURE });
  });

  it.each([
    ['in 2030', WRONG[0][1], 10 * MINUTE],
    ['40 hours ahead', 40 * HOUR, 10 * MINUTE],
    ['a day and a minute ahead', 24 * HOUR + MINUTE, 10 * MINUTE],
    ['20 hours ahead', 20 * HOUR, 5 * HOUR],
  ])('R31: a Date header %s alone proves no gap, and settles nothing', async (_, errorMs, ageMs) => {
    const begin = beginAt(START - ageMs);
    const { events, position } = await follow(new FalseDates([], () => errorMs), { begin, untilPresent: true });
    expect(events.filter(({ kind }) => kind === 'gap')).toEqual([]);
    expect([position.settled, position.readTo]).toEqual([begin.settled, begin.readTo]);
  });

  it('R31: after a Date header 40 hours ahead on a quiet log, the next tail reads on where the last one began', async () => {
    const begin = beginAt(START - 10 * MINUTE);
    const before = await follow(new FalseDates([], () => 40 * HOUR), { begin, untilPresent: true });
    const happenings = regular(10, MINUTE);
    const source = new FalseDates(happenings, rightAlways);
    source.real.time = START + 20 * MINUTE;
    const { names } = await follow(source, { begin: before.position, untilPresent: true });
    expect(names.toSorted()).toEqual(namesOf(happenings));
  });

  it('R31: a gap of a quiet log that ends after the time of a machine 30 hours behind is reported once its clock is right', async () => {
    const begin = beginAt(START - 40 * HOUR);
    const source = new FalseDates([], rightAlways);
    source.clock.stepAt(0, -30 * HOUR);
    const before = await follow(source, { begin, untilPresent: true });
    expect([before.events.filter(({ kind }) => kind === 'gap'), before.position.readTo]).toEqual([[], begin.readTo]);
    const { events } = await follow(new FalseDates([], rightAlways), { begin: before.position, untilPresent: true });
    const gaps = events.flatMap((event) => (event.kind === 'gap' ? [event] : []));
    expect(gaps).toEqual([{ kind: 'gap', from: begin.readTo, to: expect.any(Number) }]);
    expect(gaps[0]?.to).toBeGreaterThanOrEqual(START - 24 * HOUR);
    expect(gaps[0]?.to).toBeLessThan(START - 24 * HOUR + MINUTE);
  });

  it.each([
    ['of a quiet log', 2, 30 * MINUTE, undefined, 47 * HOUR],
    ['of a busy log', 500, 10 * SECOND, undefined, WRONG[0][1]],
    ['that reads a very busy log once', 20_000, 50, 5, WRONG[0][1]],
  ])('R31: a tail %s reports no gap when only its first header is wrong', async (_, count, everyMs, most, errorMs) => {
    const happenings = regular(count, everyMs);
    let responses = 0;
    const source = new FalseDates(happenings, () => ((responses += 1) === 1 ? errorMs : 0));
    source.real.time = START + (most === undefined ? 90 * MINUTE : 0);
    const begin = beginAt(START - 10 * MINUTE);
    const { events, names, position } = await follow(source, { begin, mostPerSecond: most }, 20 * MINUTE);
    expect(names.toSorted()).toEqual(namesOf(happenings));
    expect(events.filter(({ kind }) => kind === 'gap')).toEqual([]);
    expect(position.readTo).toBeGreaterThan(source.real.time - 2 * MINUTE);
  });

  it.each([0, WRONG[0][1]])(
    'R31: a tail on a machine that slept for 30 hours reports what retention has removed, also if its first header was %i ms wrong',
    async (errorMs) => {
      const early = regular(100, 5 * SECOND);
      const late = early.map(({ at, words }) => ({
        at: at + 30 * HOUR,
        seenAt: at + 30 * HOUR,
        words: `late ${words}`,
      }));
      let responses = 0;
      const source = new FalseDates([...early, ...late], () => ((responses += 1) === 1 ? errorMs : 0));
      source.clock.standStill(START + 10 * MINUTE, 29.9 * HOUR);
      const { events, names } = await follow(source, { begin: beginAt(START - 5 * MINUTE) }, 30.3 * HOUR);
      expect(names.toSorted()).toEqual(namesOf([...early, ...late]));
      const gaps = events.flatMap((event) => (event.kind === 'gap' ? [event] : []));
      expect(gaps).toHaveLength(1);
      expect(gaps[0]?.from).toBeGreaterThan(START);
    },
  );

  it("R31: a tail on a machine that is days behind reports a gap with the first entry that proves the service's time", async () => {
    const begin = beginAt(START - 30 * HOUR);
    const source = new FalseDates(regular(1, 0), rightAlways);
    source.real.time = START - 10 * MINUTE;
    source.clock.stepAt(0, -72 * HOUR);
    const before = await follow(source, { begin }, 5 * MINUTE);
    expect([before.events.filter(({ kind }) => kind === 'gap'), before.position.readTo]).toEqual([[], begin.readTo]);
    const { events, names, position } = await follow(source, { begin: before.position });
    expect(names).toEqual(namesOf(regular(1, 0)));
    const gaps = events.flatMap((event) => (event.kind === 'gap' ? [event] : []));
    expect(gaps).toEqual([{ kind: 'gap', from: begin.readTo, to: expect.any(Number) }]);
    expect(gaps[0]?.to).toBeGreaterThanOrEqual(START - 24 * HOUR);
    expect(gaps[0]?.to).toBeLessThan(START - 24 * HOUR + 2 * MINUTE);
    expect(position.readTo).toBeGreaterThanOrEqual(START);
  });

  it('R31: a tail of a quiet log reports no gap when the header goes back by an hour', async () => {
    const old = START - 30 * HOUR;
    const begin = { settled: old, readTo: START, newest: old + OVERLAP_MS, passed: [] };
    const source = new FalseDates([], (age) => (age > 2 * MINUTE ? -HOUR : 0));
    const { events } = await follow(source, { begin });
    expect(events.filter(({ kind }) => kind !== 'polled')).toEqual([]);
  });

  it('R31: a tail of a quiet log reports no gap when it resumes from a position less than the overlap ahead', async () => {
    const old = START - 30 * HOUR;
    const begin = { settled: old, readTo: START + 45 * SECOND, newest: old + OVERLAP_MS, passed: [] };
    const { events } = await follow(new FalseDates([], rightAlways), { begin });
    expect(events.filter(({ kind }) => kind !== 'polled')).toEqual([]);
  });

  it('R28: a tail of a quiet log is at the present again once the clock of a machine that was 2 hours ahead is corrected', async () => {
    const source = new FalseDates([], rightAlways);
    source.clock.stepAt(START, 2 * HOUR);
    source.clock.correctAt(START + 2 * MINUTE);
    const begin = { settled: START - 30 * HOUR, readTo: START, newest: START - 29 * HOUR, passed: [] };
    const { position } = await follow(source, { begin }, 30 * MINUTE);
    expect(position.readTo).toBeGreaterThan(source.real.time - MINUTE);
  });

  it('R28: the time that a probe learns decides at once whether the position is in the future', async () => {
    let responses = 0;
    const source = new SteadySource(new FalseDates([], () => ((responses += 1) === 1 ? -HOUR : 0)));
    await source.probe({ from: START, to: START + SECOND });
    const state = new TailState(beginAt(START));
    await checkPosition(source, state, { overlapMs: OVERLAP_MS, sinceReadMs: 30 * SECOND });
    expect(state.readTo).toBe(START);
  });

  it('R33: a position that is taken back stays after the newest entry, before which an archive keeps late entries apart', async () => {
    const newest = START - 10 * SECOND;
    const state = new TailState({ settled: newest - OVERLAP_MS, readTo: START + HOUR, newest, passed: [] });
    const source = new SteadySource(new FalseDates([], rightAlways));
    await checkPosition(source, state, { overlapMs: OVERLAP_MS, sinceReadMs: 30 * SECOND });
    expect(state.readTo).toBe(newest + SECOND);
  });

  it('a tail of a log without entries goes on at once after one header of 1970', async () => {
    let responses = 0;
    const source = new FalseDates([], () => ((responses += 1) === 5 ? WRONG[1][1] : 0));
    const { events } = await follow(source);
    expect(responses).toBeGreaterThan(10);
    expect(events.filter(({ kind }) => kind !== 'polled')).toEqual([]);
  });
});

function rightAlways(): number {
  return 0;
}
