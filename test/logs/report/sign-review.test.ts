import fs from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { beginArchive, findArchive, readManifest } from '../../../src/logs/archive/manifest.ts';
import type { ReviewContent } from '../../../src/logs/archive/records/record.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { signReview } from '../../../src/logs/report/sign-review.ts';
import { statusOf } from '../../../src/logs/report/status.ts';
import { FakeClock } from '../../support/clock.ts';
import { TENANT } from '../archive/build.ts';
import { MemoryStore } from '../archive/memory-store.ts';
import { Killed } from '../model.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 1);
const END = START + 3 * DAY_MS;

let work: string;
beforeEach(() => {
  work = temporaryDirectory();
});

/** Returns an archive of three days, with more passed entries than a record lists itself. */
async function archived(): Promise<MemoryStore> {
  const store = new MemoryStore(work);
  await beginArchive(
    store,
    { service: 'https://vault.example', tenantId: TENANT },
    { position: beginAt(START), since: START, now: START },
  );
  const writer = await writerOf(store);
  await writer.add([entry(START + 1), entry(START + DAY_MS + 1)]);
  const passed = Array.from({ length: 30 }, (_, index) => [`key ${index}`, END, 1] as const);
  await writer.commit({ settled: START, readTo: END, newest: undefined, passed });
  return store;
}

async function writerOf(store: MemoryStore): Promise<ArchiveWriter> {
  const found = await findArchive(store);
  return ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => END });
}

function entry(at: number) {
  return { tenant_id: TENANT, operation: 'read', created_at: new Date(at).toISOString() };
}

async function reviewOf(store: MemoryStore, by: string): Promise<ReviewContent> {
  const { last } = await readManifest(store);
  return {
    of: 'day',
    from: '2026-03-02',
    to: '2026-03-02',
    entries: 1,
    missing: [],
    findings: { deletions: 0 },
    sha256: '0'.repeat(64),
    record: last.record.sequence,
    record_sha256: last.sha256,
    by,
    account: 'ana@bastion',
  };
}

function sign(store: MemoryStore, review: ReviewContent) {
  return signReview(store, review, { clock: new FakeClock({ start: END }), signal: new AbortController().signal });
}

async function expectIntact(store: MemoryStore, ...signers: string[]): Promise<void> {
  const verified = nothingVerified();
  const found = [];
  for await (const findings of verifyArchive(store, {}, verified)) found.push(...findings);
  expect(found).toEqual([]);
  expect(verified.contents.reviews.map(({ by }) => by).toSorted()).toEqual(signers.toSorted());
}

