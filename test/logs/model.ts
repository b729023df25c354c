import { SvcError } from '../../src/base/errors.ts';
import type { Clock } from '../../src/base/system.ts';
import { CursorRefused, type Page } from '../../src/client/api/pages.ts';
import type { TimeRange } from '../../src/logs/entry.ts';
import { type LogSource, sifted } from '../../src/logs/read-range.ts';
import { DAY_MS } from '../../src/schema/durations.ts';
import type { Log } from '../../src/schema/log.ts';

/** An entry of the model, with the time of its creation and the time from which it is visible. */
export interface Happening {
  readonly at: number;
  readonly seenAt: number;
  /** Entries with the same words in the same second are equal in every field. */
  readonly words: string;
}

/** How the model's service behaves. */
export interface Manner {
  readonly order: 'newest first' | 'oldest first' | 'as seen' | 'any';
  /** `place`: the cursor is a number of entries, so pages shift. `entry`: it names the last entry. */
  readonly cursor: 'place' | 'entry';
  /** The number of entries in a page for every hundred requested. */
  readonly pageShare: number;
  /** The chances of events, out of a thousand. */
  readonly failures: number;
  readonly expiries: number;
  readonly retentionMs: number;
  readonly outages: readonly TimeRange[];
  /** Whether each list that has entries ends with an empty page that repeats the cursor of its request. */
  readonly repeatsCursor?: boolean;
  /** Whether the service sends all of its log, whatever window is requested. */
  readonly ignoresTimes?: boolean;
  /** Whether each request makes an entry of its own. */
  readonly logsReads?: boolean;
}

/** A service without failures, which keeps entries for a day. */
export const CALM: Manner = {
  order: 'newest first',
  cursor: 'place',
  pageShare: 100,
  failures: 0,
  expiries: 0,
  retentionMs: DAY_MS,
  outages: [],
};

/** More requests than any history needs, so that a reader without progress fails instead of running forever. */
const MAX_REQUESTS = 100_000;

/** The error that a read throws when the modeled process dies. */
export class Killed extends Error {}

/** A clock whose time passes as soon as somebody waits. */
export class ModelClock implements Clock {
  time: number;

  constructor(time: number) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.time += ms;
  }
}

interface Shown {
  readonly place: number;
  readonly seenAt: number;
  readonly log: Log;
  readonly at: number;
}

/** A model of the log service with every behavior that the interface allows. */
export class ModelService implements LogSource {
  readonly clock: ModelClock;
  readonly signal = new AbortController().signal;
  /** The number of the request during which the process dies. */
  killAt = Infinity;
  requests = 0;
  /** The most windows that were read at the same time. */
  mostAtOnce = 0;
  /** All entries that the service ever had. */
  readonly happenings: Happening[] = [];
  #atOnce = 0;
  readonly #manner: Manner;
  readonly #entries: Shown[] = [];
  readonly #random: () => number;

  constructor(clock: ModelClock, happenings: readonly Happening[], manner: Manner, random: () => number) {
    this.clock = clock;
    this.#manner = manner;
    this.#random = random;
    for (const happening of happenings) this.#add(happening);
  }

