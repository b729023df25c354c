import type { TailState } from './checkpoint.ts';
import {
  type Entry,
  type LogSource,
  NO_TIME,
  SECOND_MS,
  type TailEvent,
  wholeSecond,
  type Window,
} from './entry.ts';
import { type Poll, pollBackfill } from './poll.ts';
import { readSettled, TooManyPages } from './read-window.ts';

/** What a catch-up is told. */
export interface CatchUpOptions {
  readonly overlapMs: number;
  readonly retentionMs: number;
  readonly onEvent: (event: TailEvent) => void;
}

/** Reads what lies between the state and the present, and notices where retention made a gap. */
export class CatchUpReader {
  readonly #source: LogSource;
  readonly #state: TailState;
  readonly #options: CatchUpOptions;
  #past: Backfill | undefined;
  #position: number | undefined;
  #gapFrom: number | undefined;
  #keepsLonger = false;

  constructor(source: LogSource, state: TailState, options: CatchUpOptions) {
    this.#source = source;
    this.#state = state;
    this.#options = options;
  }

  /** Whether so much lies between what was read and the present that it is read in parts. */
  get isBehind(): boolean {
    const { overlapMs } = this.#options;
    const near = overlapMs + Math.max(overlapMs / 2, 60_000);
    const isBehind =
      this.#past?.isReading || this.#source.now() - (this.#position ?? this.#state.readTo) > near;
    if (!isBehind) this.#past = this.#position = undefined;
    return isBehind;
  }

