import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { beginArchive, findArchive } from '../../../src/logs/archive/manifest.ts';
import { ArchiveSync } from '../../../src/logs/archive/sync.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import { Chance } from '../../support/chance.ts';
import { CALM, type Happening, Killed, lostAndDoubled, type Manner, ModelClock, ModelService } from '../model.ts';
import { type Archived, readArchive } from './archived.ts';
import { type Death, MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HISTORIES = process.env['SOAK'] === '1' ? 2_000 : 40;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
/** Two minutes before midnight, so that every history has two days. */
const START = Date.UTC(2026, 0, 5, 23, 58);
const LENGTH_MS = 240 * SECOND;
/** The time from which the archive contains entries. */
const SINCE = START - 900 * SECOND;
const TENANT = 't-1';

let work: string;

beforeAll(() => {
  work = temporaryDirectory();
});

interface History {
  readonly happenings: readonly Happening[];
  readonly manner: Manner;
  readonly overlapMs: number;
  /** How far the clock of the machine is behind the service's. */
  readonly behindMs: number;
  readonly seed: number;
}

/** A run of the archive: its delay after the previous one, and the moment of its death. */
interface Start {
  readonly pauseMs: number;
  readonly request: number | undefined;
  readonly change: Death | undefined;
}

const history: fc.Arbitrary<History> = fc
  .constantFrom(10 * SECOND, 60 * SECOND)
  .chain((overlapMs) =>
    fc.record({
      overlapMs: fc.constant(overlapMs),
      behindMs: fc.constant(0),
      seed: fc.integer(),
      happenings: fc.array(group(overlapMs), { maxLength: 15 }).map((groups) => groups.flat()),
      manner: fc.record({
        order: fc.constantFrom('newest first', 'oldest first', 'as seen', 'any'),
        cursor: fc.constantFrom('place', 'entry'),
        repeatsCursor: fc.boolean(),
        pageShare: fc.constantFrom(10, 30),
        failures: fc.constantFrom(0, 30),
        expiries: fc.constantFrom(0, 30),
        retentionMs: fc.constant(24 * HOUR),
        outages: fc.constant([]),
      }),
    }),
  );

function group(overlapMs: number): fc.Arbitrary<Happening[]> {
  const late = fc.oneof(fc.constant(0), fc.nat(overlapMs));
  const member = fc.record({ offset: fc.nat(10 * SECOND), late, kind: fc.nat(2) });
  return fc
    .tuple(fc.integer({ min: -900 * SECOND, max: LENGTH_MS }), fc.array(member, { minLength: 1, maxLength: 30 }))
    .map(([at, members]) =>
      members.map(({ offset, late: lateness, kind }) => {
        const created = START + at + offset;
        const second = Math.floor(created / SECOND) * SECOND;
        return { at: created, seenAt: Math.max(created, second + lateness), words: `did ${kind}` };
      }),
    );
}

const change = fc.record({ change: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before', 'after') });

const starts: fc.Arbitrary<Start[]> = fc.array(
  fc.record({
    pauseMs: fc.nat(120 * SECOND),
    request: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    change: fc.option(change, { nil: undefined }),
  }),
  { maxLength: 8 },
);

const RETENTION_MS = 20 * 60 * SECOND;

/** Entries of five hours on a service that keeps them for twenty minutes. The log may be quiet for longer. */
const longHistory: fc.Arbitrary<History> = fc.record({
  overlapMs: fc.constant(10 * SECOND),
  behindMs: fc.constantFrom(0, 72 * HOUR),
  seed: fc.integer(),
  happenings: fc.array(
    fc.nat(5 * HOUR).map((at) => ({ at: START + at, seenAt: START + at, words: 'did' })),
    { maxLength: 300 },
  ),
  manner: fc.constantFrom<Manner>(
    { ...CALM, pageShare: 10, retentionMs: RETENTION_MS },
    { ...CALM, pageShare: 10, retentionMs: RETENTION_MS, logsReads: true },
  ),
});

const longStarts: fc.Arbitrary<Start[]> = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.nat(60 * SECOND), fc.nat(2 * RETENTION_MS)),
    request: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    change: fc.option(change, { nil: undefined }),
  }),
  { maxLength: 8 },
);

class World {
  readonly clock = new ModelClock(START);
  readonly store = new MemoryStore(work);
  readonly service: ModelService;
  readonly past: History;
  readonly gapsTold: unknown[] = [];

  constructor(past: History) {
    this.past = past;
    const chance = new Chance(past.seed);
    this.service = new ModelService(this.clock, past.happenings, past.manner, () => chance.next());
  }

  /** Runs the archive once. The run may die. */
  async start({ pauseMs, request, change: death }: Start): Promise<void> {
    this.clock.time += pauseMs;
    this.store.changes = 0;
    this.store.death = death;
    this.service.killAt = request === undefined ? Infinity : this.service.requests + request;
    try {
      await this.store.lock(() => this.#run());
    } catch (error) {
      // A failing service also ends a run, and the next run continues.
      if (!(error instanceof Killed) && !isSvcError(error, 'server', 'truncated')) throw error;
    }
  }

  /** Runs repeatedly until one run completes. */
  async finish(end = START + LENGTH_MS): Promise<void> {
    this.service.killAt = Infinity;
    this.store.death = undefined;
    this.clock.time = Math.max(this.clock.time, end + 200 * SECOND);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.store.lock(() => this.#run());
      } catch (error) {
        if (attempt > 50 || !isSvcError(error, 'server', 'truncated')) throw error;
      }
    }
  }

