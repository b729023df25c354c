import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginArchive, findArchive } from '../../../src/logs/archive/manifest.ts';
import { recordPath } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt, type TailPosition } from '../../../src/logs/entry.ts';
import { nothingVerified, verifyArchive } from '../../../src/logs/prove/verify.ts';
import type { Log } from '../../../src/schema/log.ts';
import { Killed } from '../model.ts';
import { readArchive } from './archived.ts';
import { MemoryStore } from './memory-store.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;
const TENANT = 't';

let work: string;
let store: MemoryStore;

beforeEach(async () => {
  work = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-leftovers-'));
  store = new MemoryStore(work);
  const subject = { service: 'https://vault.example', tenantId: TENANT };
  await beginArchive(store, subject, { position: beginAt(NOON), since: undefined, now: NOON });
});

afterEach(() => {
  fs.rmSync(work, { recursive: true, force: true });
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
