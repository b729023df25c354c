import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import type { LocalFile } from '../../../src/client/store/store.ts';
import { beginArchive, findArchive } from '../../../src/logs/archive/manifest.ts';
import { ARCHIVE } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt } from '../../../src/logs/entry.ts';
import { LEFT_BY_RUN } from '../../../src/logs/prove/listed-files.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import { readArchive } from './archived.ts';
import { buildArchive, openStore, TENANT } from './build.ts';

const START = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;

/** A disk on which only a given number of writes succeed. */
class FullDisk extends DirectoryStore {
  left = Infinity;

  override async create(file: string, content: LocalFile | string): Promise<'created' | 'exists'> {
    this.#write(file);
    return super.create(file, content);
  }

  override async put(file: string, text: string): Promise<void> {
    this.#write(file);
    return super.put(file, text);
  }

  #write(file: string): void {
    this.left -= 1;
    if (this.left < 0) throw new SvcError('local', `cannot write ${file}: the disk is full`);
  }
}

function fullDisk(top: string): FullDisk {
  const signal = new AbortController().signal;
  return new FullDisk(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal }, ARCHIVE);
}

/** Returns all problems but the segments whose entries the next run adds. */
async function problems(top: string): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of verifyArchive(openStore(top), {}, nothingVerified()))
    for (const { problem, path: where, message } of batch)
      if (!where.startsWith('tenant=') || message !== LEFT_BY_RUN) found.push(`${problem} ${where}: ${message}`);
  return found;
}

/** Commits entries of two days with a long position: two segments, a position, a record, the head and two indexes. */
function commit(store: DirectoryStore, hour: number): Promise<void> {
  return store.lock(async () => {
    const found = await findArchive(store);
    const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => START });
    const times = [START + hour * HOUR, START + (hour + 24) * HOUR];
    await writer.add(
      times.map((at, index) => ({
        tenant_id: TENANT,
        entity_id: `e-${index}`,
        message: `entry ${hour} ${index}`,
        created_at: new Date(at).toISOString(),
      })),
    );
    const passed = Array.from({ length: 30 }, (_, index) => [`key ${index}`, START, 1] as const);
    await writer.commit({ settled: START, readTo: times[1]! + 1, newest: undefined, passed });
  });
}

describe('a run that fails on a full disk', () => {
  it('R76: verify reports no damage after a failed write, and the next run completes the archive', async () => {
    const { top } = await buildArchive(START, []);
    let writes = 0;
    for (let isDone = false; !isDone; writes += 1) {
      const disk = fullDisk(top);
      disk.left = writes;
      isDone = await commit(disk, 48).then(
        () => true,
        () => false,
      );
      expect(await problems(top), `after ${writes} writes`).toEqual([]);
    }
    expect(writes).toBeGreaterThan(5);
    await commit(openStore(top), 96);
    expect(await problems(top)).toEqual([]);
  });

  it('R33: entries that a run stored before its disk was full are archived by the next run, which reads nothing', async () => {
    const { top } = await buildArchive(START, []);
    const disk = fullDisk(top);
    disk.left = 3;
    await expect(commit(disk, 48)).rejects.toMatchObject({ code: 'local' });
    const store = openStore(top);
    await store.lock(async () => {
      const found = await findArchive(store);
      await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => START });
    });
    expect((await readArchive(store)).logs.map(({ message }) => message)).toEqual(['entry 48 0', 'entry 48 1']);
    expect(await problems(top)).toEqual([]);
  });

  it('R33: a run removes no file from a bucket after a failed write, because another machine may be about to name it', async () => {
    const { top } = await buildArchive(START, []);
    const disk = Object.assign(fullDisk(top), { left: 3, isRemote: true });
    const removed: string[] = [];
    disk.remove = async (file) => void removed.push(file);
    await expect(commit(disk, 48)).rejects.toThrow(/^cannot write /);
    expect(removed).toEqual([]);
  });

  it('R70: a run reports its own failure when the files that it wrote cannot be removed either', async () => {
    const { top } = await buildArchive(START, []);
    const disk = fullDisk(top);
    disk.left = 2;
    disk.remove = () => Promise.reject(new SvcError('local', 'cannot remove a file'));
    await expect(commit(disk, 48)).rejects.toThrow(/^cannot write .*: the disk is full$/);
  });

  it('R76: a new archive can be started again until its first commit succeeds', async () => {
    const { top } = await buildArchive(START, []);
    fs.rmSync(path.join(top, '_manifest'), { recursive: true });
    const disk = fullDisk(top);
    disk.left = 1;
    const begin = { position: beginAt(START), since: START, now: START };
    const subject = { service: 'https://vault.example', tenantId: TENANT };
    await expect(disk.lock(() => beginArchive(disk, subject, begin))).rejects.toMatchObject({ code: 'local' });
    // The first record exists without a head, and the next run fails when it writes the head.
    for (const left of [0, 1, 2, 3, 4, 5, 6]) {
      disk.left = left;
      await commit(disk, 48).catch(() => undefined);
      expect(await problems(top), `after ${left} writes`).toEqual([]);
    }
  });
});
