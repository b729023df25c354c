import { beforeEach, expect, it } from 'vitest';
import { beginArchive, entriesOf, findArchive, readManifest } from '../../../src/logs/archive/manifest.ts';
import { HEAD, recordPath } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt, entryOf, type TailPosition } from '../../../src/logs/entry.ts';
import { LEFT_BY_RUN } from '../../../src/logs/prove/listed-files.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { missingOf } from '../../../src/logs/report/review-rules.ts';
import { signReview } from '../../../src/logs/report/sign-review.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { Killed } from '../model.ts';
import { readArchive } from './archived.ts';
import { MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;
const TENANT = 't';
let work: string;
let store: MemoryStore;

beforeEach(async () => {
  work = temporaryDirectory();
  store = new MemoryStore(work);
  const subject = { service: 'https://vault.example', tenantId: TENANT };
  await beginArchive(store, subject, { position: beginAt(NOON), since: undefined, now: NOON });
});

async function open(): Promise<ArchiveWriter> {
  const found = await findArchive(store);
  return ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => NOON + HOUR });
}

function log(minute: number, message: string, more: Partial<Log> = {}): Log {
  return { tenant_id: TENANT, message, created_at: new Date(NOON + minute * 60_000).toISOString(), ...more };
}

function positionAt(hour: number): TailPosition {
  return { settled: NOON, readTo: NOON + hour * HOUR, newest: NOON, passed: [] };
}

/** Runs a writer that is killed before its record gets its name, and returns the files that it left. */
async function killed(writer: ArchiveWriter, ...logs: readonly Log[]): Promise<Map<string, Buffer>> {
  const before = new Map(store.files);
  const record = recordPath(writer.last.record.sequence + 1);
  store.onCreate = (file) => {
    if (file === record) throw new Killed();
  };
  await writer.add(logs);
  await expect(writer.commit(positionAt(1))).rejects.toBeInstanceOf(Killed);
  store.onCreate = () => undefined;
  return new Map([...store.files].filter(([file]) => !before.has(file)));
}

function segmentsIn(files: ReadonlyMap<string, Buffer>): string[] {
  return [...files.keys()].filter((file) => file.startsWith('tenant='));
}

async function archived(): Promise<string[]> {
  const { logs } = await readArchive(store);
  return logs.map(({ message }) => message ?? '').toSorted();
}

async function problems(): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of verifyArchive(store, {}, nothingVerified()))
    found.push(...batch.map(({ path: file, message }) => `${file.replace(/-[0-9a-f]{12}/, '')}: ${message}`));
  return found;
}

it('a segment that another machine committed after the archive was opened is not taken for one that was left', async () => {
  const { last } = (await findArchive(store))!;
  const other = await open();
  await other.add([log(1, 'committed')]);
  await other.commit(positionAt(1));
  const late = await ArchiveWriter.open(store, last, { tenantId: TENANT, now: () => NOON + HOUR });
  expect(late.last.record.sequence).toBe(last.record.sequence + 1);
  expect(await archived()).toEqual(['committed']);
});

/** Signs a review of the day before the archive begins. */
async function sign(): Promise<void> {
  const manifest = await readManifest(store);
  const days = { from: '2026-01-04', to: '2026-01-04' };
  const review = {
    of: 'access',
    ...days,
    entries: entriesOf(manifest, days),
    missing: missingOf(manifest.coverage, days),
    findings: {},
    sha256: '1'.repeat(64),
    record: manifest.last.record.sequence,
    record_sha256: manifest.last.sha256,
    by: 'Ana',
    account: 'ana@bastion',
  };
  await signReview(store, review, { clock: new FakeClock({ start: NOON }), signal: new AbortController().signal });
}

it('R33: what a killed run left is archived once by the next run, whether the service still has it or not', async () => {
  const others = [log(2, 'shared', { tenant_id: 'other' }), log(3, 'timeless', { created_at: 'soon' })];
  await killed(await open(), log(1, 'one'), log(4, 'two'), log(1, 'late'), ...others);
  const writer = await open();
  expect(await archived()).toEqual(['late', 'one', 'shared', 'timeless', 'two']);
  expect(writer.written).toMatchObject({ entries: 5, late: 4, shared: 1, timeless: 1 });
  expect(writer.position).toMatchObject({ settled: NOON, readTo: NOON, newest: undefined });
  // The tail leaves out what has passed.
  const keys = [log(1, 'one'), log(4, 'two'), log(1, 'late'), ...others].map((each) => entryOf(each).key);
  expect(writer.position.passed.map(([key]) => key).toSorted()).toEqual(keys.toSorted());
  expect(writer.isNew).toBe(true);
  // The killed run may have read an entry without a time until the next run archived it.
  expect((await readManifest(store)).timeless).toMatchObject([{ from: NOON, to: NOON + HOUR }]);
  expect(await problems()).toEqual([]);
  await writer.commit(positionAt(1));
  expect([writer.isNew, await problems()]).toEqual([false, []]);
});

