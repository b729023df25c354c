import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { beginArchive, isDropped } from '../../../src/logs/archive/manifest.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import { TENANT } from './build.ts';
import { MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2025, 7, 20);
const NEWEST = Date.UTC(2025, 10, 30, 23);
const END = Date.UTC(2025, 11, 3);
const YEARS_LATER = Date.UTC(2028, 0, 1);

const stores: MemoryStore[] = [];

/** An archive with a hold on August: no file of that month can be removed. */
class HeldStore extends MemoryStore {
  hold: 'forbidden' | 'local' | 'network' | undefined = 'forbidden';
  /** The number of files that something tried to remove. */
  tried = 0;

  override async remove(file: string): Promise<void> {
    this.tried += 1;
    if (this.hold && file.includes('date=2025-08')) throw new SvcError(this.hold, `${file} is held`);
    return super.remove(file);
  }
}

/** Returns the writer of an archive that ends at the given time and whose newest entry is of November. */
async function writerTo(readTo: number, Store = MemoryStore): Promise<ArchiveWriter> {
  const work = temporaryDirectory();
  const store = new Store(work);
  stores.push(store);
  const subject = { service: 'https://vault.example', tenantId: TENANT };
  const first = await beginArchive(store, subject, { position: beginAt(START), since: START, now: START });
  const writer = await ArchiveWriter.open(store, first, { tenantId: TENANT, now: () => readTo });
  const times = [START, Date.UTC(2025, 8, 20), Date.UTC(2025, 9, 20), NEWEST];
  await writer.add(times.map((at) => ({ tenant_id: TENANT, created_at: new Date(at).toISOString() })));
  await writer.commit({ settled: START, readTo, newest: undefined, passed: [] });
  return writer;
}

it.each([
  ["the archive's end, both clocks and the newest entry agree", { end: END, service: END, machine: END }],
  ['the clocks and the end of the archive are years ahead', YEARS_LATER],
])('R33: retention counts months back from the newest entry when %s', async (_, at) => {
  const { end, service, machine } = typeof at === 'number' ? { end: at, service: at, machine: at } : at;
  const retention = new Retention(1, 'root@vault');
  await retention.apply(await writerTo(end), { service, machine });
  expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08', '2025-09']);
  expect(new Date(retention.dropped.before).toISOString()).toBe('2025-10-01T00:00:00.000Z');
});

it("R33: retention counts months back from the archive's end where an entry has a later time", async () => {
  const retention = new Retention(1, 'root@vault');
  await retention.apply(await writerTo(Date.UTC(2025, 9, 31)), { service: END, machine: END });
  expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08']);
});

it('R33: retention counts months back from the newest entry also where another has no readable time', async () => {
  const writer = await writerTo(YEARS_LATER);
  await writer.add([{ tenant_id: TENANT, created_at: 'never' }]);
  await writer.commit({ settled: START, readTo: YEARS_LATER + 1, newest: undefined, passed: [] });
  const retention = new Retention(1, 'root@vault');
  await retention.apply(writer, { service: YEARS_LATER, machine: YEARS_LATER });
  expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08', '2025-09']);
});

it.each(['service', 'machine'] as const)(
  'R33: retention counts months back from the earlier clock, that of the %s, and drops the rest once an entry of the month is there',
  async (earlier) => {
    const writer = await writerTo(END);
    const retention = new Retention(1, 'root@vault');
    const later = Date.UTC(2025, 10, 1, 12);
    await retention.apply(writer, { service: later, machine: later, [earlier]: Date.UTC(2025, 9, 31, 23) });
    expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08']);
    await retention.apply(writer, { service: END, machine: END });
    await writer.add([{ tenant_id: TENANT, created_at: new Date(END - 1).toISOString() }]);
    await writer.commit({ settled: START, readTo: END + 1, newest: undefined, passed: [] });
    await retention.apply(writer, { service: END, machine: END });
    expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08', '2025-09', '2025-10']);
  },
);

it('R33: retention drops nothing while the clocks are more than a day apart, reports it once, and goes on when they agree', async () => {
  const writer = await writerTo(END);
  const reported: number[] = [];
  const retention = new Retention(1, 'root@vault', (ms) => reported.push(ms));
  const day = 86_400_000;
  for (const service of [END + day + 1, END - day - 1]) await retention.apply(writer, { service, machine: END });
  expect([retention.dropped.months, reported, retention.apartMs]).toEqual([[], [day + 1], day + 1]);
  await retention.apply(writer, { service: END + day, machine: END });
  expect([retention.dropped.months.length, retention.apartMs]).toEqual([2, 0]);
});

it.each(['forbidden', 'local', 'network'] as const)(
  'R33: retention removes the other files when one cannot be removed (%s), stops no commit, and removes it an hour later',
  async (hold) => {
    const writer = await writerTo(END, HeldStore);
    const store = stores.at(-1) as HeldStore;
    store.hold = hold;
    const reported: string[] = [];
    const retention = new Retention(1, 'root@vault', undefined, ({ message }) => reported.push(message));
    await retention.apply(writer, { service: END, machine: END });
    expect(retention.failure).toMatchObject({ code: hold, message: expect.stringContaining('is held') });
    expect(retention.dropped.months.map(({ month }) => month)).toEqual(['2025-08', '2025-09']);
    const old = (): string[] => [...store.files.keys()].filter((file) => /date=2025-0[89]/.test(file));
    expect(old().filter((file) => file.includes('2025-09'))).toEqual([]);
    expect(old()).not.toEqual([]);
    await writer.add([{ tenant_id: TENANT, created_at: new Date(END - 1).toISOString() }]);
    await writer.commit({ settled: START, readTo: END + 1, newest: undefined, passed: [] });
    const { tried } = store;
    await retention.apply(writer, { service: END + 1, machine: END });
    expect([writer.written.entries, reported.length, store.tried]).toEqual([5, 1, tried]);
    store.hold = undefined;
    await retention.apply(writer, { service: END + 3_600_000, machine: END });
    expect([retention.failure, old()]).toEqual([undefined, []]);
  },
);

it('R33: retention that cannot commit what it drops ends the run, and removes nothing', async () => {
  const writer = await writerTo(END);
  const store = stores.at(-1) as MemoryStore;
  const before = [...store.files.keys()];
  const full = new SvcError('local', 'the disk is full');
  store.onCreate = () => {
    throw full;
  };
  await expect(new Retention(1, 'root@vault').apply(writer, { service: END, machine: END })).rejects.toBe(full);
  expect(before.filter((file) => file.startsWith('tenant=') && !store.files.has(file))).toEqual([]);
});

it('R33: a late segment of a dropped month is not taken for a dropped file', async () => {
  const writer = await writerTo(END);
  const store = stores.at(-1) as MemoryStore;
  const ofAugust = (): string[] => [...store.files.keys()].filter((file) => /^tenant=.*date=2025-08/.test(file));
  const [dropped] = ofAugust();
  await new Retention(1, 'root@vault').apply(writer, { service: END, machine: END });
  await writer.add([{ tenant_id: TENANT, created_at: new Date(START + 1).toISOString() }]);
  await writer.commit({ settled: START, readTo: END + 1, newest: undefined, passed: [] });
  const [late] = ofAugust();
  expect([await isDropped(store, dropped), await isDropped(store, late)]).toEqual([true, false]);
});
