import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { readRecords } from '../../../src/logs/archive/records/chain.ts';
import type { ArchiveRecord, Link } from '../../../src/logs/archive/records/record.ts';
import type { Store } from '../../../src/client/store/store.ts';
import type { Log } from '../../../src/schema/log.ts';

/** The content of an archive. */
export interface Archived {
  readonly logs: readonly Log[];
  readonly links: readonly Link[];
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
}

type Segments = Extract<ArchiveRecord, { kind: 'segments' }>;

/** Reads a whole archive. Throws for an invalid record or segment, and for a file that no record names. */
export async function readArchive(store: Store): Promise<Archived> {
  const logs: Log[] = [];
  const links: Link[] = [];
  const gaps: { from: number; to: number }[] = [];
  const named = new Set<string>();
  let readTo: number | undefined;
  for await (const link of readRecords(store)) {
    const { record } = link;
    links.push(link);
    if (record.kind === 'begin') readTo = Date.parse(record.position.read_to);
    if (record.kind === 'gap') {
      gaps.push({ from: Date.parse(record.from), to: Date.parse(record.to) });
      readTo = Math.max(readTo ?? 0, Date.parse(record.to));
    }
    if (record.kind !== 'segments') continue;
    for (const segment of record.segments) {
      named.add(segment.path);
      logs.push(...(await readSegment(store, segment)));
    }
    readTo = Date.parse(record.read_to);
  }
  for await (const { path } of store.list('tenant='))
    if (!named.has(path)) throw new Error(`${path} is named by no record`);
  return { logs, links, gaps };
}

async function readSegment(store: Store, segment: Segments['segments'][number]): Promise<Log[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.stream(segment.path)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  same(createHash('sha256').update(bytes).digest('hex'), segment.sha256, segment.path);
  same(bytes.length, segment.bytes, segment.path);
  const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
  const logs = lines.map((line) => JSON.parse(line) as Log);
  same(logs.length, segment.entries, segment.path);
  if (segment.path.includes('date=unknown')) return logs;
  const times = logs.map(({ created_at }) => Date.parse(created_at));
  same(
    times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0)),
    true,
    `order of ${segment.path}`,
  );
  same(new Date(times[0] ?? 0).toISOString(), segment.first, segment.path);
  same(new Date(times.at(-1) ?? 0).toISOString(), segment.last, segment.path);
  const day = /date=([^/]+)/.exec(segment.path)?.[1];
  same(segment.first?.slice(0, 10), day, segment.path);
  same(segment.last?.slice(0, 10), day, segment.path);
  return logs;
}

function same(found: unknown, due: unknown, what: string): void {
  if (found !== due) throw new Error(`${what}: ${String(found)} instead of ${String(due)}`);
}
