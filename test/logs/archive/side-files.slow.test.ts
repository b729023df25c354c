import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import type { Finding } from '../../../src/logs/archive/records/chain.ts';
import {
  beginArchive,
  findArchive,
  readManifest,
  readManifestAndPosition,
} from '../../../src/logs/archive/manifest.ts';
import { recordPath } from '../../../src/logs/archive/records/record.ts';
import { nextCheckpoint, readPosition } from '../../../src/logs/archive/side-files.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt, type TailPosition } from '../../../src/logs/entry.ts';
import { Killed } from '../model.ts';
import { MemoryStore } from './memory-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;

/** A store that remembers which files were read. */
class WatchedStore extends MemoryStore {
  readonly reads: string[] = [];

  override async read(file: string): Promise<Uint8Array | undefined> {
    this.reads.push(file);
    return super.read(file);
  }
}

let work: string;
let store: WatchedStore;

beforeEach(() => {
  work = temporaryDirectory();
  store = new WatchedStore(work);
});

async function writer(): Promise<ArchiveWriter> {
  const begin = { position: beginAt(START), since: START, now: START };
  const subject = { service: 'https://vault.example', tenantId: 't' };
  const last = (await findArchive(store))?.last ?? (await beginArchive(store, subject, begin));
  return ArchiveWriter.open(store, last, { tenantId: 't', now: () => START });
}

function positionAt(minute: number, passed: number): TailPosition {
  const at = START + minute * MINUTE;
  const lines = Array.from({ length: passed }, (_, index) => [`key ${minute} ${index}`, at, 1] as const);
  return { settled: at - MINUTE, readTo: at, newest: at, passed: lines };
}

/** Commits records up to a number, each with one entry and a given number of passed entries. */
async function commitTo(record: number, passed = 0): Promise<ArchiveWriter> {
  const to = await writer();
  for (let minute = to.last.record.sequence + 1; minute <= record; minute += 1) {
    const created_at = new Date(START + (minute - 0.5) * MINUTE).toISOString();
    await to.add([{ tenant_id: 't', message: `did ${minute}`, created_at }]);
    await to.commit(positionAt(minute, passed));
  }
  return to;
}

function sideFiles(): string[] {
  const found = [...store.files.keys()].map(
    (file) => /^_manifest\/((?:position|checkpoint)-\d+)/.exec(file)?.[1] ?? '',
  );
  return found.filter((name) => name !== '').toSorted();
}

function fileOf(name: string): string {
  return [...store.files.keys()].find((file) => file.startsWith(`_manifest/${name}-`)) ?? '';
}

async function findings(): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const batch of verifyArchive(store, {}, nothingVerified())) found.push(...batch);
  return found;
}

/** Changes a file that the newest record names, and makes all hashes match again. */
function forge(name: string, change: (text: string) => string): void {
  const file = fileOf(name);
  const [before, changed] = [store.files.get(file)?.toString() ?? '', change(store.files.get(file)?.toString() ?? '')];
  const newest =
    [...store.files.keys()]
      .filter((each) => /\/\d+\.json$/.test(each))
      .toSorted()
      .at(-1) ?? '';
  const record = (store.files.get(newest)?.toString() ?? '').replaceAll(sha256Of(before), sha256Of(changed));
  store.files.set(file, Buffer.from(changed));
  store.files.set(newest, Buffer.from(record));
  const head = (store.files.get('_manifest/head.json')?.toString() ?? '').replace(/[0-9a-f]{64}/, sha256Of(record));
  store.files.set('_manifest/head.json', Buffer.from(head));
}

