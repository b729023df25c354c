import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginAt, type TailPosition } from '../../../src/logs/entry.ts';
import { checkpointText, parseCheckpoint } from '../../../src/logs/tail/checkpoint.ts';
import { Tail } from '../../../src/logs/tail/follow.ts';
import type { Log } from '../../../src/schema/log.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Chance } from '../../support/chance.ts';
import { type Happening, Killed, lostAndDoubled, type Manner, ModelClock, ModelService } from '../model.ts';

const HISTORIES = IS_SOAK ? 5_000 : 500;
const DYING_HISTORIES = IS_SOAK ? 5_000 : 125;
const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const SUBJECT = { service: 'https://model.invalid', entityType: undefined, entityId: undefined };

interface History {
  readonly happenings: readonly Happening[];
  readonly manner: Manner;
  readonly overlapMs: number;
  /** The entries per second above which the log is read only once, after the overlap. */
  readonly mostPerSecond: number | undefined;
  /** How long before the start the tail begins. */
  readonly backfillMs: number;
  readonly seed: number;
}

/** A moment at which the process dies: at the nth request after a start, or once a batch was written. */
interface Death {
  readonly how: 'request' | 'batch';
  readonly after: number;
}

/** The most pages of one second. Each request can fail or find its cursor expired, so a read of more would rarely succeed. */
const MAX_PAGES_A_SECOND = 20;
/** The same where lists end with a repeated cursor, because each of them is read again from its beginning. */
const MAX_PAGES_REPEATED = 6;
const LENGTH_MS = 240 * SECOND;
const MAX_BACKFILL_MS = 3 * 3600 * SECOND;

const overlapMs = fc.constantFrom(10 * SECOND, 30 * SECOND, 60 * SECOND);

const history: fc.Arbitrary<History> = overlapMs.chain((overlap) => anyHistory(overlap)).map(withReadableSeconds);

function anyHistory(overlap: number): fc.Arbitrary<History> {
  return fc.record({
    overlapMs: fc.constant(overlap),
    mostPerSecond: fc.constantFrom(undefined, 0.03, 0.1, 0.3, 1),
    backfillMs: fc.constantFrom(0, 60 * SECOND, 900 * SECOND, MAX_BACKFILL_MS),
    seed: fc.integer(),
    happenings: fc.array(group(overlap), { maxLength: 25 }).map((groups) => groups.flat()),
    manner: fc.record({
      order: fc.constantFrom('newest first', 'oldest first', 'as seen', 'any'),
      cursor: fc.constantFrom('place', 'entry'),
      repeatsCursor: fc.boolean(),
      pageShare: fc.constantFrom(1, 3, 10, 30),
      failures: fc.constant(50),
      expiries: fc.constantFrom(0, 30, 100),
      // The retention is long enough for the slowest reader, because other tests cover gaps.
      retentionMs: fc.constant(86_400 * SECOND),
      outages: fc.array(
        fc
          .tuple(fc.nat(LENGTH_MS), fc.nat(120 * SECOND))
          .map(([from, length]) => ({ from: START + from, to: START + from + length })),
        { maxLength: 1 },
      ),
    }),
  });
}

/** Limits a history to the entries that fit into the allowed pages of each second. */
function withReadableSeconds(past: History): History {
  const counts = new Map<number, number>();
  const { repeatsCursor, pageShare } = past.manner;
  const most = (repeatsCursor === true ? MAX_PAGES_REPEATED : MAX_PAGES_A_SECOND) * pageShare;
  const happenings = past.happenings.filter(({ at }) => {
    const second = Math.floor(at / SECOND);
    const count = (counts.get(second) ?? 0) + 1;
    counts.set(second, count);
    return count <= most;
  });
  return { ...past, happenings };
}