  #add(happening: Happening): void {
    const at = Math.floor(happening.at / 1000) * 1000;
    this.#entries.push({ place: this.#entries.length, at, seenAt: happening.seenAt, log: logOf(happening) });
    this.happenings.push(happening);
  }

  now(): number {
    return this.clock.now();
  }

  async *pages(window: TimeRange, pageSize: number): AsyncGenerator<Page<Log>> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      yield* sifted(this.#pages(window, pageSize), window);
    } finally {
      this.#atOnce -= 1;
    }
  }

  async *#pages(window: TimeRange, pageSize: number): AsyncGenerator<Page<Log>> {
    const size = Math.max(1, Math.round((pageSize * this.#manner.pageShare) / 100));
    let last: Shown | undefined;
    for (let from = 0; ;) {
      this.#arrive(from > 0);
      const all = this.#list(window);
      if (this.#manner.cursor === 'entry' && last) from = indexAfter(all, last, this.#compare);
      const items = all.slice(from, from + size);
      from += items.length;
      last = items.at(-1) ?? last;
      const isEnd = from >= all.length;
      const isRepeating = this.#manner.repeatsCursor === true && items.length > 0;
      yield { items: items.map(({ log }) => log), next: isEnd && !isRepeating ? undefined : `${from}` };
      if (!isEnd) continue;
      if (!isRepeating) return;
      this.#arrive(true);
      yield { items: [], next: undefined, repeatsCursor: true };
      return;
    }
  }

  // Time passes during a request, and the request may fail.
  #arrive(hasCursor: boolean): void {
    const { failures, expiries, outages, logsReads = false } = this.#manner;
    this.clock.time += 20 + Math.floor(this.#random() * 1_500);
    this.requests += 1;
    if (this.requests >= this.killAt) throw new Killed();
    if (this.requests > MAX_REQUESTS) throw new RangeError('the reader makes no progress');
    const now = this.now();
    if (logsReads) this.#add({ at: now, seenAt: now, words: `read ${this.requests}` });
    if (outages.some(({ from, to }) => now >= from && now < to)) throw new SvcError('network', 'no answer');
    if (this.#random() * 1000 < failures) throw new SvcError('server', 'the service failed', { status: 503 });
    if (hasCursor && this.#random() * 1000 < expiries)
      throw new CursorRefused(
        new SvcError('rejected', 'the cursor has expired', { status: this.#random() < 0.5 ? 400 : 410 }),
      );
  }

  #list({ from, to }: TimeRange): Shown[] {
    const now = this.now();
    const { retentionMs, ignoresTimes = false } = this.#manner;
    const begin = Math.max(ignoresTimes ? 0 : from, now - retentionMs);
    const end = ignoresTimes ? Infinity : to;
    return this.#entries.filter(({ at, seenAt }) => seenAt <= now && at >= begin && at < end).toSorted(this.#compare);
  }

  readonly #compare = (one: Shown, other: Shown): number => {
    const { order } = this.#manner;
    if (order === 'newest first') return other.at - one.at || other.place - one.place;
    if (order === 'oldest first') return one.at - other.at || one.place - other.place;
    if (order === 'as seen') return other.seenAt - one.seenAt || other.place - one.place;
    return scattered(one.place) - scattered(other.place);
  };
}

/** The entry as the service writes it: with whole seconds, and its members in no fixed order. */
export function logOf({ at, words }: Happening): Log {
  const created_at = new Date(at).toISOString().replace(/\.\d+/, '');
  return at % 2 === 0
    ? { message: words, entity_type: 'token', created_at }
    : { created_at, entity_type: 'token', message: words };
}

/** Returns a text that is the same for equal entries. */
export function nameOf(log: Log): string {
  return `${log.created_at} ${log.message ?? ''}`;
}

/** Returns the entries since a time that are missing from those written, and the entries that were written too often. */
export function lostAndDoubled(
  happenings: readonly Happening[],
  written: readonly Log[],
  since: number,
): { lost: string[]; doubled: string[] } {
  const due = new Map<string, number>();
  for (const happening of happenings) {
    if (Math.floor(happening.at / 1000) * 1000 < since) continue;
    const name = nameOf(logOf(happening));
    due.set(name, (due.get(name) ?? 0) + 1);
  }
  for (const log of written) due.set(nameOf(log), (due.get(nameOf(log)) ?? 0) - 1);
  const pick = (sign: number): string[] =>
    [...due].flatMap(([name, count]) => Array<string>(Math.max(0, count * sign)).fill(name));
  return { lost: pick(1), doubled: pick(-1) };
}

function indexAfter(all: readonly Shown[], last: Shown, compare: (a: Shown, b: Shown) => number): number {
  const index = all.findIndex((entry) => compare(entry, last) > 0);
  return index === -1 ? all.length : index;
}

function scattered(place: number): number {
  return (Math.imul(place + 1, 2_654_435_761) >>> 0) + place / 1e6;
}
