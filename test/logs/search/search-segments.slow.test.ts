import fs from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/logs/archive/manifest.ts';
import {
  type EntrySource,
  merged,
  type SearchOptions,
  searchSegments,
  type Timed,
} from '../../../src/logs/search/search-segments.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, type Commit, openStore, TENANT } from '../archive/build.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;

function log(at: number, message: string): Log {
  return { tenant_id: TENANT, message, created_at: new Date(START + at).toISOString() };
}

async function searched(top: string, options: Partial<SearchOptions> = {}) {
  const store = openStore(top);
  const { segments } = await readManifest(store, options);
  const found: string[] = [];
  let read = 0;
  const onRead = (entries: number): void => void (read += entries);
  const all = { segments, matches: () => true, onRead, ...options };
  for await (const batch of searchSegments(store, all)) found.push(...batch.map(({ message }) => message ?? ''));
  return { found, read };
}

const COMMITS: readonly Commit[] = [
  { to: START + HOUR, entries: [log(0, 'a'), log(1000, 'c'), log(2000, 'f')] },
  {
    to: START + 6 * HOUR,
    entries: [log(HOUR, 'h'), log(5 * HOUR, 'j'), { created_at: 'lately', message: 'z' }],
    late: [log(500, 'b'), log(1000, 'd'), log(HOUR - 1, 'g')],
  },
  { to: START + 7 * HOUR, entries: [log(6 * HOUR, 'k')], late: [log(1000, 'e'), log(2 * HOUR, 'i')] },
];

describe('a search of an archive', () => {
  it('a search returns the entries of its interval, and reads no file without any', async () => {
    const { top } = await buildArchive(START, COMMITS);
    const { found, read } = await searched(top, { since: START + 1000, until: START + HOUR });
    expect(found.join('')).toBe('cdefg');
    expect(read).toBe(8);
    expect((await searched(top, { since: START + 5 * HOUR })).found.join('')).toBe('jk');
    expect((await searched(top, { until: START })).found).toEqual([]);
    expect((await searched(top, { since: START + 9 * HOUR })).read).toBe(0);
  });

  it('a search checks each file that it starts to read, even if it stops after the first entry', async () => {
    const { top } = await buildArchive(START, COMMITS);
    const { segments } = await readManifest(openStore(top));
    const [first, , , last] = segments;
    const bytes = fs.readFileSync(path.join(top, last!.path));
    fs.writeFileSync(path.join(top, last!.path), Buffer.from(bytes).fill(0, 12, 15));
    expect((await searched(top, { limit: 2 })).found).toEqual(['a', 'b']);
    await expect(searched(top)).rejects.toMatchObject({
      code: 'checksum_mismatch',
      message: expect.stringContaining(last!.path) as string,
    });
    fs.writeFileSync(path.join(top, first!.path), Buffer.concat([fs.readFileSync(path.join(top, first!.path)), bytes]));
    await expect(searched(top, { limit: 1 })).rejects.toMatchObject({ code: 'checksum_mismatch' });
    fs.rmSync(path.join(top, first!.path));
    await expect(searched(top)).rejects.toMatchObject({ message: expect.stringContaining(first!.path) as string });
  });

  it('a search of any archive returns what sorting all entries would', async () => {
    const entry = fc.record({ at: fc.integer({ min: 0, max: 60 * HOUR }), word: fc.constantFrom('x', 'y') });
    const commit = fc.record({ entries: fc.array(entry, { maxLength: 20 }), late: fc.array(entry, { maxLength: 8 }) });
    const bound = fc.option(fc.integer({ min: 0, max: 60 * HOUR }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(commit, { maxLength: 8 }), bound, bound, async (commits, since, until) => {
        const built = commits.map(({ entries, late }, index) => ({
          to: START + (index + 1) * HOUR,
          entries: entries.map(({ at, word }) => log(at, `${at} ${word}`)),
          late: late.map(({ at, word }) => log(at, `${at} ${word}`)),
        }));
        const { top } = await buildArchive(START, built);
        try {
          const bounds = {
            since: since === undefined ? undefined : START + since,
            until: until === undefined ? undefined : START + until,
          };
          const { found } = await searched(top, { ...bounds, matches: endsWithX });
          const due = built
            .flatMap(({ entries, late }) => entries.concat(late))
            .map(({ message }) => message ?? '')
            .filter((message) => message.endsWith('x'))
            .filter((message) => timeOf(message) >= (since ?? 0) && timeOf(message) < (until ?? Infinity));
          expect(found.map(timeOf)).toEqual(due.map(timeOf).toSorted((one, other) => one - other));
          expect(found.toSorted()).toEqual(due.toSorted());
        } finally {
          fs.rmSync(top, { recursive: true });
        }
      }),
      { numRuns: process.env['SOAK'] === '1' ? 500 : 8 },
    );
  });
});

describe('sources of entries', () => {
  it('a source opens only when the others have reached its first entry, and all sources close when the reader stops', async () => {
    const events: string[] = [];
    const source = (name: string, ...times: number[]): EntrySource => ({
      first: times[0] ?? 0,
      async *read() {
        events.push(`+${name}`);
        try {
          for (const at of times) yield [{ at, log: { created_at: `${name}${at}` } }];
        } finally {
          events.push(`-${name}`);
        }
      },
    });
    const seen: Timed[] = [];
    for await (const batch of merged([source('a', 1, 2, 9), source('c', 8, 9), source('b', 3, 4)])) seen.push(...batch);
    expect(seen.map(({ at }) => at)).toEqual([1, 2, 3, 4, 8, 9, 9]);
    expect(events.join('')).toBe('+a+b-b+c-a-c');
    events.length = 0;
    const stopped = merged([source('a', ...Array.from({ length: 600 }, (_, at) => at)), source('b', 5, 6)]);
    await stopped.next();
    await stopped.return(undefined);
    expect(events.toSorted().join('')).toBe('+a+b-a-b');
  });

  it('segments start early, fail only in their turn, and all end once enough was read', async () => {
    const events: string[] = [];
    const source = (name: string, times: readonly number[], isSegment = true): EntrySource => ({
      first: times[0] ?? 0,
      isSegment,
      async *read() {
        events.push(`+${name}`);
        for (const at of times) yield [{ at, log: { created_at: `${name}${at}` } }];
        if (name === 'b') throw new Error('damaged');
        events.push(`-${name}`);
      },
    });
    const sources = [source('a', [1, 2]), source('b', [5, 6]), source('c', [9]), source('live', [9, 10], false)];
    const seen: number[] = [];
    const read = async (isOver: () => boolean): Promise<void> => {
      for await (const batch of merged(sources, 1, isOver)) seen.push(...batch.map(({ at }) => at));
    };
    await read(() => seen.length >= 1);
    expect([seen, events.slice(0, 2), events.includes('-a')]).toEqual([[1, 2], ['+a', '+b'], true]);
    expect(events).not.toContain('+live');
    seen.length = 0;
    await expect(read(() => false)).rejects.toThrow('damaged');
    expect(seen).toEqual([1, 2, 5, 6]);
  });
});

function timeOf(message: string): number {
  return Number.parseInt(message, 10);
}

function endsWithX({ message }: Log): boolean {
  return message?.endsWith('x') === true;
}
