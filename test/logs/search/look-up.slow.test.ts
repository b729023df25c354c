import fs from 'node:fs';
import path from 'node:path';
import { assert, asyncProperty, boolean, constantFrom, integer, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import type { Store } from '../../../src/client/store/store.ts';
import { readManifest } from '../../../src/logs/archive/manifest.ts';
import { findOld } from '../../../src/logs/archive/retention.ts';
import { INDEX, IndexBuilder, keyOf } from '../../../src/logs/archive/segment-index.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { IndexCache, IndexLookup, type Lookup, partToRead } from '../../../src/logs/search/look-up.ts';
import { searchSegments } from '../../../src/logs/search/search-segments.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, type Commit, filesIn, openStore, TENANT } from '../archive/build.ts';
import { cases } from '../../support/cases.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.parse('2026-01-05T00:00:00Z');
const HOUR = 3_600_000;
const IDS = 40;
const LARGE: Commit = { to: START + HOUR, entries: Array.from({ length: 50_001 }, (_, at) => entry(at, START + at)) };

test('R69: a search by indexes finds what a full search finds, whatever is damaged, stale, foreign or gone', async () => {
  const { top, store } = await buildArchive(START, hours(20));
  const home = temporaryDirectory();
  const remote = Object.assign(openStore(top), { isRemote: true });
  const before = new Map(indexesIn(top).map((file) => [file, fs.readFileSync(path.join(top, file))]));
  const files = [...before.keys()];
  const harm = record({
    file: nat(),
    at: nat(),
    by: integer({ min: 0, max: 255 }),
    how: constantFrom('change', 'cut', 'remove', 'swap'),
    id: nat({ max: IDS }),
    isRemote: boolean(),
  });
  await assert(
    asyncProperty(harm, async ({ file, at, by, how, id, isRemote }) => {
      const harmed = files[file % files.length] ?? '';
      const bytes = Buffer.from(before.get(harmed) ?? '');
      const place = at % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ by;
      const foreign = before.get(files[at % files.length] ?? '') ?? Buffer.alloc(0);
      const content = { change: bytes, cut: bytes.subarray(0, place), remove: Buffer.alloc(0), swap: foreign }[how];
      // What a search from a bucket has kept is harmed, too.
      for (const each of [path.join(top, harmed), ...cachedIn(home).slice(0, 3)]) fs.writeFileSync(each, content);
      if (how === 'remove') fs.rmSync(path.join(top, harmed));
      expect(await found(isRemote ? remote : store, id, home)).toEqual(await found(store, id, undefined));
      for (const [each, whole] of before) fs.writeFileSync(path.join(top, each), whole);
    }),
    { numRuns: cases(250) },
  );
});

test('R69: a search does not trust a changed column: it reads the whole segment and names the file', async () => {
  const { top, store } = await buildArchive(START, [LARGE]);
  const home = temporaryDirectory();
  const seen = { bytes: 0, total: 0, due: 0 };
  expect(await found(store, 20_500, home, seen)).toHaveLength(1);
  expect(seen.bytes).toBeLessThan(seen.total / 4);
  expect(seen.bytes).toBe(seen.due);
  const segment = path.join(top, (await readManifest(store)).segments[0]?.path ?? '');
  const bytes = fs.readFileSync(segment);
  const middle = Math.floor(bytes.length * 0.5);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  fs.writeFileSync(segment, bytes);
  await expect(found(store, 25_000, home)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  // Without an index, none is made of a changed segment.
  fs.rmSync(path.join(top, INDEX), { recursive: true });
  await expect(found(store, 25_000, home)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  expect(cachedIn(home)).toEqual([]);
});

test('a search makes the missing indexes as the writer made them, into the cache and not into the archive', async () => {
  const { top, store } = await buildArchive(START, [LARGE, ...hours(3, START + HOUR)]);
  const home = temporaryDirectory();
  const written = indexesIn(top).map((file) => sha256Of(fs.readFileSync(path.join(top, file))));
  fs.rmSync(path.join(top, INDEX), { recursive: true });
  const all = filesIn(top);
  expect(await found(store, 20_500, home)).toHaveLength(1);
  expect(filesIn(top)).toEqual(all);
  const cached = cachedIn(home).map((file) => sha256Of(fs.readFileSync(file)));
  expect(cached.toSorted()).toEqual(written.toSorted());
  const seen = { bytes: 0, total: 0, due: 0 };
  expect(await found(store, 20_500, home, seen)).toHaveLength(1);
  expect(seen.bytes).toBeLessThan(seen.total / 4);
});

test('a search from a bucket keeps the indexes, and reads each once', async () => {
  const { top, store } = await buildArchive(START, hours(5));
  const home = temporaryDirectory();
  const remote = Object.assign(openStore(top), { isRemote: true });
  const reads: string[] = [];
  const read = remote.read.bind(remote);
  remote.read = (file, most) => (reads.push(file), read(file, most));
  for (const _ of [1, 2]) expect(await found(remote, 1, home)).toEqual(await found(store, 1, undefined));
  expect(reads.filter((file) => file.startsWith(INDEX))).toHaveLength(5);
});

test('without a cache that can be written, a search reads all of a segment without an index', async () => {
  const { top, store } = await buildArchive(START, hours(5));
  fs.rmSync(path.join(top, INDEX), { recursive: true });
  const taken = path.join(temporaryDirectory(), 'taken');
  fs.writeFileSync(taken, '');
  for (const home of ['', taken]) expect(await found(store, 1, home)).toEqual(await found(store, 1, undefined));
});

test('R69: verify warns of an index that hides an entry or is damaged, and not of a missing one', async () => {
  const { top, store } = await buildArchive(START, hours(4));
  const [gone = '', cut = '', forged = ''] = indexesIn(top).map((file) => path.join(top, file));
  fs.rmSync(gone);
  expect(await otherIndexes(top)).toBe(0);
  fs.truncateSync(cut, 5);
  const segment = (await readManifest(store)).segments[2];
  if (segment === undefined) throw new Error('nothing was archived');
  const builder = new IndexBuilder();
  for (let each = 0; each < segment.entries; each += 1) builder.add(keyOf('another'), undefined);
  builder.endColumn(new Uint8Array(segment.bytes - 20));
  fs.writeFileSync(forged, builder.finish(segment.sha256));
  expect(await otherIndexes(top)).toBe(2);
});

test('retention also drops indexes', async () => {
  const march = Date.parse('2026-03-02T00:00:00Z');
  const { top, store } = await buildArchive(START, [
    { to: START + HOUR, entries: [entry(1, START)] },
    { to: march + HOUR, entries: [entry(1, march)] },
  ]);
  const [old = '', kept = ''] = indexesIn(top);
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

function indexesIn(top: string): string[] {
  return filesIn(top).filter((file) => file.startsWith(INDEX));
}

function cachedIn(home: string): string[] {
  const all = fs.existsSync(home) ? fs.readdirSync(home, { recursive: true, encoding: 'utf8' }) : [];
  return all.filter((file) => file.endsWith('.idx')).map((file) => path.join(home, file));
}

/** Searches with the cache of a home directory; without any index for undefined. */
async function found(
  store: Store,
  id: number,
  home: string | undefined,
  seen = { bytes: 0, total: 0, due: 0 },
): Promise<Log[]> {
  const { segments } = await readManifest(store);
  seen.total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  const index = home === undefined ? undefined : await lookUp(store, id, home);
  seen.due = segments.reduce((sum, segment) => sum + partToRead(index, segment).bytes, 0);
  const matches = (log: Log): boolean => log.entity_id === `entity-${id}`;
  const onBytes = (bytes: number): void => void (seen.bytes += bytes);
  const logs: Log[] = [];
  for await (const batch of searchSegments(store, { segments, matches, index, onBytes })) logs.push(...batch);
  return logs;
}

async function lookUp(store: Store, id: number, home: string): Promise<Lookup> {
  const { segments } = await readManifest(store);
  const cache = new IndexCache({ env: {}, platform: 'linux', home: home === '' ? undefined : home, cwd: '/' });
  const lookup = new IndexLookup(store, cache, [[`entity-${id}`]]);
  await lookup.make(await lookup.look(segments), {});
  return lookup.found;
}

async function otherIndexes(top: string): Promise<number> {
  const verified = nothingVerified();
  for await (const findings of verifyArchive(openStore(top), {}, verified)) expect(findings).toEqual([]);
  return verified.otherIndexes;
}