  async #run(): Promise<void> {
    const now = this.service.now();
    const position = beginAt(SINCE);
    const subject = { service: 'https://model.invalid', tenantId: TENANT };
    if (!(await findArchive(this.store)))
      await beginArchive(this.store, subject, { position, since: position.readTo, now });
    const found = await findArchive(this.store);
    if (!found) throw new Error('no archive was begun');
    const writer = await ArchiveWriter.open(this.store, found.last, {
      tenantId: TENANT,
      limits: { entries: 40, characters: 1_000_000 },
      now: () => this.service.now(),
    });
    await new ArchiveSync(writer, this.#seen(), {
      overlapMs: this.past.overlapMs,
      retentionMs: this.past.manner.retentionMs,
      everyMs: 300 * SECOND,
      follow: false,
      beginsWithAll: false,
      reopen: async () => writer,
      onEvent: (event) => void (event.kind === 'gap' && this.gapsTold.push(event)),
    }).run();
  }

  /** The service as a machine sees it whose clock is behind. */
  #seen(): LogSource {
    const { service, clock: real, past } = this;
    const clock = { now: () => real.now() - past.behindMs, sleep: real.sleep.bind(real) };
    return { clock, signal: service.signal, now: () => service.now(), pages: service.pages.bind(service) };
  }
}

/** Returns the gaps that contain time which an earlier record says was read, but for the overlap. */
function gapsInWhatWasRead({ links }: Archived, overlapMs: number): unknown[] {
  let readTo = SINCE;
  const found: unknown[] = [];
  for (const { record } of links) {
    if (record.kind === 'gap' && Date.parse(record.from) < readTo - overlapMs) found.push(record);
    if (record.kind === 'segments') readTo = Date.parse(record.read_to);
  }
  return found;
}

describe('an archive of a service that does all that a service may do', () => {
  it('R33: an archive contains every entry once, whenever its runs died', async () => {
    await fc.assert(
      fc.asyncProperty(history, starts, async (past, plan) => {
        const world = new World(past);
        for (const start of plan) await world.start(start);
        await world.finish();
        const { logs, gaps } = await readArchive(world.store);
        expect(lostAndDoubled(past.happenings, logs, SINCE)).toEqual({ lost: [], doubled: [] });
        expect(gaps).toEqual([]);
      }),
      { numRuns: HISTORIES },
    );
  });

  it('R31: an archive records once every time range from which retention removed entries', async () => {
    await fc.assert(
      fc.asyncProperty(longHistory, longStarts, async (past, plan) => {
        const world = new World(past);
        for (const start of plan) await world.start(start);
        await world.finish(START + 5 * HOUR);
        const archived = await readArchive(world.store);
        const { logs, gaps } = archived;
        expect(gapsInWhatWasRead(archived, past.overlapMs)).toEqual([]);
        const { lost, doubled } = lostAndDoubled(world.service.happenings, logs, SINCE);
        expect(doubled).toEqual([]);
        const readTo = Date.parse(archived.links.at(-1)?.record.position.read_to ?? '');
        // Where only Date headers say that the machine's clock is behind, the archive may end before what is lost.
        expect(past.behindMs > 0 || readTo > world.clock.now() - 60 * SECOND).toBe(true);
        const times = lost.map((name) => Date.parse(name.split(' ')[0] ?? '')).filter((at) => at < readTo);
        expect(times.filter((at) => !gaps.some(({ from, to }) => at >= from && at < to))).toEqual([]);
        // Two gaps may share a second when one begins where the other ends.
        for (const [index, { from }] of gaps.slice(1).entries())
          expect(from).toBeGreaterThanOrEqual((gaps[index]?.to ?? 0) - SECOND);
        for (const { from, to } of gaps) expect(to).toBeGreaterThan(from);
      }),
      { numRuns: HISTORIES },
    );
  });

  it('R33: an archive contains every entry once after a death before and after each single change of the store', async () => {
    const happenings = Array.from({ length: 300 }, (_, index) => {
      const at = START + ((index * 37) % 240) * SECOND - 200 * SECOND;
      return { at, seenAt: at + (index % 5 === 0 ? 50 * SECOND : 0), words: `did ${index % 7}` };
    });
    const past: History = { happenings, manner: CALM, overlapMs: 60 * SECOND, behindMs: 0, seed: 1 };
    const at = [30, 90, 300].map((seconds) => ({ pauseMs: seconds * SECOND, request: undefined }));
    let deaths = 0;
    for (let number = 1, died = true; died; number += 1) {
      died = false;
      for (const when of ['before', 'after'] as const) {
        for (const dying of at.keys()) {
          const world = new World(past);
          for (const [index, start] of at.entries()) {
            await world.start({ ...start, change: index === dying ? { change: number, when } : undefined });
            died ||= index === dying && world.store.changes >= number;
          }
          await world.finish();
          const { logs } = await readArchive(world.store);
          expect(lostAndDoubled(happenings, logs, SINCE), `${when} change ${number}`).toEqual({
            lost: [],
            doubled: [],
          });
          deaths += 1;
        }
      }
    }
    expect(deaths).toBeGreaterThan(40);
  });
});
