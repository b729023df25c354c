import fs from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { beginArchive, findArchive } from '../../../src/logs/archive/manifest.ts';
import type { ArchiveRecord } from '../../../src/logs/archive/records/record.ts';
import { ArchiveSync } from '../../../src/logs/archive/sync.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt, type TailPosition } from '../../../src/logs/entry.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { readArchive } from './archived.ts';
import { MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;
const TENANT = 't/1';

let work: string;
let store: MemoryStore;

beforeEach(() => {
  work = temporaryDirectory();
  store = new MemoryStore(work);
});

async function writerOn(at = store): Promise<ArchiveWriter> {
  const subject = { service: 'https://vault.example', tenantId: TENANT };
  if (!(await findArchive(at)))
    await beginArchive(at, subject, { position: beginAt(NOON), since: undefined, now: NOON });
  const found = await findArchive(at);
  return ArchiveWriter.open(at, found!.last, { tenantId: TENANT, now: () => NOON + HOUR });
}

function log(at: number, message = 'did', more: Partial<Log> = {}): Log {
  return { tenant_id: TENANT, message, created_at: new Date(at).toISOString(), ...more };
}

function positionAt(readTo: number): TailPosition {
  return { settled: readTo - 60_000, readTo, newest: readTo, passed: [] };
}

async function segments(): Promise<Extract<ArchiveRecord, { kind: 'segments' }>['segments'][]> {
  const { links } = await readArchive(store);
  return links.flatMap(({ record }) => (record.kind === 'segments' ? [record.segments] : []));
}

describe('the writer of an archive', () => {
  it('an archive goes on and verifies where the credentials cannot remove files', async () => {
    store.remove = () => Promise.reject(new SvcError('forbidden', 'the store refuses'));
    const writer = await writerOn();
    for (let at = 1; at <= 17; at += 1) {
      await writer.add([log(NOON + at, `did ${at}`, { actor: '6d2f3d0e-2b1a-4b43-9d3e-0d4c5b6a7f80' })]);
      await writer.commit(positionAt(NOON + at * 120_000));
    }
    const names = [...store.files.keys()].filter((name) => name.startsWith('_index/'));
    expect(names).toHaveLength(17);
    for await (const findings of verifyArchive(store, {}, nothingVerified())) expect(findings).toEqual([]);
  });

  it('a writer reports that another one was faster also where the credentials cannot remove files', async () => {
    store.remove = () => Promise.reject(new SvcError('forbidden', 'the store refuses'));
    const [one, other] = [await writerOn(), await writerOn()];
    await one.add([log(NOON + 1, 'one')]);
    await one.commit(positionAt(NOON + 2));
    await other.add([log(NOON + 1, 'other')]);
    await expect(other.commit(positionAt(NOON + 2))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('the writer puts each day, late entries and entries without a time into separate segments', async () => {
    const writer = await writerOn();
    await writer.add([log(NOON), log(NOON + 1), log(NOON + 13 * HOUR), log(NOON, 'late'), log(0, 'odd')]);
    await writer.add([log(NOON, 'x', { created_at: 'soon' }), log(NOON + 14 * HOUR)]);
    await writer.add([log(NOON, 'x', { created_at: '9999-12-31T23:59:59-05:00' })]);
    await writer.commit(positionAt(NOON + 15 * HOUR));
    const [first = []] = await segments();
    const kinds = first.map(({ path: at, entries, supplementary }) => [
      at.replace(/-[0-9a-f]{12}/, ''),
      entries,
      supplementary,
    ]);
    expect(kinds).toEqual([
      ['tenant=t%2F1/date=2026-01-05/part-00000001.jsonl.gz', 2, false],
      ['tenant=t%2F1/date=2026-01-06/part-00000001.jsonl.gz', 2, false],
      ['tenant=t%2F1/date=unknown/part-00000001.jsonl.gz', 2, false],
      ['tenant=t%2F1/date=1970-01-01/part-00000001.jsonl.gz', 1, true],
      ['tenant=t%2F1/date=2026-01-05/part-00000001.jsonl.gz', 1, true],
    ]);
    expect(first[2]).toMatchObject({ first: null, last: null });
    expect(writer.written).toMatchObject({ entries: 8, late: 2, segments: 5 });
    expect(fs.readdirSync(work)).toEqual([]);
    for await (const findings of verifyArchive(store, {}, nothingVerified())) expect(findings).toEqual([]);
  });

  it('a writer that was killed after a gap goes on as at the beginning of a log, with no entry that is the newest', async () => {
    const writer = await writerOn();
    await writer.add([log(NOON + 1)]);
    await writer.commit(positionAt(NOON + HOUR));
    await writer.commitGap({ from: NOON + HOUR, to: NOON + 3 * HOUR });
    expect((await writerOn()).position).toEqual(beginAt(NOON + 3 * HOUR));
  });

  it('the writer marks entries before an earlier commit as late, and never writes the same file twice', async () => {
    const writer = await writerOn();
    await writer.add([log(NOON)]);
    await writer.commit(positionAt(NOON + HOUR));
    await writer.add([log(NOON), log(NOON + HOUR)]);
    await writer.commit(positionAt(NOON + 2 * HOUR));
    // A late copy of an entry would result in a segment with the same bytes as the first one.
    await writer.add([log(NOON + 3 * HOUR), log(NOON + 13 * HOUR), log(NOON + 3 * HOUR)]);
    await writer.commit(positionAt(NOON + 14 * HOUR));
    const kinds = (await segments()).map((each) => each.map(({ supplementary }) => supplementary));
    expect(kinds).toEqual([[false], [false, true], [false, false, true]]);
    expect((await readArchive(store)).logs).toHaveLength(6);
  });

  it('the writer adds no record when nothing is new', async () => {
    const writer = await writerOn();
    await writer.commit(positionAt(NOON));
    expect(writer.last.record.sequence).toBe(0);
    await writer.commit(positionAt(NOON + 1));
    expect(writer.last.record).toMatchObject({ sequence: 1, segments: [], read_to: iso(NOON + 1) });
    await writer.commit(positionAt(NOON - HOUR));
    expect(writer.last.record.sequence).toBe(1);
  });

  it('the writer states no time range that ends before it begins', async () => {
    const writer = await writerOn();
    writer.beginAt(NOON + 2 * HOUR);
    await writer.add([log(NOON + 3 * HOUR)]);
    await writer.commit(positionAt(NOON + HOUR));
    const from = iso(NOON + 2 * HOUR);
    expect(writer.last.record).toMatchObject({ read_from: from, read_to: from });
  });

  it("the writer keeps other tenants' entries in separate folders, in order of time, whatever their ids are", async () => {
    const ids = ['t-2', '..', '\ud800', '', 'long'.repeat(200)];
    const times = [NOON + HOUR, NOON + 13 * HOUR, NOON, NOON - HOUR];
    const writer = await writerOn();
    for (const at of times) await writer.add(['t/1', ...ids].map((id) => log(at, 'did', { tenant_id: id })));
    await writer.add(ids.map((id) => log(0, 'odd', { tenant_id: id, created_at: 'soon' })));
    await writer.commit(positionAt(NOON + 15 * HOUR));
    expect(writer.written).toMatchObject({ entries: 29, shared: 25 });
    expect((await readArchive(store)).logs).toHaveLength(29);
    const folders = new Set([...store.files.keys()].map((file) => file.replace(/\/.*/, '')));
    const named = [...folders].filter((folder) => !/^tenant=[0-9a-f]{64}$/.test(folder));
    expect(named.toSorted()).toEqual(['_index', '_manifest', 'tenant=..', 'tenant=t%2F1', 'tenant=t-2']);
    expect(folders.size - named.length).toBe(3);
  });

  it('the writer stops without harm when another machine was faster', async () => {
    const [one, other] = [await writerOn(), await writerOn()];
    await one.add([log(NOON, 'same')]);
    await other.add([log(NOON, 'same'), log(NOON + 13 * HOUR, 'more')]);
    await one.commit(positionAt(NOON + HOUR));
    await expect(other.commit(positionAt(NOON + HOUR))).rejects.toMatchObject({ code: 'conflict', exitCode: 6 });
    expect(other.isWhole).toBe(false);
    await expect(other.commit(positionAt(NOON + HOUR))).rejects.toMatchObject({ code: 'bug' });
    expect((await readArchive(store)).logs.map(({ message }) => message)).toEqual(['same']);
  });

  it('the writer accepts no other file with the name of its segment', async () => {
    const writer = await writerOn();
    await writer.add([log(NOON)]);
    await writer.commit(positionAt(NOON + HOUR));
    const name = [...store.files.keys()].find((file) => file.startsWith('tenant=')) ?? '';
    store = new MemoryStore(work);
    const other = await writerOn();
    store.files.set(name, Buffer.from('other'));
    await other.add([log(NOON)]);
    await expect(other.commit(positionAt(NOON + HOUR))).rejects.toMatchObject({ code: 'checksum_mismatch' });
    expect(store.files.get(name)?.toString()).toBe('other');
  });

  it('a commit fails when the disk did not store its entries', async () => {
    const writer = await writerOn();
    fs.rmSync(work, { recursive: true });
    await writer.add([log(NOON)]).catch(() => undefined);
    await expect(writer.commit(positionAt(NOON + HOUR))).rejects.toMatchObject({ code: 'local' });
    fs.mkdirSync(work);
  });
});

describe('an archive that follows', () => {
  it('a following archive commits on time, quiet or not, and when it is interrupted', async () => {
    const clock = new FakeClock({ start: NOON + HOUR, auto: false });
    const ended = new AbortController();
    const logs = [log(NOON + 1000), log(NOON + 2000)];
    const source: LogSource = {
      clock,
      signal: ended.signal,
      now: () => clock.now(),
      async *pages({ from, to }) {
        const items = logs.filter(({ created_at }) => {
          const at = Date.parse(created_at);
          return at >= from && at < to;
        });
        yield { items, next: undefined };
      },
    };
    const writer = await writerOn();
    let commits = 0;
    const following = new ArchiveSync(writer, source, {
      overlapMs: 60_000,
      retentionMs: 24 * HOUR,
      everyMs: 300_000,
      follow: true,
      beginsWithAll: false,
      reopen: async () => writer,
      onCommit: async () => void (commits += 1),
    }).run();
    await expect.poll(() => [writer.waiting, commits]).toEqual([2, 0]);
    await clock.advance(301_000);
    await expect.poll(() => [writer.waiting, commits]).toEqual([0, 1]);
    expect((await readArchive(store)).logs).toHaveLength(2);
    logs.push(log(clock.now() - 5_000, 'more'));
    await clock.advance(60_000);
    await expect.poll(() => [writer.waiting, commits]).toEqual([1, 1]);
    const reason = new SvcError('terminated', 'ended');
    ended.abort(reason);
    await expect(following).rejects.toBe(reason);
    const { logs: archived } = await readArchive(store);
    expect(archived.map(({ message }) => message)).toEqual(['did', 'did', 'more']);
  });
});

function iso(at: number): string {
  return new Date(at).toISOString();
}
