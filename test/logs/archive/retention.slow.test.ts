import fs from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/client/store/store.ts';
import { beginArchive, findArchive, readManifest } from '../../../src/logs/archive/manifest.ts';
import { keptFrom, Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import type { Log } from '../../../src/schema/log.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Killed } from '../model.ts';
import { buildArchive, filesIn, openStore, TENANT } from './build.ts';
import { type Death, MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const DAY = 86_400_000;
const START = Date.UTC(2025, 7, 20);
const END = Date.UTC(2025, 11, 3, 12);

function entry(at: number, more: Partial<Log> = {}): Log {
  return { tenant_id: TENANT, operation: 'read', created_at: new Date(at).toISOString(), ...more };
}

/** Entries of every second day, from August to December, with late, shared and timeless ones. */
const OLD = Array.from({ length: 53 }, (_, index) => entry(START + index * 2 * DAY));
const ODD = [entry(START + DAY, { tenant_id: 'other' }), { tenant_id: TENANT, created_at: 'lately' }];

async function verified(store: Store) {
  const verification = nothingVerified();
  const findings = [];
  for await (const batch of verifyArchive(store, {}, verification)) findings.push(...batch);
  return { findings, ...verification, coverage: verification.contents.coverage };
}

async function keep(store: Store, months: number): Promise<Retention> {
  const retention = new Retention(months, 'root@vault');
  await store.lock(async () => {
    const found = await findArchive(store);
    if (!found) throw new Error('there is no archive');
    const writer = await ArchiveWriter.open(store, found.last, { tenantId: TENANT, now: () => END });
    await retention.apply(writer, { service: END, machine: END });
  });
  return retention;
}

const built = new Map<string, Buffer>();

/** Returns a new copy of the same archive. It is built only once, because that takes longer than the tests. */
async function newMemoryArchive(): Promise<MemoryStore> {
  const work = temporaryDirectory();
  const store = new MemoryStore(work);
  for (const [file, bytes] of built) store.files.set(file, bytes);
  if (built.size === 0) await fill(store);
  for (const [file, bytes] of store.files) built.set(file, bytes);
  return store;
}

async function fill(store: MemoryStore): Promise<void> {
  const begin = { position: beginAt(START), since: START, now: START };
  const first = await beginArchive(store, { service: 'https://vault.example', tenantId: TENANT }, begin);
  const writer = await ArchiveWriter.open(store, first, { tenantId: TENANT, now: () => START });
  for (let at = 0; at < OLD.length; at += 13) {
    await writer.add([...OLD.slice(at, at + 13), ...(at === 0 ? ODD : [])]);
    const readTo = at + 13 < OLD.length ? START + (at + 13) * 2 * DAY : END;
    await writer.commit({ settled: START, readTo, newest: undefined, passed: [] });
  }
}

/** Returns the months of all entries that a search finds, in order. */
async function searched(store: Store): Promise<string[]> {
  const { segments } = await readManifest(store);
  return [...new Set(segments.map(({ first }) => first?.slice(0, 7) ?? 'unknown'))].toSorted();
}

describe('the retention of an archive', () => {
  it('retention keeps whole months before the one in which the archive ends', () => {
    expect(new Date(keptFrom(END, 1)).toISOString()).toBe('2025-11-01T00:00:00.000Z');
    expect(new Date(keptFrom(END, 13)).toISOString()).toBe('2024-11-01T00:00:00.000Z');
    expect(new Date(keptFrom(Date.UTC(2026, 2, 31, 23), 1)).toISOString()).toBe('2026-02-01T00:00:00.000Z');
  });

  it('R33: retention drops old months, records what, by whom and when, and the rest verifies', async () => {
    const { top, store } = await buildArchive(START, [
      { to: START + 60 * DAY, entries: [...OLD.slice(0, 30), ...ODD] },
      { to: END, entries: OLD.slice(30), late: [entry(START)] },
    ]);
    const { dropped } = await keep(store, 2);
    expect(dropped.months.map(({ month, entries }) => [month, entries])).toEqual([
      ['2025-08', 8],
      ['2025-09', 15],
    ]);
    const { findings, entries, segments, coverage } = await verified(store);
    expect(findings).toEqual([]);
    expect([entries, segments]).toEqual([OLD.length + ODD.length + 1 - 23, filesIn(top).filter(isSegment).length]);
    expect(coverage.covered()).toEqual([{ from: Date.UTC(2025, 9, 1), to: END }]);
    expect(coverage.gaps()).toEqual([]);
    expect(coverage.drops).toMatchObject([{ before: '2025-10-01T00:00:00.000Z', by: expect.stringMatching(/.@./) }]);
    expect(await searched(store)).toEqual(['2025-10', '2025-11', '2025-12', 'unknown']);
    expect(fs.existsSync(path.join(top, `tenant=${TENANT}/date=2025-08-20`))).toBe(false);
    // Repeating the retention or keeping more months drops nothing more.
    for (const months of [2, 9]) expect((await keep(store, months)).dropped.months).toEqual([]);
    expect((await verified(store)).coverage.drops).toHaveLength(1);
    expect((await keep(store, 1)).dropped.months.map(({ month }) => month)).toEqual(['2025-10']);
    expect(await verified(store)).toMatchObject({ findings: [], coverage: { drops: [{}, {}] } });
  });

  it('R33: a running verification accepts months that retention drops meanwhile', async () => {
    const { top, store } = await buildArchive(START, [{ to: END, entries: OLD }]);
    const verification = verifyArchive(openStore(top), {}, nothingVerified());
    const findings = [];
    let isDropped = false;
    for await (const batch of verification) {
      findings.push(...batch);
      if (!isDropped) await keep(store, 2);
      isDropped = true;
    }
    expect(findings).toEqual([]);
  });

  it('late entries of a dropped month stay until the next month is dropped', async () => {
    const { store } = await buildArchive(START, [{ to: END, entries: OLD }]);
    await keep(store, 2);
    await store.lock(async () => {
      const found = await findArchive(store);
      const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => END });
      await writer.add([entry(START)]);
      await writer.commit({ settled: START, readTo: END + DAY, newest: undefined, passed: [] });
    });
    expect(await searched(store)).toContain('2025-08');
    expect((await verified(store)).findings).toEqual([]);
    expect((await keep(store, 1)).dropped.months.map(({ month }) => month)).toEqual(['2025-08', '2025-10']);
    expect(await searched(store)).toEqual(['2025-11', '2025-12']);
  });

  it(`R33: the next run repairs a death before the first change, and after each ${IS_SOAK ? '' : 'third '}one`, async () => {
    let deaths = 0;
    for (let change = 1, died = true; died; change += IS_SOAK ? 1 : 3) {
      died = false;
      // A death before a change leaves what the one after the change before it left.
      for (const when of change === 1 ? (['before', 'after'] as const) : (['after'] as const)) {
        const store = await newMemoryArchive();
        died ||= await dies(store, 2, { change, when });
        // After any death, nothing is missing, and a search finds each month completely or not at all.
        const { findings, coverage } = await verified(store);
        expect(findings, `${when} change ${change}`).toEqual([]);
        expect((await searched(store)).includes('2025-08')).toBe(coverage.drops.length === 0);
        await keep(store, 2);
        expect(await verified(store)).toMatchObject({ findings: [], coverage: { drops: [{}] } });
        expect([...store.files.keys()].filter((file) => /date=2025-0[89]/.test(file))).toEqual([]);
        deaths += 1;
      }
    }
    expect(deaths).toBeGreaterThan(7);
  });

  it('R33: an archive verifies after any series of killed retentions', async () => {
    const death = fc.record({ change: fc.integer({ min: 1, max: 30 }), when: fc.constantFrom('before', 'after') });
    const plan = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), death), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(plan, async (runs) => {
        const store = await newMemoryArchive();
        for (const [months, at] of runs) await dies(store, months, at);
        const least = Math.min(...runs.map(([months]) => months));
        await keep(store, least);
        const { findings, coverage } = await verified(store);
        expect(findings).toEqual([]);
        expect(coverage.covered()[0]?.from).toBe(Math.max(START, keptFrom(END, least)));
        const left = (await searched(store)).filter((month) => month !== 'unknown');
        expect(left).toEqual(MONTHS.filter((month) => Date.parse(`${month}-01`) >= keptFrom(END, least)));
      }),
      { numRuns: IS_SOAK ? 500 : 8 },
    );
  });
});

const MONTHS = ['2025-08', '2025-09', '2025-10', '2025-11', '2025-12'];

function isSegment(file: string): boolean {
  return file.startsWith('tenant=');
}

/** Runs a retention that may die. Returns whether it did. */
async function dies(store: MemoryStore, months: number, death: Death): Promise<boolean> {
  store.changes = 0;
  store.death = death;
  try {
    await keep(store, months);
    return false;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return true;
  } finally {
    store.death = undefined;
  }
}
