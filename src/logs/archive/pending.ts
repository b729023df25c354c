import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { holdsCardNumber } from '../../cli/output/formats.ts';
import { damagedBytes, isReadable, logText } from '../../client/api/logs.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { dayOf, entryTime } from './records/record.ts';
import { type ClosedSegment, type EntryText, SegmentFile, type SegmentKind } from './segment.ts';

export interface PendingLimits {
  readonly entries: number;
  /** The limit of JSON characters before compression. */
  readonly characters: number;
}

/** An entry kept in memory until the commit, because it does not belong into the open file. */
interface KeptEntry extends EntryText {
  readonly kind: SegmentKind;
}

const MAX_KEPT = 10_000;
/** The end of what is committed, for entries of segments that no record names. */
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
   * Writes its files into `directory`. Entries before `committedTo` (epoch milliseconds) count as late. With `LEFTOVER` all
   * do, and each kind is one file, because what is left of several runs must not be taken for what one run left.
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
      const line = logText(log);
      this.entries += 1;
      this.#characters += line.length;
      if (holdsCardNumber(line)) this.cardNumbers += 1;
      const at = entryTime(log);
      if (at === undefined) this.timeless += 1;
      const tenantId = log.tenant_id ?? this.#tenantId;
      const isRaw = !isReadable(log);
      const text = { at, log, line, bytes: damagedBytes(log) };
      if (isRaw || tenantId !== this.#tenantId) this.#keepApart(text, { tenantId, isRaw });
      else if (at === undefined) await (this.#timeless ??= this.#begin(this.#kindOf(undefined))).add(text);
      else if (at < this.#committedTo || at < this.#highest) this.#keep(text, { tenantId, supplementary: true, isRaw });
      else {
        const writing = this.#addNext(text, at);
        if (writing) await writing;
      }
    }
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

  #keepApart(text: EntryText, kind: Pick<SegmentKind, 'tenantId' | 'isRaw'>): void {
    if (kind.tenantId !== this.#tenantId) this.shared += 1;
    if (kind.isRaw) this.raw += 1;
    this.#keep(text, { ...kind, supplementary: text.at !== undefined && text.at < this.#committedTo });
  }

  #keep(text: EntryText, kind: Omit<SegmentKind, 'day'>): void {
    if (kind.supplementary) this.late += 1;
    this.#kept.push({ ...text, kind: { ...kind, day: dayOf(text.at) } });
  }

  // Nearly every entry has the same day as the previous one, so that case is fast and needs no promise.
  #addNext(text: EntryText, at: number): Promise<unknown> | undefined {
    this.#highest = at;
    if (this.#open && at < this.#openUntil) return this.#open.add(text);
    this.#openUntil = (Math.floor(at / DAY_MS) + 1) * DAY_MS;
    return this.#addInto(this.#kindOf(at), text);
  }

  #kindOf(at: number | undefined): SegmentKind {
    return { tenantId: this.#tenantId, day: dayOf(at), supplementary: false, isRaw: false };
  }

  async #addInto(kind: SegmentKind, text: EntryText): Promise<void> {
    if (this.#open && orderOf(this.#open.kind) !== orderOf(kind)) await this.#closeOpen();
    this.#open ??= this.#begin(kind);
    await this.#open.add(text);
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
