import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Log } from '../schema/log.ts';
import { dayOf, entryTime, UNKNOWN_DAY } from './entry-day.ts';
import { type ClosedSegment, SegmentFile, type SegmentKind } from './segment-file.ts';

/** How much may be pending. */
export interface PendingLimits {
  readonly entries: number;
  /** Characters of JSON before compression. */
  readonly characters: number;
}

interface Late {
  readonly at: number;
  readonly line: string;
}

const MOST_LATE = 10_000;

/**
 * The entries between two commits, in files without a name yet. Each file holds one day in order of time: one is open
 * at a time, and one for entries without a time. What comes late is kept until the commit and then written in order.
 */
export class Pending {
  entries = 0;
  late = 0;
  readonly #directory: string;
  readonly #limits: PendingLimits;
  readonly #committedTo: number;
  readonly #closed: ClosedSegment[] = [];
  #characters = 0;
  #highest = -Infinity;
  #open: SegmentFile | undefined;
  #timeless: SegmentFile | undefined;
  #late: Late[] = [];

  /** Writes into `directory`. Entries before `committedTo` (epoch milliseconds) count as late. */
  constructor(directory: string, committedTo: number, limits: PendingLimits) {
    this.#directory = directory;
    this.#committedTo = committedTo;
    this.#limits = limits;
  }

  /** Whether it is time to commit. */
  get isFull(): boolean {
    const { entries, characters } = this.#limits;
    return this.entries >= entries || this.#characters >= characters || this.#late.length >= MOST_LATE;
  }

  /** Takes entries; on return they are in the files or kept. @throws SvcError `local` */
  async add(logs: readonly Log[]): Promise<void> {
    for (const log of logs) {
      const line = JSON.stringify(log);
      this.entries += 1;
      this.#characters += line.length;
      const at = entryTime(log);
      if (at === undefined) await this.#addTimeless(line);
      else if (at < this.#committedTo || at < this.#highest) this.#addLate({ at, line });
      else await this.#addNext(line, at);
    }
  }

  /** Ends all files. Nothing may be added afterwards. @throws SvcError `local` */
  async close(): Promise<ClosedSegment[]> {
    await this.#closeOpen();
    if (this.#timeless) this.#closed.push(await this.#timeless.close());
    for (const { at, line } of this.#late.toSorted((one, other) => one.at - other.at))
      await this.#addInto({ day: dayOf(at), supplementary: true }, line, at);
    await this.#closeOpen();
    return this.#closed;
  }

  /** Gives up what is open. */
  abandon(): void {
    this.#open?.abandon();
    this.#timeless?.abandon();
  }

  async #addTimeless(line: string): Promise<void> {
    this.#timeless ??= this.#begin({ day: UNKNOWN_DAY, supplementary: false });
    await this.#timeless.add(line, undefined);
  }

  #addLate(late: Late): void {
    this.late += 1;
    this.#late.push(late);
  }

  async #addNext(line: string, at: number): Promise<void> {
    this.#highest = at;
    await this.#addInto({ day: dayOf(at), supplementary: false }, line, at);
  }

  async #addInto(kind: SegmentKind, line: string, at: number): Promise<void> {
    if (this.#open?.kind.day !== kind.day) await this.#closeOpen();
    this.#open ??= this.#begin(kind);
    await this.#open.add(line, at);
  }

  async #closeOpen(): Promise<void> {
    const open = this.#open;
    if (open) this.#closed.push(await open.close());
    this.#open = undefined;
  }

  #begin(kind: SegmentKind): SegmentFile {
    const name = `${randomBytes(8).toString('hex')}.jsonl.gz`;
    return new SegmentFile(path.join(this.#directory, name), kind);
  }
}
