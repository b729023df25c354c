import fs from 'node:fs';
import path from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { array, assert, asyncProperty, boolean, constantFrom, integer, nat, option, record } from 'fast-check';
import { expect, test } from 'vitest';
import { SvcError } from '../../../../src/base/errors.ts';
import { LineCounter } from '../../../../src/logs/archive/count-lines.ts';
import { IndexCheck } from '../../../../src/logs/verify/check-index.ts';
import { countTallies } from '../../../../src/logs/archive/count-by-index.ts';
import { type BuiltTally, IndexFile, shortHash } from '../../../../src/logs/archive/index/file.ts';
import { lookUp } from '../../../../src/logs/archive/index/lookup.ts';
import { INDEX } from '../../../../src/logs/archive/records/index-ref.ts';
import { entriesOf, TallyBuilder } from '../../../../src/logs/archive/index/tally.ts';
import { ColumnContent, partOf, writeIndex } from '../../../../src/logs/archive/index/write.ts';
import { isWithin, readManifest } from '../../../../src/logs/archive/manifest.ts';
import { readLines } from '../../../../src/logs/archive/read-segment.ts';
import type { FileStore } from '../../../../src/client/store/store.ts';
import { nothingVerified, verifyArchive } from '../../../../src/logs/verify/verify.ts';
import { bucketOf, type Interval, LogCounts, type StatsRow } from '../../../../src/logs/count.ts';
import type { Log } from '../../../../src/schema/log.ts';
import { buildArchive, type Commit, filesIn, openStore, TENANT } from '../build.ts';

const START = Date.parse('2026-01-05T00:00:00Z');
const HOUR = 3_600_000;
const MINUTE = 60_000;
const WHOLE = { since: START - HOUR, until: START + 1000 * HOUR };

const text = option(constantFrom('create', 'read', 'card', 'token', 'a"b', 'ü', ''));
const entry = record({
  minute: nat({ max: 239 }),
  entity_type: text,
  operation: text,
  actor_type: text,
  actor_id: option(constantFrom('a1', 'a2', 'a3')),
  is: constantFrom('usual', 'usual', 'usual', 'timeless', 'raw', 'foreign', 'odd'),
});
type Entry = ReturnType<(typeof entry)['generate']>['value'];
const commits = array(
  record({ entries: array(entry, { maxLength: 12 }), late: array(entry, { maxLength: 3 }), gap: boolean() }),
  { maxLength: 20 },
);
const interval = record({ since: nat({ max: 90 * 60 }), length: integer({ min: 1, max: 60 * 60 }), whole: boolean() });
const harm = option(record({ file: nat(), at: nat(), by: integer({ min: 1, max: 255 }), cut: boolean() }));

test('R69: counts by the index equal those of the entries, for any range and any damage', async () => {
  await assert(
    asyncProperty(commits, interval, harm, async (made, { since, length, whole }, harmed) => {
      const from = START + since * MINUTE;
      const range = whole ? WHOLE : { since: from, until: from + length * MINUTE };
      const { top, store } = await buildArchive(START, commitsOf(made));
      const files = filesIn(top).filter((file) => file.startsWith(INDEX));
      if (harmed && files.length > 0) damage(path.join(top, files[harmed.file % files.length] ?? ''), harmed);
      const { rows } = await counted(store, range);
      expect(rows).toEqual(bruteForce(made, range));
      fs.rmSync(path.join(top, INDEX), { recursive: true, force: true });
      expect((await counted(store, range)).rows).toEqual(rows);
    }),
    { numRuns: process.env['SOAK'] === '1' ? 1000 : 40 },
  );
});

test('counting opens only segments whose counts are not in the index, also with merged index files', async () => {
  const { top, store } = await buildArchive(START, hours(18));
  for (const file of segmentFiles(top)) fs.writeFileSync(file, Buffer.alloc(fs.statSync(file).size));
  const { rows, left } = await counted(store, { since: START, until: START + 18 * HOUR });
  expect([rows[0]?.count, left]).toEqual([18 * 7, 0]);
  const { index, segments } = await readManifest(store);
  const options = { since: START + HOUR / 2, until: START + 3 * HOUR, onGroup: () => undefined };
  const inRange = segments.filter((segment) => isWithin(segment, options));
  expect((await countTallies(store, index, inRange, options)).map(({ path: file }) => file)).toEqual([
    segments[0]?.path,
  ]);
});

