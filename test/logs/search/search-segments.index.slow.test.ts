import fs from 'node:fs';
import path from 'node:path';
import { assert, asyncProperty, boolean, integer, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { lookUp, partToRead } from '../../../src/logs/archive/index/lookup.ts';
import { INDEX } from '../../../src/logs/archive/records/index-ref.ts';
import { indexSegments } from '../../../src/logs/archive/index/upkeep.ts';
import { readManifest } from '../../../src/logs/archive/manifest.ts';
import { findOld } from '../../../src/logs/archive/retention.ts';
import { searchSegments } from '../../../src/logs/search/search-segments.ts';
import type { FileStore } from '../../../src/client/store/store.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/verify/verify.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, type Commit, filesIn, openStore, TENANT } from '../archive/build.ts';

const START = Date.parse('2026-01-05T00:00:00Z');
const HOUR = 3_600_000;
const IDS = 40;

test('index files are merged every 16 and every 256 commits, and merged files replace the others', async () => {
  const { store } = await buildArchive(START, hours(18));
  const named = async (): Promise<string[]> => (await readManifest(store)).index.map((ref) => ref.path);
  expect((await named()).map(rangeOf)).toEqual(['1-15', '16-16', '17-17', '18-18']);
  expect(filesIn(store.name).filter((file) => file.startsWith(INDEX))).toEqual((await named()).toSorted());
});

test('R51: a full disk during a merge ends archiving, and unreadable index files are left out of the merge', async () => {
  const { store, links } = await buildArchive(START, hours(15));
  const last = links.at(-1);
  if (last === undefined) throw new Error('nothing was archived');
  const full = openStore(store.name);
  full.create = (file) => Promise.reject(new SvcError('local', `${file} could not be written: the disk is full`));
  const unreadable = openStore(store.name);
  unreadable.readRange = (file) => Promise.reject(new SvcError('local', `${file} may not be read by this user`));
  await store.lock(async () => {
    await expect(indexSegments(full, last, [])).rejects.toThrow('the disk is full');
    expect(await indexSegments(unreadable, last, [])).toEqual([]);
    expect((await indexSegments(store, last, [])).map(({ path: file }) => rangeOf(file))).toEqual(['1-15']);
  });
});

test('index files are also merged where every sixteenth record is a gap', async () => {
  const all = hours(40).map((commit, at) => (at % 16 === 15 ? { to: commit.to, gap: true } : commit));
  const { store } = await buildArchive(START, all);
  const ranges = (await readManifest(store)).index.map(({ path: file }) => rangeOf(file));
  expect(ranges.slice(0, 3)).toEqual(['1-15', '17-31', '33-33']);
  for (const id of [1, 7, 22]) expect(await found(store, id, true)).toEqual(await found(store, id, false));
});

test('index files of different months are not merged, so that retention can drop them with their month', async () => {
  const begin = Date.parse('2026-01-31T19:30:00Z');
  const { store } = await buildArchive(begin, hours(16, begin));
  expect((await readManifest(store)).index.map(({ path: file }) => file.replace(/-[^-]+$/, ''))).toEqual([
    '_index/date=2026-01-31/00000001-00000005',
    '_index/date=2026-02-01/00000006-00000015',
    '_index/date=2026-02-01/00000016-00000016',
  ]);
});

test('a search reads no index file without segments of its time range', async () => {
  const { store } = await buildArchive(START, hours(18));
  const named = async (since?: number, until?: number): Promise<string[]> =>
    (await readManifest(store, { since, until })).index.map(({ path: file }) => rangeOf(file));
  expect(await named(START + 15 * HOUR)).toEqual(['16-16', '17-17', '18-18']);
  expect(await named(START + 14 * HOUR, START + 16 * HOUR)).toEqual(['1-15', '16-16']);
  expect(await named(undefined, START)).toEqual([]);
});

test('R69: a search by the index finds what a full search finds, whatever is damaged or gone', async () => {
  const { top, store } = await buildArchive(START, hours(20));
  const files = filesIn(top).filter((file) => file.startsWith(INDEX));
  const before = new Map(files.map((file) => [file, fs.readFileSync(path.join(top, file))]));
  const harm = record({
    file: nat(),
    at: nat(),
    by: integer({ min: 0, max: 255 }),
    cut: boolean(),
    id: nat({ max: IDS }),
  });
  await assert(
    asyncProperty(harm, async ({ file, at, by, cut, id }) => {
      const harmed = files[file % files.length] ?? '';
      const bytes = Buffer.from(before.get(harmed) ?? '');
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ by;
      fs.writeFileSync(path.join(top, harmed), cut ? bytes.subarray(0, place) : bytes);
      expect(await found(store, id, true)).toEqual(await found(store, id, false));
      for (const [each, whole] of before) fs.writeFileSync(path.join(top, each), whole);
    }),
    { numRuns: 100 },
  );
});

test('R69: a search does not trust a changed column: it reads the whole segment and names the file', async () => {
  const { top, store } = await buildArchive(START, [
    { to: START + HOUR, entries: Array.from({ length: 50_001 }, (_, at) => entry(at, START + at)) },
  ]);
  const seen = { bytes: 0, total: 0, due: 0 };
  expect(await found(store, 20_500, true, seen)).toHaveLength(1);
  expect(seen.bytes).toBeLessThan(seen.total / 4);
  expect(seen.bytes).toBe(seen.due);
  const segment = path.join(top, (await readManifest(store)).segments[0]?.path ?? '');
  const bytes = fs.readFileSync(segment);
  const middle = Math.floor(bytes.length * 0.5);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  fs.writeFileSync(segment, bytes);
  await expect(found(store, 25_000, true)).rejects.toMatchObject({ code: 'checksum_mismatch' });
});

test('a missing index is no problem for verify, and a changed one is', async () => {
  const { top, store } = await buildArchive(START, hours(3));
  const [first = '', second = ''] = filesIn(top).filter((file) => file.startsWith(INDEX));
  fs.rmSync(path.join(top, first));
  expect(await problems(top)).toEqual([]);
  expect(await found(store, 1, true)).toEqual(await found(store, 1, false));
  fs.appendFileSync(path.join(top, second), 'x');
  expect(await problems(top)).toEqual([`damaged ${second}`]);
});

test('retention also drops index files', async () => {
  const march = Date.parse('2026-03-02T00:00:00Z');
  const { store } = await buildArchive(START, [
    { to: START + HOUR, entries: [entry(1, START)] },
    { to: march + HOUR, entries: [entry(1, march)] },
  ]);
  const [old = '', kept = ''] = (await readManifest(store)).index.map((ref) => ref.path);
  const { paths } = await findOld(store, { end: march, months: 1 });
  expect(paths.filter((each) => each.startsWith(INDEX))).toEqual([old]);
  expect(kept).toContain('date=2026-03-02');
});

/** Returns commits of an hour each, with every id in some of them. */
function hours(count: number, start = START): Commit[] {
  return Array.from({ length: count }, (_, hour) => ({
    to: start + (hour + 1) * HOUR,
    entries: Array.from({ length: 7 }, (_, at) => entry((hour * 7 + at * at) % IDS, start + hour * HOUR + at * 1000)),
  }));
}

function entry(id: number, at: number): Log {
  const created_at = new Date(at).toISOString();
  return { tenant_id: TENANT, entity_id: `entity-${id}`, entity_type: 'card', operation: 'update', created_at };
}

async function found(
  store: FileStore,
  id: number,
  byIndex: boolean,
  seen = { bytes: 0, total: 0, due: 0 },
): Promise<Log[]> {
  const { segments, index: refs } = await readManifest(store);
  seen.total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  const index = byIndex ? await lookUp(store, refs, [[`entity-${id}`]]) : undefined;
  seen.due = segments.reduce((sum, segment) => sum + partToRead(index, segment).bytes, 0);
  const matches = (log: Log): boolean => log.entity_id === `entity-${id}`;
  const onBytes = (bytes: number): void => void (seen.bytes += bytes);
  const logs: Log[] = [];
  for await (const batch of searchSegments(store, { segments, matches, index, onBytes })) logs.push(...batch);
  return logs;
}

async function problems(top: string): Promise<string[]> {
  const all: string[] = [];
  for await (const findings of verifyArchive(openStore(top), {}, nothingVerified()))
    all.push(...findings.map(({ problem, path: file }) => `${problem} ${file}`));
  return all;
}

function rangeOf(file: string): string {
  const [, from, to] = /(\d+)-(\d+)-[^/]+$/.exec(file) ?? [];
  return `${Number(from)}-${Number(to)}`;
}
