import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { type ArchiveRecord, recordPath, recordText, type Segment } from '../../../src/logs/archive/records/record.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, filesIn, TENANT, writeSegment } from './build.ts';

const DAY = 86_400_000;
const HEAD = '_manifest/head.json';

/** The archive begins in October, which retention drops, has a gap in December, and ends in January. */
const START = Date.UTC(2025, 9, 28);
const END = Date.UTC(2026, 0, 6);

function entries(from: number, count: number, everyMs: number, more: Partial<Log> = {}): Log[] {
  return Array.from({ length: count }, (_, index) => ({
    tenant_id: TENANT,
    entity_type: 'card',
    operation: 'read',
    message: `entry ${index}`,
    created_at: new Date(from + index * everyMs).toISOString(),
    ...more,
  }));
}

/** An archive with a drop, a gap, late entries, shared ones, one without a time, and a file beside the records. */
export async function archiveToTamper() {
  const built = await buildArchive(START, [
    { to: START + 10 * DAY, entries: entries(START, 10, DAY) },
    {
      to: START + 30 * DAY,
      entries: [...entries(START + 10 * DAY, 5, 4 * DAY), { tenant_id: TENANT, created_at: 'lately' }],
      late: entries(START + 8 * DAY + 1, 2, 1000),
    },
    { to: START + 40 * DAY, gap: true },
    {
      to: END - DAY,
      entries: [
        ...entries(START + 40 * DAY, 7, 4.5 * DAY),
        ...entries(START + 41 * DAY, 2, 1000, { tenant_id: 'other' }),
      ],
    },
    { to: END, passed: 30 },
  ]);
  const hash = await built.store.lock(async () => {
    const found = await findArchive(built.store);
    if (!found) throw new Error('there is no archive');
    const writer = await ArchiveWriter.open(built.store, found.last, { tenantId: TENANT, now: () => END });
    await new Retention(2, 'root@vault').apply(writer, { service: END, machine: END });
    await writer.commit({ settled: END, readTo: END + DAY, newest: undefined, passed: [] });
    return writer.last.sha256;
  });
  return { ...built, hash };
}

export const GAP = { from: START + 30 * DAY, to: START + 40 * DAY };

/** An archive or an unpacked bundle in the hands of a forger. */
export class Tampering {
  readonly top: string;

  constructor(top: string) {
    this.top = top;
  }

  at(name: string): string {
    return path.join(this.top, name);
  }

  files(pattern: RegExp): string[] {
    return filesIn(this.top).filter((name) => pattern.test(name));
  }

  /** Returns the first file of a kind. */
  file(pattern: RegExp): string {
    const [first] = this.files(pattern);
    if (first === undefined) throw new Error(`no file matches ${pattern.source}`);
    return first;
  }

  remove(...names: string[]): void {
    for (const name of names) fs.rmSync(this.at(name), { recursive: true });
  }

  write(name: string, content: string | Buffer): void {
    fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
    fs.writeFileSync(this.at(name), content);
  }

  /** Rewrites a file. Throws if that changes nothing. */
  edit(name: string, change: (text: string) => string): void {
    const before = fs.readFileSync(this.at(name), 'latin1');
    const after = change(before);
    if (after === before) throw new Error(`${name} did not change`);
    fs.writeFileSync(this.at(name), after, 'latin1');
  }

  swap(one: string, other: string): void {
    const first = fs.readFileSync(this.at(one));
    const second = fs.readFileSync(this.at(other));
    fs.writeFileSync(this.at(one), second);
    fs.writeFileSync(this.at(other), first);
  }