describe('signing a review', () => {
  it('R82: reviews that several people sign at once are all in the chain', async () => {
    const store = await archived();
    const names = ['Ana', 'Bo', 'Cy', 'Di', 'Ed'];
    const reviews = await Promise.all(names.map((by) => reviewOf(store, by)));
    const signed = await Promise.all(reviews.map((review) => sign(store, review)));
    expect(signed.map(({ review }) => review.number).toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6]);
    await expectIntact(store, ...names);
  });

  it('R82: a review that is signed again after a crash at any moment is in the chain once', async () => {
    let deaths = 0;
    for (const when of ['before', 'after'] as const) {
      for (let change = 1; change <= 4; change += 1) {
        const store = await archived();
        const review = await reviewOf(store, 'Ana');
        store.death = { change: store.changes + change, when };
        await sign(store, review).catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
          deaths += 1;
        });
        store.death = undefined;
        await sign(store, review);
        await expectIntact(store, 'Ana');
      }
    }
    expect(deaths).toBeGreaterThanOrEqual(4);
  });

  it.each(['entries', 'a gap', 'a drop'] as const)(
    'a writer that commits %s while a review is signed takes the next number',
    async (what) => {
      const store = await archived();
      const writer = await writerOf(store);
      if (what === 'entries') await writer.add([entry(END + 1), entry(START + DAY_MS * 2)]);
      await sign(store, await reviewOf(store, 'Ana'));
      await sign(store, await reviewOf(store, 'Bo'));
      const readTo = END + 40 * DAY_MS;
      if (what === 'a drop') await writer.add([entry(readTo - 1)]);
      if (what === 'a gap') await writer.commitGap({ from: END, to: readTo });
      else await writer.commit({ settled: END, readTo, newest: undefined, passed: [] });
      await sign(store, await reviewOf(store, 'Cy'));
      if (what === 'a drop') await new Retention(0, 'root@vault').apply(writer, { service: readTo, machine: readTo });
      expect((await findArchive(store))?.last.record.sequence).toBe(what === 'a drop' ? 6 : 5);
      expect([...store.files.keys()].filter((name) => name.includes('part-00000002'))).toEqual([]);
      await expectIntact(store, 'Ana', 'Bo', 'Cy');
      expect(fs.readdirSync(work)).toEqual([]);
    },
  );

  it('a review is refused when entries of its day were archived or dropped after it was made', async () => {
    for (const change of ['late entries', 'a drop']) {
      const store = await archived();
      const review = await reviewOf(store, 'Ana');
      const writer = await writerOf(store);
      const readTo = END + 40 * DAY_MS;
      await writer.add([entry(change === 'a drop' ? readTo - 1 : START + DAY_MS + 2)]);
      await writer.commit({ settled: END, readTo, newest: undefined, passed: [] });
      if (change === 'a drop') await new Retention(0, 'root@vault').apply(writer, { service: readTo, machine: readTo });
      await expect(sign(store, review)).rejects.toMatchObject({ code: 'conflict', exitCode: 6 });
      await expectIntact(store);
    }
  });

  it('a review is refused when its day got a gap after it was made, which the record would not state', async () => {
    const store = await archived();
    const day = '2026-03-04';
    const review = { ...(await reviewOf(store, 'Ana')), of: 'access', from: day, to: day, entries: 0 };
    await (await writerOf(store)).commitGap({ from: END, to: END + 1 });
    await expect(sign(store, review)).rejects.toMatchObject({ code: 'conflict' });
    await expectIntact(store);
  });

  it('a review of a record that the archive does not have is refused', async () => {
    const store = await archived();
    const review = { ...(await reviewOf(store, 'Ana')), record_sha256: '1'.repeat(64) };
    await expect(sign(store, review)).rejects.toMatchObject({ code: 'checksum_mismatch' });
    await expectIntact(store);
  });

  it('a review that is signed again with another note is recorded with that note', async () => {
    const store = await archived();
    const review = await reviewOf(store, 'Ana');
    await sign(store, review);
    const { hash, earlier } = await sign(store, { ...review, note: 'SEC-41' });
    expect([typeof hash, earlier.length]).toEqual(['string', 1]);
    expect((await readManifest(store)).reviews.map(({ note }) => note)).toEqual([undefined, 'SEC-41']);
  });

  it('R82: a day is reviewed by its newest review, unless that is older than an entry, and not by one of access', async () => {
    const store = await archived();
    const state = async (): Promise<unknown> => {
      const days = statusOf(await readManifest(store), { since: START + DAY_MS, now: START + 2 * DAY_MS });
      return days.map(({ day, state: found, reviews, by, late }) => [day, found, reviews, by, late]);
    };
    await sign(store, { ...(await reviewOf(store, 'Ana')), of: 'access' });
    expect(await state()).toEqual([['2026-03-02', 'open', 0, null, 0]]);
    await sign(store, await reviewOf(store, 'Bo'));
    expect(await state()).toEqual([['2026-03-02', 'reviewed', 1, 'Bo', 0]]);
    const writer = await writerOf(store);
    await writer.add([entry(START + DAY_MS + 2)]);
    await writer.commit({ settled: START, readTo: END + 1, newest: undefined, passed: [] });
    expect(await state()).toEqual([['2026-03-02', 'open', 1, 'Bo', 1]]);
    await sign(store, { ...(await reviewOf(store, 'Cy')), entries: 2 });
    expect(await state()).toEqual([['2026-03-02', 'reviewed', 2, 'Cy', 0]]);
  });
});
