import fs from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { beginArchive, findArchive } from '../../../src/logs/archive/manifest.ts';
import { ArchiveSync } from '../../../src/logs/archive/sync.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import { Chance } from '../../support/chance.ts';
import { CALM, lostAndDoubled, ModelClock, ModelService } from '../model.ts';
import { readArchive } from './archived.ts';
import { MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HISTORIES = process.env['SOAK'] === '1' ? 1_000 : 25;
const SECOND = 1000;
const START = Date.UTC(2026, 0, 5, 23, 58);
const LENGTH_MS = 1_200 * SECOND;
const SINCE = START - 300 * SECOND;
const TENANT = 't-1';
const OVERLAP_MS = 60 * SECOND;

let work: string;

beforeAll(() => {
  work = temporaryDirectory();
});

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that wakes sleepers in order, since a commit and a poll can be due at different times. */
class OrderedClock extends ModelClock {
  /** Called after each pause. */
  onPause: () => void = () => undefined;
  readonly #sleepers = new Set<Sleeper>();

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const woken = new AbortController();
    await new Promise<void>((wake, reject) => {
      const sleeper = { due: this.time + ms, wake };
      this.#sleepers.add(sleeper);
      const stop = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', stop, { once: true, signal: woken.signal });
      setImmediate(() => this.#wakeNext());
    }).finally(() => woken.abort());
  }

  #wakeNext(): void {
    const [first] = [...this.#sleepers].toSorted((one, other) => one.due - other.due);
    if (first === undefined) return;
    this.#sleepers.delete(first);
    this.time = Math.max(this.time, first.due);
    first.wake();
    this.onPause();
  }
}

/** A store whose reads and writes fail by chance, the writes also after they had their effect. */
class FailingStore extends MemoryStore {
  /** Returns whether the next operation fails. */
  fails: () => boolean = () => false;
  failures = 0;

  override async read(name: string): Promise<Uint8Array | undefined> {
    this.#mayFail();
    return super.read(name);
  }

  override create(...given: Parameters<MemoryStore['create']>): Promise<'created' | 'exists'> {
    return this.#change(() => super.create(...given));
  }

  override put(...given: Parameters<MemoryStore['put']>): Promise<void> {
    return this.#change(() => super.put(...given));
  }

  override remove(...given: Parameters<MemoryStore['remove']>): Promise<void> {
    return this.#change(() => super.remove(...given));
  }

  async #change<T>(change: () => Promise<T>): Promise<T> {
    this.#mayFail();
    const result = await change();
    this.#mayFail();
    return result;
  }

  #mayFail(): void {
    if (!this.fails()) return;
    this.failures += 1;
    throw new SvcError('server', 'the store failed', { status: 503 });
  }
}

it('R30: failures of the store never end an archive that follows, which then contains every entry once', async () => {
  const happening = fc.record({ offset: fc.integer({ min: -300, max: 1_200 }), late: fc.nat(50), kind: fc.nat(2) });
  const history = fc.record({
    seed: fc.integer(),
    happenings: fc.array(happening, { maxLength: 200 }).map((all) =>
      all.map(({ offset, late, kind }) => {
        const at = START + offset * SECOND;
        return { at, seenAt: at + late * SECOND, words: `did ${kind}` };
      }),
    ),
    percent: fc.constantFrom(1, 5, 20),
    outage: fc.record({ from: fc.nat(600), seconds: fc.nat(500) }),
    everyMs: fc.constantFrom(5 * SECOND, 120 * SECOND),
  });
  let failures = 0;
  await fc.assert(
    fc.asyncProperty(history, async ({ seed, happenings, percent, outage, everyMs }) => {
      const clock = new OrderedClock(START);
      const chance = new Chance(seed);
      const service = new ModelService(clock, happenings, CALM, () => chance.next());
      const store = new FailingStore(work);
      const events = await follow(store, service, everyMs, () => {
        const at = (clock.time - START) / SECOND;
        // The last five minutes are enough for the longest pause and the first commit after it.
        return at < 900 && (chance.next() * 100 < percent || (at >= outage.from && at < outage.from + outage.seconds));
      });
      failures += store.failures;
      const { logs, gaps } = await readArchive(store);
      const seen = happenings.filter(({ seenAt }) => seenAt < START + LENGTH_MS - OVERLAP_MS);
      expect(lostAndDoubled(seen, logs, SINCE).lost).toEqual([]);
      expect(lostAndDoubled(happenings, logs, SINCE).doubled).toEqual([]);
      expect(gaps).toEqual([]);
      expect(fs.readdirSync(work)).toEqual([]);
      // A slow read is also caught up with.
      expect(events.join(', ')).not.toContain('disconnected, disconnected');
      expect(events.at(-1)).not.toBe('disconnected');
    }),
    { numRuns: HISTORIES },
  );
  expect(failures).toBeGreaterThan(HISTORIES);
});

/** Archives until the end of the time. Returns the beginnings and ends of outages. */
async function follow(store: FailingStore, service: ModelService, everyMs: number, fails: () => boolean) {
  const clock = service.clock as OrderedClock;
  const end = new SvcError('terminated', 'ended');
  const ended = new AbortController();
  clock.onPause = () => void (clock.time >= START + LENGTH_MS && ended.abort(end));
  const position = beginAt(SINCE);
  const subject = { service: 'https://model.invalid', tenantId: TENANT };
  await beginArchive(store, subject, { position, since: SINCE, now: START });
  const open = async (): Promise<ArchiveWriter> => {
    for (const name of fs.readdirSync(work)) fs.rmSync(path.join(work, name));
    const found = await findArchive(store);
    if (found === undefined) throw new Error('the archive is gone');
    const limits = { entries: 40, characters: 1_000_000 };
    return ArchiveWriter.open(store, found.last, { tenantId: TENANT, limits, now: () => service.now() });
  };
  const source: LogSource = {
    clock,
    signal: ended.signal,
    now: () => service.now(),
    pages: (range, pageSize) => service.pages(range, pageSize),
  };
  const events: string[] = [];
  const sync = new ArchiveSync(await open(), source, {
    overlapMs: OVERLAP_MS,
    retentionMs: 24 * 3600 * SECOND,
    everyMs,
    follow: true,
    beginsWithAll: false,
    reopen: open,
    onEvent: ({ kind }) => void (['disconnected', 'caught up'].includes(kind) && events.push(kind)),
    onCommit: async () => undefined,
  });
  store.fails = fails;
  await expect(sync.run()).rejects.toBe(end);
  return events;
}