it('R33: what several killed runs left is archived as often as the run that has it most often has it', async () => {
  const twice = log(1, 'twice');
  await killed(await open(), twice, log(2, 'one'), twice);
  const first = new Map(store.files);
  // A second run finds the same entries in another order, and one more.
  store.files.clear();
  for (const [file, bytes] of first) if (!/^(?:tenant=|_index)/.test(file)) store.files.set(file, bytes);
  const second = await killed(await open(), twice, twice, log(2, 'one'), log(3, 'more'));
  for (const [file, bytes] of first) store.files.set(file, bytes);
  expect(second.size).toBeGreaterThan(0);
  await open();
  expect(await archived()).toEqual(['more', 'one', 'twice', 'twice']);
  expect(await problems()).toEqual([]);
});

it('R33: an entry that two runs left is archived once where it is late in the later run', async () => {
  const equal = log(1, 'equal');
  const first = await killed(await open(), equal);
  // Another machine, which does not have these files yet, archives an hour without entries, and then reads the late entry.
  for (const file of first.keys()) store.files.delete(file);
  await (await open()).commit(positionAt(1));
  await killed(await open(), equal);
  for (const [file, bytes] of first) store.files.set(file, bytes);
  await open();
  expect(await archived()).toEqual(['equal']);
  expect(await problems()).toEqual([]);
});

it('R33: what a killed run left is archived also where the newest record has settled its day', async () => {
  const left = await killed(await open(), log(1, 'one'), log(2, 'two'));
  for (const file of left.keys()) store.files.delete(file);
  const faster = await open();
  await faster.add([log(2, 'two')]);
  await faster.commit({ ...positionAt(25), settled: NOON + 24 * HOUR });
  for (const [file, bytes] of left) if (file.startsWith('tenant=')) store.files.set(file, bytes);
  await open();
  expect(await archived()).toEqual(['one', 'two']);
  expect(await problems()).toEqual([]);
});

it('R33: what a killed run left of the very moment from which the next run reads counts as read', async () => {
  await killed(await open(), log(0, 'first'));
  expect((await open()).position.passed).toEqual([[entryOf(log(0, 'first')).key, NOON, 1]]);
});

it('R33: what a killed run left is removed after its commit was killed, too, also when a review was signed between', async () => {
  await (await open()).commit(positionAt(1));
  const left = segmentsIn(await killed(await open(), log(61, 'one'), log(62, 'two')));
  await sign();
  const files = new Map(store.files);
  await open();
  // A run that is killed before it removes the segments leaves them all.
  for (const file of left) store.files.set(file, files.get(file)!);
  await sign();
  expect(await problems()).toEqual(left.map((file) => `${file.replace(/-[0-9a-f]{12}/, '')}: ${LEFT_BY_RUN}`));
  await (await open()).commit(positionAt(2));
  expect(await archived()).toEqual(['one', 'two']);
  expect(await problems()).toEqual([]);
});

it('the first time range begins after what the service deleted when two killed runs archived nothing else', async () => {
  await killed(await open(), log(1, 'one'));
  await killed(await open(), log(2, 'two'));
  const writer = await open();
  expect([writer.last.record.sequence, writer.isNew]).toEqual([2, true]);
  await writer.commit(positionAt(1));
  expect(writer.isNew).toBe(false);
});

