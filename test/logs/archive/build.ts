import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../../src/base/system.ts';
import { DirectoryStore } from '../../../src/client/store/directory-store.ts';
import { beginArchive } from '../../../src/logs/archive/manifest.ts';
import type { Link, Segment } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { beginAt, entryOf, NO_TIME } from '../../../src/logs/entry.ts';
import type { Log } from '../../../src/schema/log.ts';
import { ARCHIVE } from '../../../src/logs/archive/records/record.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** The tenant of the built archives. */
export const TENANT = '0f2a9c4e-1111-4222-8333-444455556666';
const SERVICE = 'https://vault.example';

/** A commit up to a time (epoch milliseconds): entries and late entries, or a gap up to that time. */
export interface Commit {
  readonly to: number;
  readonly entries?: readonly Log[];
  /** Entries that are added after the others, so that they are late. */
  readonly late?: readonly Log[];
  readonly gap?: boolean;
  /** The number of passed entries in its position. */
  readonly passed?: number;
}

/** Builds an archive in a new directory with the real writer. It is removed when the test ends. */
export async function buildArchive(from: number, commits: readonly Commit[], service = SERVICE) {
  const work = temporaryDirectory();
  const top = path.join(work, 'archive');
  fs.mkdirSync(top);
  const store = openStore(top);
  const links = await store.lock(async () => {
    const begin = { position: beginAt(from), since: from, now: from };
    const first = await beginArchive(store, { service, tenantId: TENANT }, begin);
    const writer = await ArchiveWriter.open(store, first, { tenantId: TENANT, now: () => from });
    const links: Link[] = [first];
    let readTo = from;
    for (const { to, entries = [], late = [], gap = false, passed: count = 0 } of commits) {
      const passed = Array.from({ length: count }, (_, index) => [`key ${index}`, to, 1] as const);
      await writer.add([...entries, ...late]);
      if (gap) await writer.commitGap({ from: readTo, to });
      else await writer.commit({ settled: from, readTo: to, newest: undefined, passed });
      links.push(writer.last);
      readTo = to;
    }
    return links;
  });
  return { top, store, links };
}

/** Opens a store for a directory. */
export function openStore(top: string): DirectoryStore {
  const signal = new AbortController().signal;
  return new DirectoryStore(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal }, ARCHIVE);
}

/** Lists all files below a directory, as sorted paths with `/`. */
export function filesIn(top: string): string[] {
  return fs
    .readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((file) => fs.statSync(path.join(top, file)).isFile() && !file.startsWith('.'))
    .toSorted();
}

/** Writes the file of a segment in order of time, and returns its description for a record. */
export function writeSegment(
  top: string,
  given: { number: number; day: string; logs: readonly Log[]; supplementary: boolean },
): Segment {
  const sorted = given.logs.map(entryOf).toSorted((one, other) => one.at - other.at);
  const text = sorted.map(({ log }) => `${JSON.stringify(log)}\n`).join('');
  const bytes = gzipSync(text, { level: given.supplementary ? 9 : 6 });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const name = `part-${String(given.number).padStart(8, '0')}-${sha256.slice(0, 12)}.jsonl.gz`;
  const file = `tenant=${TENANT}/date=${given.day}/${name}`;
  fs.mkdirSync(path.dirname(path.join(top, file)), { recursive: true });
  fs.writeFileSync(path.join(top, file), bytes);
  const times = sorted.flatMap(({ at }) => (at === NO_TIME ? [] : [at]));
  const first = times[0];
  const last = times.at(-1);
  return {
    path: file,
    entries: sorted.length,
    bytes: bytes.length,
    sha256,
    first: first === undefined ? null : iso(first),
    last: last === undefined ? null : iso(last),
    supplementary: given.supplementary,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