test('R33: counting reports segments whose files are gone, cut or irregular instead of counting them by the index', async () => {
  const { top, store } = await buildArchive(START, hours(18));
  const [gone = '', cut = '', link = ''] = segmentFiles(top);
  fs.rmSync(gone);
  fs.truncateSync(cut, 40);
  fs.renameSync(link, `${top}/.moved`);
  fs.symlinkSync(`${top}/.moved`, link);
  const { index, segments } = await readManifest(store);
  const left = await countTallies(store, index, segments, { ...WHOLE, onGroup: () => undefined });
  expect(left.map(({ path: file }) => path.join(top, file))).toEqual([gone, cut, link]);
  expect(await countTallies(store, index, [], { ...WHOLE, onGroup: () => undefined })).toEqual([]);
});

test('R69: index files that cannot be read count as absent', async () => {
  const { top, store } = await buildArchive(START, hours(18));
  const { rows } = await counted(store, WHOLE);
  const unreadable = openStore(top);
  unreadable.readRange = (file) => Promise.reject(new SvcError('local', `${file} could not be read (EACCES)`));
  expect(await counted(unreadable, WHOLE)).toEqual({ rows, left: 18 });
  const { index } = await readManifest(store);
  expect(await lookUp(unreadable, index, [['a1']])).toEqual({ bySegment: new Map(), damaged: index.length });
});

test('equal segments of late entries count as often as they are listed', async () => {
  const late = [logOf({ minute: 3, entity_type: 'card', operation: 'read', actor_type: null, actor_id: 'a1' })];
  const { store } = await buildArchive(START, [
    { to: START + HOUR, entries: [] },
    { to: START + 2 * HOUR, late },
    { to: START + 3 * HOUR, late },
  ]);
  const hashes = (await readManifest(store)).segments.map(({ sha256 }) => sha256);
  expect(new Set(hashes).size).toBe(1);
  expect((await counted(store, WHOLE)).rows[0]).toMatchObject({ count: 2 });
});

test('a segment with too many groups has no tally, and its entries are counted one by one', async () => {
  const entries = Array.from({ length: 2_001 }, (_, at) => ({
    tenant_id: TENANT,
    actor_id: `actor ${at}`,
    actor_type: 'user',
    created_at: new Date(START + at).toISOString(),
  }));
  const { store } = await buildArchive(START, [{ to: START + HOUR, entries }]);
  expect(await counted(store, WHOLE)).toMatchObject({ left: 1, rows: { 0: { count: 2_001 } } });
  const builder = new TallyBuilder();
  for (const log of entries.slice(1)) builder.add(log, bucketOf(START));
  expect(builder.built()?.bytes.length).toBeLessThan(20_000);
});

test('R69: verify compares the tallies with the entries, and finds every changed byte', async () => {
  const { top, store } = await buildArchive(START, hours(2));
  expect(await problems(top)).toEqual([]);
  const [ref] = (await readManifest(store)).index;
  if (ref === undefined) throw new Error('no index');
  const file = await IndexFile.open(store, ref);
  const [length = 0] = file.tallyInfos[0] ?? [];
  const place = path.join(top, ref.path);
  const bytes = fs.readFileSync(place);
  for (let at = 0; at < length; at += 1) {
    const changed = Buffer.from(bytes);
    const offset = ref.bytes - ref.head_bytes - length + at;
    changed[offset] = (changed[offset] ?? 0) ^ 1;
    fs.writeFileSync(place, changed);
    expect(await problems(top)).toEqual([`damaged ${ref.path}`]);
  }
});

test('R69: a tally with another text than its hash or an unknown form counts nothing, and verify reports it', async () => {
  const { store } = await buildArchive(START, []);
  const good = builtOf('a1');
  const forms = [
    [{ actor: 'a1', count: 1 }],
    [[['a1', null, null], 1, START, START]],
    [[[null, null, null, 'a1'], '1', 0, 0]],
  ];
  const tallies = forms.map((rows) => {
    const bytes = deflateRawSync(JSON.stringify(rows));
    return { info: [bytes.length, shortHash(bytes), shortHash(inflateRawSync(bytes))] as const, bytes };
  });
  const { bytes } = builtOf('a2');
  const other = { info: [bytes.length, shortHash(bytes), good.info[2]] as const, bytes };
  for (const { info, bytes: each } of [...tallies, other]) {
    const tally: BuiltTally = { info: [...info], bytes: each };
    expect(entriesOf(tally)).toEqual([]);
    expect(await found(store, tally)).toEqual(['its tallies were changed; it can be removed: more is then read']);
  }
  expect([entriesOf(good).length, await found(store, good)]).toEqual([1, []]);
});