/** Entries of one stretch of time: single, in a burst, or equal to each other, each with a random delay. */
function group(overlap: number): fc.Arbitrary<Happening[]> {
  const late = fc.oneof(fc.constant(0), fc.nat(3 * SECOND), fc.nat(overlap));
  return fc
    .record({
      at: fc.oneof(fc.integer({ min: -900 * SECOND, max: LENGTH_MS }), fc.integer({ min: -MAX_BACKFILL_MS, max: 0 })),
      spread: fc.constantFrom(1, SECOND, 10 * SECOND),
      kinds: fc.constantFrom(1, 3, 1000),
      members: fc.array(fc.record({ offset: fc.nat(1000), late, kind: fc.nat(1000) }), { minLength: 1, maxLength: 40 }),
    })
    .map(({ at, spread, kinds, members }) =>
      members.map(({ offset, late: lateness, kind }) => {
        const created = START + at + Math.floor((offset * spread) / 1000);
        const second = Math.floor(created / SECOND) * SECOND;
        return { at: created, seenAt: Math.max(created, second + lateness), words: `did ${kind % kinds}` };
      }),
    );
}

const deaths: fc.Arbitrary<Death[]> = fc.array(
  fc.record({ how: fc.constantFrom('request', 'batch'), after: fc.integer({ min: 1, max: 30 }) }),
  { minLength: 1, maxLength: 6 },
);

/** The entries that the tail returned, and how many may be repetitions. */
interface Outcome {
  readonly written: Log[];
  readonly mayRepeat: number;
  /** How often the tail switched between reading once and reading twice. */
  readonly switches: number;
  readonly mostAtOnce: number;
}

async function live(
  { happenings, manner, overlapMs: overlap, mostPerSecond, backfillMs, seed }: History,
  plan: readonly Death[],
): Promise<Outcome> {
  const clock = new ModelClock(START);
  const chance = new Chance(seed);
  const service = new ModelService(clock, happenings, manner, () => chance.next());
  const written: Log[] = [];
  let checkpoint = checkpointText(SUBJECT, beginAt(START - backfillMs));
  let [mayRepeat, switches] = [0, 0];
  const end = START + LENGTH_MS + 800 * SECOND;
  for (const death of [...plan, undefined]) {
    service.killAt = death?.how === 'request' ? service.requests + death.after : Infinity;
    const tail = new Tail(service, {
      begin: parseCheckpoint('checkpoint', checkpoint, SUBJECT).position,
      overlapMs: overlap,
      mostPerSecond,
      retentionMs: manner.retentionMs,
      onPosition: (standing: TailPosition) => {
        checkpoint = checkpointText(SUBJECT, standing);
      },
      // The tail runs until the last late entry has arrived.
      onEvent: ({ kind }) => {
        if (kind === 'delayed') switches += 1;
        if (kind === 'polled' && clock.now() > end) throw new Killed();
      },
    });
    let batches = 0;
    try {
      for await (const batch of tail.batches()) {
        written.push(...batch);
        batches += 1;
        if (death?.how !== 'batch' || batches < death.after) continue;
        mayRepeat += batch.length;
        break;
      }
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
  return { written, mayRepeat, switches, mostAtOnce: service.mostAtOnce };
}

describe('a tail of a service that does all that a service may do', () => {
  it('R28: a tail loses and doubles nothing: late, twin and unordered entries, shifting pages, expired cursors, 5 % 503', async () => {
    let [sideBySide, switched] = [0, 0];
    await fc.assert(
      fc.asyncProperty(history, async (past) => {
        const { written, mostAtOnce, switches } = await live(past, []);
        expect(lostAndDoubled(past.happenings, written, START - past.backfillMs)).toEqual({ lost: [], doubled: [] });
        expect(mostAtOnce).toBeLessThanOrEqual(17);
        if (mostAtOnce >= 3) sideBySide += 1;
        if (switches >= 2) switched += 1;
      }),
      { numRuns: HISTORIES },
    );
    // The model must include windows that are read concurrently.
    expect(sideBySide).toBeGreaterThan(HISTORIES / 30);
    // The model must include a log that becomes too busy to be read twice, and quiet again.
    expect(switched).toBeGreaterThan(HISTORIES / 30);
  });

  it('R29: a tail that dies at any point loses nothing, and repeats at most what was on its way', async () => {
    await fc.assert(
      fc.asyncProperty(history, deaths, async (past, plan) => {
        const { written, mayRepeat } = await live(past, plan);
        const { lost, doubled } = lostAndDoubled(past.happenings, written, START - past.backfillMs);
        expect(lost).toEqual([]);
        expect(doubled.length).toBeLessThanOrEqual(mayRepeat);
      }),
      { numRuns: DYING_HISTORIES },
    );
  });
});