  /** Replaces a file or folder by a link to a copy outside the archive. */
  link(name: string): void {
    const moved = `${this.top}.${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
    fs.renameSync(this.at(name), moved);
    fs.symlinkSync(moved, this.at(name));
  }

  records(): ArchiveRecord[] {
    return this.files(/^_manifest\/\d+\.json$/).map(
      (name) => JSON.parse(fs.readFileSync(this.at(name), 'utf8')) as ArchiveRecord,
    );
  }

  /** Writes these records as a chain with matching hashes, and its head. */
  chain(records: readonly ArchiveRecord[], textOf = recordText): void {
    this.remove(...this.files(/^_manifest\/\d+\.json$/));
    let previous: string | null = null;
    for (const [sequence, record] of records.entries()) {
      const text = textOf({ ...record, sequence, previous });
      this.write(recordPath(sequence), text);
      previous = sha256Of(text);
    }
    if (fs.existsSync(this.at(HEAD)))
      this.write(HEAD, `${JSON.stringify({ version: 1, sequence: records.length - 1, sha256: previous })}\n`);
  }

  /** Edits records, and makes all hashes match again. */
  forgeAll(change: (record: ArchiveRecord, at: number) => object): void {
    const records = this.records();
    for (const [at, record] of records.entries()) records[at] = { ...record, ...change(record, at) };
    this.chain(records);
  }

  /** Edits the first record of a kind, and makes all hashes match again. */
  forge<K extends ArchiveRecord['kind']>(
    kind: K,
    change: (record: Extract<ArchiveRecord, { kind: K }>) => object,
  ): void {
    const first = this.records().findIndex((record) => record.kind === kind);
    this.forgeAll((record, at) => (at === first ? change(record as Extract<ArchiveRecord, { kind: K }>) : {}));
  }

  /** Edits the list of segments of each record, and makes all hashes match again. */
  forgeSegments(change: (segments: readonly Segment[]) => readonly object[]): void {
    this.forgeAll((record) => (record.kind === 'segments' ? { segments: change(record.segments) } : {}));
  }

  /** Edits the first segment that no record drops, and makes all hashes match again. */
  forgeSegment(change: (segment: Segment) => object): void {
    const [first] = this.kept('9999');
    this.forgeSegments((segments) =>
      segments.map((segment) => (segment.path === first?.path ? Object.assign(segment, change(segment)) : segment)),
    );
  }

  /** Appends a record as the writer does, without changing earlier hashes. */
  append(content: object): void {
    const records = this.records();
    const last = records.at(-1);
    if (last === undefined) throw new Error('there is no record');
    const { version, position } = last;
    this.chain([
      ...records,
      { version, ...content, position, ...('position' in content && { position: content.position }) } as ArchiveRecord,
    ]);
  }

  /** Returns listed and not yet dropped segments of days before a given one. */
  kept(before: string): Segment[] {
    const present = new Set(filesIn(this.top));
    return this.records()
      .flatMap((record) => (record.kind === 'segments' ? record.segments : []))
      .filter((segment) => present.has(segment.path) && dayOf(segment) < before.slice(0, 10));
  }

  /** Drops everything before a time: the record and the files. The record has correct counts unless others are given. */
  drop(before: string, more: object = {}): void {
    const taken = this.kept(before);
    this.append({ kind: 'dropped', before, months: monthsOf(taken), by: 'root@vault', written_at: before, ...more });
    this.remove(...taken.map((segment) => segment.path));
  }

  /** Writes a segment for the next record. */
  segment(logs: readonly Log[]): Segment {
    const day = logs[0]?.created_at?.slice(0, 10) ?? 'unknown';
    return writeSegment(this.top, { number: this.records().length, day, logs, supplementary: false });
  }
}

function dayOf({ path: name }: Segment): string {
  return /date=([^/]+)/.exec(name)?.[1] ?? '';
}

function monthsOf(segments: readonly Segment[]) {
  const months = [...new Set(segments.map((segment) => dayOf(segment).slice(0, 7)))].toSorted();
  return months.map((month) => {
    const of = segments.filter((segment) => dayOf(segment).startsWith(month));
    const sum = (member: 'entries' | 'bytes'): number => of.reduce((total, segment) => total + segment[member], 0);
    return { month, segments: of.length, entries: sum('entries'), bytes: sum('bytes') };
  });
}

export { DAY, END, entries, START };