function builtOf(actor_id: string): BuiltTally {
  const builder = new TallyBuilder();
  builder.add({ actor_id }, bucketOf(START));
  const built = builder.built();
  if (built === undefined) throw new Error('no tally');
  return built;
}

/** Returns the findings about an index file with this tally. */
async function found(store: FileStore, tally: BuiltTally): Promise<string[]> {
  const columns = [new ColumnContent().built(new Uint8Array(1))];
  const range = { from: 1, to: 1, day: '2026-01-05' };
  const ref = await store.lock(() => writeIndex(store, range, [partOf('a'.repeat(64), columns, tally)]));
  return (await (await IndexCheck.open(store, [ref])).findings()).map(({ message }) => message);
}

function segmentFiles(top: string): string[] {
  return filesIn(top).flatMap((file) => (file.startsWith('tenant=') ? path.join(top, file) : []));
}

/** Counts a range by the index, and reads the segments that the index does not cover. */
async function counted(store: FileStore, range: Interval): Promise<{ rows: StatsRow[]; left: number }> {
  const counts = new LogCounts();
  const options = { ...range, onGroup: counts.add.bind(counts) };
  const { index, segments } = await readManifest(store, range);
  const left = await countTallies(store, index, segments, options);
  const counter = new LineCounter(options);
  for (const segment of left) for await (const block of readLines(store, segment)) counter.add(block, segment.path);
  counter.flush();
  return { rows: counts.rows(range), left: left.length };
}

function bruteForce(made: readonly { entries: Entry[]; late: Entry[]; gap: boolean }[], range: Interval): StatsRow[] {
  const counts = new LogCounts();
  for (const { entries = [], late = [] } of commitsOf(made))
    for (const log of [...entries, ...late]) {
      const at = Date.parse(log.created_at);
      if (at >= range.since && at < range.until) counts.add(log);
    }
  return counts.rows(range);
}

/** Commits of four hours each, with late entries of the four hours before. */
function commitsOf(made: readonly { entries: Entry[]; late: Entry[]; gap: boolean }[]): Commit[] {
  return made.map(({ entries, late, gap }, at) => {
    const to = START + (at + 1) * 4 * HOUR;
    if (gap) return { to, gap };
    const shifted = (all: Entry[], by: number): Log[] =>
      all.toSorted((one, other) => one.minute - other.minute).map((each) => logOf(each, START + by * 4 * HOUR));
    return { to, entries: shifted(entries, at), late: shifted(late, Math.max(0, at - 1)) };
  });
}

function logOf({ minute, is = 'usual', ...values }: Partial<Log> & { minute: number; is?: string }, from = START): Log {
  return {
    tenant_id: is === 'foreign' ? `${TENANT.slice(0, -1)}7` : TENANT,
    ...values,
    entity_id: `entity ${minute % 9}`,
    ...(is === 'odd' && { nested: { operation: 'other' } }),
    ...(is === 'raw' && { message: '\ud800' }),
    created_at: is === 'timeless' ? 'never' : new Date(from + minute * MINUTE).toISOString(),
  };
}

function hours(count: number): Commit[] {
  return Array.from({ length: count }, (_, hour) => ({
    to: START + (hour + 1) * HOUR,
    entries: Array.from({ length: 7 }, (_, at) =>
      logOf(
        { minute: at * 8, entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: `a${at % 3}` },
        START + hour * HOUR,
      ),
    ),
  }));
}

function damage(file: string, { at, by, cut }: { at: number; by: number; cut: boolean }): void {
  const bytes = fs.readFileSync(file);
  const place = at % bytes.length;
  bytes[place] = (bytes[place] ?? 0) ^ by;
  fs.writeFileSync(file, cut ? bytes.subarray(0, place) : bytes);
}

async function problems(top: string): Promise<string[]> {
  const all: string[] = [];
  for await (const findings of verifyArchive(openStore(top), {}, nothingVerified()))
    all.push(...findings.map(({ problem, path: file }) => `${problem} ${file}`));
  return all;
}