  /** Reads the next part. Not to be called again before all that it found was passed on. */
  async look(): Promise<Poll> {
    const { overlapMs } = this.#options;
    this.#past ??= new Backfill(this.#source, this.#state.settled);
    const stretch = await this.#past.next(wholeSecond(this.#source.now() - overlapMs));
    const look = pollBackfill(this.#source, this.#state, stretch, overlapMs);
    this.#noticeGap(look, stretch.to);
    this.#position = Math.min(stretch.to, look.readTo);
    // The first answer may have told that this machine's clock runs ahead: then that was not yet the past.
    if (stretch.to > this.#source.now() - overlapMs) this.#past = undefined;
    // Until it is known how far a gap goes, who begins again here must meet it again.
    return this.#gapFrom === undefined ? look : { ...look, readTo: this.#state.readTo };
  }

  /** Reads no further. */
  stop(): void {
    this.#past?.stop();
  }

  // The service forgets the oldest first: what it still has proves that it has all that came after.
  #noticeGap({ entries }: Poll, readTo: number): void {
    const { overlapMs, retentionMs, onEvent } = this.#options;
    const edge = this.#source.now() - retentionMs;
    const known = this.#position ?? Math.max(this.#state.settled, this.#state.readTo - overlapMs);
    if (this.#keepsLonger || (this.#gapFrom ?? known) >= edge) return;
    this.#gapFrom ??= known;
    const oldest = Math.min(...entries.map(({ at }) => at), NO_TIME);
    if (oldest === NO_TIME && readTo < edge) return;
    const gap = { from: this.#gapFrom, to: Math.min(oldest, edge) };
    this.#keepsLonger = oldest < edge;
    this.#gapFrom = undefined;
    if (gap.to > gap.from) onEvent({ kind: 'gap', ...gap });
  }
}

/** A stretch of the past with all that was created in it. */
export interface TimeRange extends Window {
  readonly entries: readonly Entry[];
  readonly pages: number;
}

/** A window on its way: being read, read, or given up until it is asked for. */
interface Slot extends Window {
  reading: Promise<{ entries: readonly Entry[]; pages: number }> | undefined;
  failure: unknown;
}

const MINUTE_MS = 60_000;
const WIDEST_MS = 6 * 60 * MINUTE_MS;
/** Windows read side by side. With their pages they bound what is held: some 4,500 entries. */
const SIDE_BY_SIDE = 16;
/** Entries that a window should hold: three pages, the last of them nearly full. */
const WANTED = 280;
const MOST_PAGES = 8;
const GROWTH = 8;
const PARTS = 4;
/** The service's time is known to the second. */
const LEEWAY_MS = 2 * SECOND_MS;

/**
 * Reads the past in windows side by side and gives them in order of time. A request is the scarce thing, as a key
 * has 200 a minute: so the windows are as wide as a few pages, and what they hold tells how wide the next ones are.
 * The windows ahead wait until the reader has taken those before.
 */
export class Backfill {
  readonly #source: LogSource;
  readonly #stop = new AbortController();
  #slots: Slot[] = [];
  /** Up to here windows are planned. */
  #plannedTo: number;
  #widthMs = MINUTE_MS;
  /** How old an entry was that the service still had. What is younger than that, retention does not cut into. */
  #keptMs = 0;

  constructor(source: LogSource, from: number) {
    this.#source = source;
    this.#plannedTo = from;
  }

  /** Whether windows are on their way that were not given yet. */
  get isReading(): boolean {
    return this.#slots.length > 0;
  }

  /**
   * The next stretch, with nothing from `end` on unless that was planned before. Asked again after a failure, it
   * tries again what failed. @throws SvcError
   */
  async next(end: number): Promise<TimeRange> {
    this.#retry();
    for (;;) {
      this.#readAhead(end);
      const slot = this.#slots[0];
      if (slot?.reading === undefined) throw slot?.failure ?? new RangeError('nothing of the past is left');
      const found = await slot.reading.catch(() => undefined);
      if (found === undefined) {
        if (!(slot.failure instanceof TooManyPages)) throw slot.failure;
        this.#retry();
        continue;
      }
      this.#slots.shift();
      this.#readAhead(end);
      return { from: slot.from, to: slot.to, ...found };
    }
  }

  /** Reads no further. */
  stop(): void {
    this.#stop.abort();
  }

  /** Plans and begins as many windows as may be on their way. What is not known yet is found out with one alone. */
  #readAhead(end: number): void {
    while (this.#slots.length < this.#most && this.#plannedTo < end) {
      const from = this.#plannedTo;
      const to = Math.max(from + SECOND_MS, Math.min(from + this.#widthMs, end));
      this.#slots.push({ from, to, reading: undefined, failure: undefined });
      this.#plannedTo = to;
    }
    let busy = this.#slots.filter(({ reading }) => reading !== undefined).length;
    for (const [index, slot] of this.#slots.entries()) {
      if (slot.reading !== undefined || slot.failure !== undefined) continue;
      // The first is what the reader waits for, also where its place was taken by smaller ones.
      if (index > 0 && busy >= this.#most) return;
      this.#begin(slot);
      busy += 1;
    }
  }

  get #most(): number {
    return this.#keptMs > 0 ? SIDE_BY_SIDE : 1;
  }

  #begin(slot: Slot): void {
    const startedAt = this.#source.now();
    const isStable = (): boolean => this.#source.now() - slot.from < this.#keptMs - LEEWAY_MS;
    const narrowest = slot.to - slot.from <= SECOND_MS;
    // Where entries may vanish between two pages, a window is to be one page, which is of one moment.
    const mostPages = narrowest ? Infinity : isStable() ? MOST_PAGES : 1;
    slot.reading = readSettled(this.#source, slot, { mostPages, isStable, stop: this.#stop.signal });
    slot.reading.then(
      ({ entries }) => this.#learn(slot, entries, startedAt),
      (error: unknown) => {
        slot.failure = error;
      },
    );
  }

  /** How wide windows are to be, and how long the service keeps entries. */
  #learn({ from, to }: Window, entries: readonly Entry[], startedAt: number): void {
    const width = to - from;
    const wanted = entries.length === 0 ? Infinity : (width * WANTED) / entries.length;
    this.#widthMs = Math.max(SECOND_MS, wholeSecond(Math.min(wanted, width * GROWTH, WIDEST_MS)));
    for (const { at } of entries) this.#keptMs = Math.max(this.#keptMs, startedAt - at);
  }

  /** Makes ready for another try what failed, and smaller what held too much. */
  #retry(): void {
    this.#slots = this.#slots.flatMap((slot) => {
      if (slot.failure === undefined) return [slot];
      if (slot.failure instanceof TooManyPages) return this.#partsOf(slot);
      return [{ from: slot.from, to: slot.to, reading: undefined, failure: undefined }];
    });
  }

  #partsOf({ from, to }: Window): Slot[] {
    const width = Math.max(SECOND_MS, wholeSecond((to - from) / PARTS));
    this.#widthMs = Math.min(this.#widthMs, width);
    const parts: Slot[] = [];
    for (let begin = from; begin < to; begin += width)
      parts.push({ from: begin, to: Math.min(to, begin + width), reading: undefined, failure: undefined });
    return parts;
  }
}
