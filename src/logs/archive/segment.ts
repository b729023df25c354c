// Writes segments: gzip files with the entries of one day each.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { Draft } from '../../base/files/draft.ts';
import { jsonHasCardNumber } from '../../cli/output/formats.ts';
import { damagedBytes, isReadable, logText } from '../../client/api/logs.ts';
import type { LocalFile } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { dayOf, entryTime } from './records/record.ts';
import { AROUND_COLUMNS, IndexBuilder, keyOfId } from './segment-index.ts';

/** The kind of entries in a segment: one tenant, one day (UTC, or `unknown`), late or not, raw or not. */
interface SegmentKind {
  readonly tenantId: string;
  readonly day: string;
  readonly supplementary: boolean;
  readonly isRaw: boolean;
  /** Whether the entries come from a segment that no record names. */
  readonly isLeftover?: boolean | undefined;
}

/** An entry with its time in epoch milliseconds; undefined if it is unreadable. */
interface TimedLog {
  readonly log: Log;
  readonly at: number | undefined;
}

/** A segment that is written and flushed, but not yet committed. */
export interface ClosedSegment extends SegmentKind {
  readonly file: LocalFile;
  readonly entries: number;
  /** The earliest and latest time of the entries in epoch milliseconds; undefined if none is readable. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** The index of the segment. Raw segments have none, because JSON readers may see different ids in them. */
  readonly index: Buffer | undefined;
}

const COLUMN_ENTRIES = 10_000;
const COLUMN_CHARACTERS = 4 * 1024 * 1024;
/** Text and bytes are collected up to these sizes, because each chunk costs a change of thread or a write to the disk. */
const CHUNK_CHARACTERS = 128 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** The offset in the header at which gzip notes the compression level, and what it notes of usual and of late entries. */
export const LEVEL_AT = 8;
export const USUAL_FLAG = 0;
export const LATE_FLAG = 2;

/**
 * A segment being written: one gzip member with lines of JSON, compressed as they arrive, so that memory use does not
 * depend on its size. Each column of 10,000 entries can be decompressed separately.
 */
export class SegmentFile {
  readonly kind: SegmentKind;
  readonly #file: string;
  readonly #gzip: Gzip;
  readonly #index = new IndexBuilder();
  #draft: Draft | undefined;
  #text = '';
  #characters = 0;
  #entries = 0;
  #first: number | undefined;
  #last: number | undefined;
  #output: Buffer[] = [];

  /** `file` is a path without a file. */
  constructor(file: string, kind: SegmentKind) {
    this.kind = kind;
    this.#file = file;
    this.#gzip = createGzip({ level: levelOf(kind), chunkSize: CHUNK_BYTES });
    this.#gzip.on('data', (chunk: Buffer) => this.#output.push(chunk));
  }