it('a segment that a killed run left for the number of the newest record is removed when that record has its entries', async () => {
  const left = await killed(await open(), log(1, 'one'), log(2, 'two'));
  const writer = await open();
  await writer.commit(positionAt(1));
  const segment = [...left.keys()].find((file) => file.startsWith('tenant='))!;
  store.files.clear();
  await beginArchive(
    store,
    { service: 'https://vault.example', tenantId: TENANT },
    { position: beginAt(NOON), since: undefined, now: NOON },
  );
  const again = await open();
  await again.add([log(1, 'one')]);
  await again.commit(positionAt(1));
  store.files.set(segment, left.get(segment)!);
  expect(await problems()).toEqual([`${segment.replace(/-[0-9a-f]{12}/, '')}: ${LEFT_BY_RUN}`]);
  await open();
  expect(await archived()).toEqual(['one', 'two']);
  expect(await problems()).toEqual([]);
});

it('a writer leaves a segment that is not what its name says, and goes on', async () => {
  const name = `tenant=t/date=2026-01-05/part-00000001-${'a'.repeat(12)}.jsonl.gz`;
  store.files.set(name, Buffer.from('cut'));
  const writer = await open();
  expect(writer.damage).toMatchObject({ code: 'checksum_mismatch', message: expect.stringContaining(name) });
  await writer.add([log(1, 'one')]);
  await writer.commit(positionAt(1));
  expect(writer.last.record.sequence).toBe(1);
  expect(store.files.get(name)?.toString()).toBe('cut');
});

it('R33: a writer changes nothing where files of later records show that records are missing, and verify says so', async () => {
  const writer = await open();
  await writer.add([log(1, 'one')]);
  await writer.commit(positionAt(1));
  const older = [...store.files].filter(([file]) => file.startsWith('_manifest/'));
  for (const minute of [61, 121, 181]) {
    await writer.add([log(minute, 'more')]);
    await writer.commit(positionAt(Math.ceil(minute / 60)));
  }
  for (const file of store.files.keys()) if (file.startsWith('_manifest/')) store.files.delete(file);
  for (const [file, bytes] of older) store.files.set(file, bytes);
  const before = new Map(store.files);
  await expect(open()).rejects.toMatchObject({
    code: 'checksum_mismatch',
    exitCode: 12,
    message: expect.stringMatching(
      /^records of memory are missing, from _manifest\/00000002\.json on: .*part-00000003-/,
    ),
  });
  expect(store.files).toEqual(before);
  const segment = 'tenant=t/date=2026-01-05/part-0000000';
  const why = 'no record lists it: the records from _manifest/00000002.json on are missing';
  expect((await problems()).filter((each) => each.startsWith(segment))).toEqual(
    [2, 3, 4].map((number) => `${segment}${number}.jsonl.gz: ${why}`),
  );
});

it('what a killed run left stays when another machine commits the next record first', async () => {
  const left = await killed(await open(), log(1, 'one'));
  const other = new MemoryStore(work);
  for (const [file, bytes] of store.files) if (!file.startsWith('tenant=')) other.files.set(file, bytes);
  const faster = await ArchiveWriter.open(other, (await findArchive(other))!.last, {
    tenantId: TENANT,
    now: () => NOON,
  });
  await faster.commitGap({ from: NOON, to: NOON + HOUR });
  store.onCreate = (file) => {
    if (file === recordPath(1)) for (const name of [file, HEAD]) store.files.set(name, other.files.get(name)!);
  };
  await expect(open()).rejects.toMatchObject({ code: 'conflict' });
  store.onCreate = () => undefined;
  expect(segmentsIn(store.files)).toEqual(segmentsIn(left));
  await open();
  expect(await archived()).toEqual(['one']);
  expect(await problems()).toEqual([]);
});

it('R33: every entry is archived once whenever the run that adds what was left is killed, too', async () => {
  const equal = log(1, 'equal');
  const day = 24 * 60;
  const nextDay = [log(day, 'equal next day'), log(day + 1, 'next day'), log(day, 'equal next day')];
  await killed(await open(), equal, log(2, 'between'), equal, ...nextDay);
  const left = new Map(store.files);
  for (let change = 1, isDone = false; !isDone; change += 1) {
    for (const when of ['before', 'after'] as const) {
      store.files.clear();
      for (const [file, bytes] of left) store.files.set(file, bytes);
      store.death = { change: store.changes + change, when };
      isDone = await open().then(
        () => true,
        () => false,
      );
      store.death = undefined;
      await (await open()).commit(positionAt(2));
      expect(await archived(), `${when} change ${change}`).toEqual([
        'between',
        'equal',
        'equal',
        'equal next day',
        'equal next day',
        'next day',
      ]);
      expect(await problems(), `${when} change ${change}`).toEqual([]);
    }
  }
});
