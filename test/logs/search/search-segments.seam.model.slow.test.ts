import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { beginArchive, findArchive, readManifest } from '../../../src/logs/archive/manifest.ts';
import { liveEntries, searchSegments } from '../../../src/logs/search/search-segments.ts';
import { readPosition } from '../../../src/logs/archive/side-files.ts';
import type { Store } from '../../../src/client/store/store.ts';
import { ArchiveSync } from '../../../src/logs/archive/sync.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import type { Log } from '../../../src/schema/log.ts';
import { Chance } from '../../support/chance.ts';
import { type Happening, logOf, type Manner, ModelClock, ModelService, nameOf } from '../model.ts';
import { openStore } from '../archive/build.ts';

const START = Date.UTC(2026, 0, 5, 23, 55);
const SECOND = 1000;
const OVERLAP = 30 * SECOND;
const LENGTH = 600 * SECOND;
const HISTORIES = process.env['SOAK'] === '1' ? 1_000 : 15;
const TIMES = { overlapMs: OVERLAP, retentionMs: 86_400 * SECOND };

/** Entries in one second or spread, equal or not, each with a random delay. */
const group: fc.Arbitrary<Happening[]> = fc
  .record({
    at: fc.integer({ min: -300 * SECOND, max: LENGTH }),
    spread: fc.constantFrom(1, 1, 20),
    kinds: fc.constantFrom(1, 2, 100),
    members: fc.array(fc.record({ offset: fc.nat(999), late: fc.constantFrom(0, 0, 5, 25), kind: fc.nat(99) }), {
      minLength: 1,
      maxLength: 30,
    }),
  })
  .map(({ at, spread, kinds, members }) =>
    members.map(({ offset, late, kind }) => {
      const created = START + at + offset * spread;
      const second = Math.floor(created / SECOND) * SECOND;
      return { at: created, seenAt: Math.max(created, second + late * SECOND), words: `did ${kind % kinds}` };
    }),
  );

const manner: fc.Arbitrary<Manner> = fc.record({
  order: fc.constantFrom('newest first', 'oldest first', 'as seen', 'any'),
  cursor: fc.constantFrom('place', 'entry'),
  pageShare: fc.constantFrom(5, 30, 100),
  failures: fc.constant(0),
  expiries: fc.constantFrom(0, 30),
  retentionMs: fc.constant(86_400 * SECOND),
  outages: fc.constant([]),
});

it(
  'R28: a search with --live finds every entry once, whenever the archive was last updated',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(group, { maxLength: 15 }).map((groups) => groups.flat()),
        manner,
        fc.array(fc.nat(LENGTH), { minLength: 1, maxLength: 4 }),
        fc.integer(),
        async (happenings, how, runs, seed) => {
          const top = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-seam-'));
          try {
            const clock = new ModelClock(START);
            const chance = new Chance(seed);
            const service = new ModelService(clock, happenings, how, () => chance.next());
            const store = openStore(top);
            for (const after of runs.toSorted((one, other) => one - other)) {
              clock.time = Math.max(clock.time, START + after);
              await bringUp(store, service);
            }
            clock.time = Math.max(clock.time, START + LENGTH + 60 * SECOND);
            const found = await searchLive(store, service);
            const due = happenings.filter(({ at }) => Math.floor(at / SECOND) * SECOND >= START - 240 * SECOND);
            expect(found.map(nameOf).toSorted()).toEqual(due.map(logOf).map(nameOf).toSorted());
            const times = found.map(({ created_at }) => created_at);
            expect(times).toEqual(times.toSorted());
          } finally {
            fs.rmSync(top, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: HISTORIES },
    );
  },
  HISTORIES * 2_400,
);

async function bringUp(store: Store, service: ModelService): Promise<void> {
  await store.lock(async () => {
    const now = service.now();
    const subject = { service: 'model', tenantId: 'one' };
    const begin = { position: beginAt(START - 240 * SECOND), since: undefined, now };
    const found = await findArchive(store);
    const last = found?.last ?? (await beginArchive(store, subject, begin));
    const writer = await ArchiveWriter.open(store, last, { tenantId: 'one', now: () => service.now() });
    await new ArchiveSync(writer, service, {
      ...TIMES,
      everyMs: 20 * SECOND,
      follow: false,
      beginsWithAll: false,
      reopen: async () => writer,
    }).run();
  });
}

async function searchLive(store: Store, service: ModelService): Promise<Log[]> {
  const { segments, last } = await readManifest(store);
  const all = { matches: () => true, onGap: () => undefined, ...TIMES };
  const more = liveEntries(service, await readPosition(store, last), all);
  const found: Log[] = [];
  for await (const batch of searchSegments(store, { segments, more, ...all })) found.push(...batch);
  return found;
}