  /** Adds an entry as a line. Returns a promise only if the caller has to wait. @throws SvcError `local` */
  add({ log, at }: TimedLog): Promise<unknown> | undefined {
    const line = logText(log);
    this.#index.add(keyOfId(log.entity_id), keyOfId(log.actor_id));
    this.#entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    this.#text += `${this.kind.isRaw ? (damagedBytes(log) ?? Buffer.from(line)).toString('latin1') : line}\n`;
    this.#characters += line.length;
    if (this.#index.entries >= COLUMN_ENTRIES || this.#characters >= COLUMN_CHARACTERS) return this.#endColumn();
    return this.#text.length >= CHUNK_CHARACTERS ? this.#compress() : undefined;
  }

  /** Completes the file and flushes it to disk. @throws SvcError `local` */
  async close(): Promise<ClosedSegment> {
    if (this.#index.entries > 0) await this.#endColumn();
    this.#gzip.end();
    await once(this.#gzip, 'end');
    const draft = await this.#begun();
    await draft.write(Buffer.concat(this.#output));
    const file = { path: draft.path, ...(await draft.seal()) };
    return {
      ...this.kind,
      file,
      entries: this.#entries,
      first: this.#first,
      last: this.#last,
      index: this.kind.isRaw ? undefined : this.#index.finish(file.sha256),
    };
  }

  abandon(): void {
    this.#gzip.destroy();
    this.#draft?.discard().catch(() => undefined);
  }

  async #compress(): Promise<void> {
    // In a raw segment each character stands for a byte, since not every line is UTF-8.
    const bytes = Buffer.from(this.#text, this.kind.isRaw ? 'latin1' : 'utf8');
    this.#text = '';
    if (!this.#gzip.write(bytes)) await once(this.#gzip, 'drain');
  }

  async #endColumn(): Promise<void> {
    await this.#compress();
    await new Promise<void>((resolve) => this.#gzip.flush(constants.Z_FULL_FLUSH, resolve));
    const header = this.#draft === undefined ? AROUND_COLUMNS.before : 0;
    const bytes = Buffer.concat(this.#output);
    await (await this.#begun()).write(bytes);
    this.#index.endColumn(bytes.subarray(header));
    this.#output = [];
    this.#characters = 0;
  }

  async #begun(): Promise<Draft> {
    return (this.#draft ??= await Draft.begin(this.#file));
  }
}

/** Returns the compression level. Its note in the header keeps late, leftover and other entries from having the same bytes and name. */
function levelOf({ supplementary, isLeftover }: SegmentKind): number {
  if (isLeftover) return constants.Z_BEST_SPEED;
  return supplementary ? constants.Z_BEST_COMPRESSION : constants.Z_DEFAULT_COMPRESSION;
}

export interface PendingLimits {
  readonly entries: number;
  /** The limit of JSON characters before compression. */
  readonly characters: number;
}

/** An entry kept in memory until the commit, because it does not belong into the open file. */
interface KeptEntry extends TimedLog {
  readonly kind: SegmentKind;
}

const MAX_KEPT = 10_000;
/** The value of `committedTo` for entries that were recovered from killed runs. */
export const LEFTOVER = Infinity;

/**
 * The entries between two commits, in temporary files. A file contains one day in order of time. Two files are open at
 * a time: the one of the current day, and the one for entries without a time. Late and raw entries and those of other
 * tenants are kept in memory until the commit and then written in order.
 */
export class Pending {
  entries = 0;
  late = 0;
  shared = 0;
  /** Counts of entries without a time, of those that some JSON readers reject, and of those with a card number. */
  timeless = 0;
  raw = 0;
  cardNumbers = 0;
  readonly #directory: string;
  readonly #limits: PendingLimits;
  readonly #tenantId: string;
  readonly #committedTo: number;
  readonly #closed: ClosedSegment[] = [];
  #characters = 0;
  #highest = -Infinity;
  #open: SegmentFile | undefined;
  /** The end of the open file's day. */
  #openUntil = -Infinity;
  #timeless: SegmentFile | undefined;
  #kept: KeptEntry[] = [];

  /**
   * Writes its files into `directory`. Entries before `committedTo` (epoch milliseconds) count as late. With `LEFTOVER`, all
   * entries count as late, and each kind gets one file: the files of several killed runs must not look like those of one run.
   */
  constructor(directory: string, tenantId: string, committedTo: number, limits: PendingLimits) {
    this.#directory = directory;
    this.#tenantId = tenantId;
    this.#committedTo = committedTo;
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { entries, characters } = this.#limits;
    return this.entries >= entries || this.#characters >= characters || this.#kept.length >= MAX_KEPT;
  }

  /** Adds entries to the files or to memory. @throws SvcError `local` */
  async add(logs: readonly Log[]): Promise<void> {
    for (const log of logs) {
      const writing = this.#addOne(log);
      if (writing) await writing;
    }
  }

  /** Adds an entry. Returns a promise only if the caller has to wait. */
  #addOne(log: Log): Promise<unknown> | undefined {
    const line = logText(log);
    this.entries += 1;
    this.#characters += line.length;
    if (jsonHasCardNumber(line)) this.cardNumbers += 1;
    const at = entryTime(log);
    if (at === undefined) this.timeless += 1;
    const tenantId = log.tenant_id ?? this.#tenantId;
    const isRaw = !isReadable(log);
    if (isRaw || tenantId !== this.#tenantId) return this.#keepApart({ at, log }, { tenantId, isRaw });
    if (at === undefined) return (this.#timeless ??= this.#begin(this.#kindOf(undefined))).add({ at, log });
    if (at < this.#committedTo || at < this.#highest)
      return this.#keep({ at, log }, { tenantId, supplementary: true, isRaw });
    return this.#addNext({ at, log }, at);
  }

  /** Closes all files. Nothing may be added afterwards. @throws SvcError `local` */
  async close(): Promise<ClosedSegment[]> {
    await this.#closeOpen();
    if (this.#timeless) this.#closed.push(await this.#timeless.close());
    for (const kept of this.#kept.toSorted(inOrder)) await this.#addInto(kept.kind, kept);
    await this.#closeOpen();
    return this.#closed;
  }

  abandon(): void {
    this.#open?.abandon();
    this.#timeless?.abandon();
  }

  #keepApart(entry: TimedLog, kind: Pick<SegmentKind, 'tenantId' | 'isRaw'>): undefined {
    if (kind.tenantId !== this.#tenantId) this.shared += 1;
    if (kind.isRaw) this.raw += 1;
    this.#keep(entry, { ...kind, supplementary: entry.at !== undefined && entry.at < this.#committedTo });
  }

  #keep(entry: TimedLog, kind: Omit<SegmentKind, 'day'>): undefined {
    if (kind.supplementary) this.late += 1;
    this.#kept.push({ ...entry, kind: { ...kind, day: dayOf(entry.at) } });
  }

  // Nearly every entry has the same day as the previous one, so that case is fast and needs no promise.
  #addNext(entry: TimedLog, at: number): Promise<unknown> | undefined {
    this.#highest = at;
    if (this.#open && at < this.#openUntil) return this.#open.add(entry);
    this.#openUntil = (Math.floor(at / DAY_MS) + 1) * DAY_MS;
    return this.#addInto(this.#kindOf(at), entry);
  }

  #kindOf(at: number | undefined): SegmentKind {
    return { tenantId: this.#tenantId, day: dayOf(at), supplementary: false, isRaw: false };
  }

  async #addInto(kind: SegmentKind, entry: TimedLog): Promise<void> {
    if (this.#open && orderOf(this.#open.kind) !== orderOf(kind)) await this.#closeOpen();
    this.#open ??= this.#begin(kind);
    await this.#open.add(entry);
  }

  async #closeOpen(): Promise<void> {
    const open = this.#open;
    if (open) this.#closed.push(await open.close());
    this.#open = undefined;
  }

  #begin(kind: SegmentKind): SegmentFile {
    const name = `${randomBytes(8).toString('hex')}.gz`;
    return new SegmentFile(path.join(this.#directory, name), { ...kind, isLeftover: this.#committedTo === LEFTOVER });
  }
}

function inOrder(one: KeptEntry, other: KeptEntry): number {
  const first = orderOf(one.kind);
  const second = orderOf(other.kind);
  if (first !== second) return first < second ? -1 : 1;
  return (one.at ?? 0) - (other.at ?? 0);
}

function orderOf({ tenantId, day, supplementary, isRaw }: SegmentKind): string {
  return `${String(isRaw)} ${String(supplementary)} ${day} ${tenantId}`;
}