describe('the position of an archive', () => {
  it('a small position is in its record, and a large one in a file beside the two newest records', async () => {
    await commitTo(3, 20);
    expect(sideFiles()).toEqual([]);
    const { last } = await commitTo(6, 21);
    expect(sideFiles()).toEqual(['position-00000005', 'position-00000006']);
    expect(await readPosition(store, last)).toEqual(positionAt(6, 21));
    expect(store.files.get(recordPath(6))?.length).toBeLessThan(1000);
    await commitTo(8);
    expect(sideFiles()).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  it('reading the manifest starts again when a run removes its position file meanwhile', async () => {
    await commitTo(3, 30);
    class BusyStore extends WatchedStore {
      isBusy = true;

      override async read(file: string): Promise<Uint8Array | undefined> {
        if (this.isBusy && file.includes('position-00000003')) {
          this.isBusy = false;
          await commitTo(6, 30);
        }
        return super.read(file);
      }
    }
    const { files } = store;
    store = new BusyStore(work);
    for (const [file, bytes] of files) store.files.set(file, bytes);
    const { position, last, segments } = await readManifestAndPosition(store, {});
    expect([last.record.sequence, segments.length]).toEqual([6, 6]);
    expect(position).toEqual(positionAt(6, 30));
    store.files.delete(fileOf('position-00000006'));
    await expect(readManifestAndPosition(store, {})).rejects.toThrow('is damaged: it is missing');
  });

  it('position files stay beside older records when the credentials cannot remove files', async () => {
    class KeepingStore extends WatchedStore {
      override async remove(): Promise<void> {
        throw new SvcError('forbidden', 'the store refuses');
      }
    }
    store = new KeepingStore(work);
    await commitTo(4, 30);
    expect(sideFiles()).toHaveLength(4);
    expect(await findings()).toEqual([]);
  });

  it('R33: the position is complete whether a run died before or after any change of the store', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let change = 1, died = true; died; change += 1) {
        store = new WatchedStore(work);
        const dying = await commitTo(3, 30);
        store.death = { change: store.changes + change, when };
        const commit = dying.commit(positionAt(4, 30));
        died = await commit.then(
          () => false,
          (error: unknown) => error instanceof Killed,
        );
        store.death = undefined;
        const { last } = (await findArchive(store))!;
        expect(await readPosition(store, last)).toEqual(positionAt(last.record.sequence, 30));
        const left = (await findings()).filter(({ message }) => !message.includes('a killed run left it'));
        expect(left).toEqual([]);
        await commitTo(last.record.sequence + 1, 30);
        expect(sideFiles()).toHaveLength(2);
        expect(await findings()).toEqual([]);
      }
    }
  });

  it('R33: a changed position file is not used, and verify names it', async () => {
    const { last } = await commitTo(2, 30);
    const file = fileOf('position-00000002');
    store.files.set(file, Buffer.from(store.files.get(file)?.toString().replace('key 2 0', 'key 9 9') ?? ''));
    await expect(readPosition(store, last)).rejects.toThrow(`${file} is damaged: it was changed`);
    expect((await writer()).damage).toMatchObject({ code: 'checksum_mismatch', facts: { path: file } });
    expect(await findings()).toEqual([{ problem: 'damaged', path: file, message: 'it was changed' }]);
    store.files.delete(file);
    expect(await findings()).toEqual([{ problem: 'missing', path: file, message: 'it is missing' }]);
  });
});

describe('a checkpoint of records', () => {
  it('a search reads the checkpoint instead of the records before it', async () => {
    await commitTo(255);
    expect(sideFiles()).toEqual([]);
    await commitTo(515);
    expect(sideFiles()).toEqual(['checkpoint-00000512']);
    store.reads.splice(0);
    const { segments, coverage, first } = await readManifest(store);
    expect(new Set(store.reads).size).toBe(7);
    expect(segments).toHaveLength(515);
    expect(first.tenant_id).toBe('t');
    expect(coverage.covered()).toEqual([{ from: START, to: START + 515 * MINUTE }]);
    expect(await findings()).toEqual([]);
  });

  it('a checkpoint is not replaced by one that would be too long to read', async () => {
    const { last } = await commitTo(511);
    const old = last.record.checkpoint;
    expect(await nextCheckpoint(store, last, 10_000)).toEqual(old);
    expect((await nextCheckpoint(store, last))?.path).toContain('checkpoint-00000512');
  });

  it('R33: a search reads the records when a checkpoint is gone or damaged, and verify names the file', async () => {
    await commitTo(258);
    const whole = await readManifest(store);
    const file = fileOf('checkpoint-00000256');
    const text = store.files.get(file)?.toString() ?? '';
    for (const [bytes, message] of [
      [text.replace('did', 'DID').slice(1), 'it was changed'],
      [undefined, 'it is missing'],
    ] as const) {
      if (bytes === undefined) store.files.delete(file);
      else store.files.set(file, Buffer.from(bytes));
      expect((await readManifest(store)).segments).toEqual(whole.segments);
      expect(await findings()).toMatchObject([{ path: file, message }]);
    }
  });

  it('R33: verify finds a checkpoint that contradicts the records even when all hashes match', async () => {
    await commitTo(256);
    forge('checkpoint-00000256', (text) => text.replace(/"entries":1/, '"entries":2'));
    expect((await findings()).map(({ message }) => message)).toEqual(['it contradicts the records']);
  });

  it('a search checks the chain after a checkpoint', async () => {
    await commitTo(258);
    const record = store.files.get(recordPath(257))?.toString() ?? '';
    store.files.set(recordPath(257), Buffer.from(record.replace('"entries":1', '"entries":2')));
    await expect(readManifest(store)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });
});
