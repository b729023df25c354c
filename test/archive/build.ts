import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { appendRecord } from '../../src/archive/chain.ts';
import { DirectoryStore } from '../../src/archive/directory-store.ts';
import type { Link, Segment } from '../../src/archive/record.ts';
import { toStored } from '../../src/archive/standing.ts';
import { systemClock } from '../../src/clock.ts';
import type { Log } from '../../src/schema/log.ts';
import { entryOf, NO_TIME } from '../../src/tail/entry.ts';
import { Tally } from '../../src/tail/tally.ts';

/** The tenant whose archives are built here. */
export const TENANT = '0f2a9c4e-1111-4222-8333-444455556666';
const SERVICE = 'https://vault.example';

/** One commit of an archive: up to a time (epoch milliseconds), entries and late ones, or a gap up to that time. */
export interface Commit {
  readonly to: number;
  readonly entries?: readonly Log[];
  readonly late?: readonly Log[];
  readonly gap?: boolean;
}

/** An archive in a directory of its own, which goes when the test ends. */
export async function buildArchive(from: number, commits: readonly Commit[], settledTo = from) {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-built-'));
  onTestFinished(() => fs.rmSync(top, { recursive: true, force: true }));
  const store = openStore(top);
  const links = await store.lock(async () => {
    const passed = new Tally();
    let readTo = from;
    let last = await appendRecord(store, undefined, {
      kind: 'begin',
      service: SERVICE,
      tenant_id: TENANT,
      written_at: iso(from),
      standing: toStored({ settled: from, readTo: from, newest: undefined, passed: [] }),
    });
    const links: Link[] = [last];
    for (const { to, entries = [], late = [], gap = false } of commits) {
      for (const log of [...entries, ...late]) passed.add(entryOf(log));
      const standing = { settled: settledTo, readTo: to, newest: undefined, passed: passed.lines() };
      const more = { written_at: iso(to), standing: toStored(standing) };
      const number = last.record.sequence + 1;
      const segments = [...writeDays(top, number, entries, false), ...writeDays(top, number, late, true)];
      last = await appendRecord(
        store,
        last,
        gap
          ? { kind: 'gap', from: iso(readTo), to: iso(to), ...more }
          : { kind: 'segments', segments, read_from: iso(readTo), read_to: iso(to), ...more },
      );
      links.push(last);
      readTo = to;
    }
    return links;
  });
  return { top, store, links };
}

/** A store over a directory. */
export function openStore(top: string): DirectoryStore {
  const signal = new AbortController().signal;
  return new DirectoryStore(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal });
}

/** All files below a directory, as paths with `/`, in order. */
export function filesIn(top: string): string[] {
  return fs
    .readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((file) => fs.statSync(path.join(top, file)).isFile() && !file.startsWith('.'))
    .toSorted();
}

function writeDays(top: string, number: number, logs: readonly Log[], supplementary: boolean): Segment[] {
  const days = new Map<string, Log[]>();
  for (const log of logs) {
    const { at } = entryOf(log);
    const day = at === NO_TIME ? 'unknown' : iso(at).slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), log]);
  }
  return Array.from(days, ([day, found]) => writeSegment(top, { number, day, logs: found, supplementary }));
}

/** Writes the file of a segment, in order of time, and says what a record says of it. */
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
  const [first, last] = [times[0], times.at(-1)];
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
