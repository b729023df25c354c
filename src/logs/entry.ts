import { hash } from 'node:crypto';
import type { Client } from '../api/client.ts';
import { isLossy, type LogFilter, logText } from '../api/logs.ts';
import type { Page } from '../api/pages.ts';
import { parseTime } from '../output/time.ts';
import type { Log } from '../schema/log.ts';
import type { Clock } from '../system.ts';
import type { TailPosition } from './checkpoint.ts';

/** A log entry with what the tail needs to know of it. */
export interface Entry {
  readonly log: Log;
  /** Stands for the whole entry: two entries that say the same have the same one. */
  readonly key: string;
  /** When it was created, in epoch milliseconds. */
  readonly at: number;
}

/** An entry whose time cannot be read: it is never old enough to be forgotten, so it is not shown twice. */
export const NO_TIME = Number.MAX_SAFE_INTEGER;

/** Takes note of what an entry is and when it was. */
export function entryOf(log: Log): Entry {
  return { log, key: fingerprint(log), at: parseTime(log.created_at) ?? NO_TIME };
}

/**
 * 132 bits of SHA-256 over the entry with its members in one order, whichever order the service writes them in; over
 * its text where the members do not say all of it. Checkpoints and archives hold these.
 */
function fingerprint(log: Log): string {
  return hash('sha256', isLossy(log) ? logText(log) : orderedText(log), 'base64url').slice(0, 22);
}

function orderedText(log: Log): string {
  const names = Object.keys(log).toSorted();
  const values = names.map((name) => log[name]);
  // A function that looks at every member takes longer than all the rest, and hardly an entry has members within.
  const isFlat = values.every((value) => typeof value !== 'object' || value === null);
  return JSON.stringify([names, values], isFlat ? undefined : inOneOrder);
}

function inOneOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Windows begin and end with whole seconds: a service may not look at fractions. */
export const SECOND_MS = 1000;

/** The whole second that a time lies in, in milliseconds. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND_MS) * SECOND_MS;
}

/** Whether an entry belongs to a window. One whose time cannot be read belongs to all. */
export function isIn({ from, to }: Window, { at }: Entry): boolean {
  return at === NO_TIME || (at >= from && at < to);
}

/** The seconds that entries were created in, the fullest first. */
export function secondsOf(entries: readonly Entry[]): Window[] {
  const counts = new Map<number, number>();
  for (const { at } of entries) {
    if (at !== NO_TIME) counts.set(wholeSecond(at), (counts.get(wholeSecond(at)) ?? 0) + 1);
  }
  return Array.from(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([from]) => ({ from, to: from + SECOND_MS }));
}

/** The entries, with those of a window as a better read found them. */
export function replaced(
  entries: readonly Entry[],
  window: Window,
  better: readonly Entry[],
): readonly Entry[] {
  return [
    ...entries.filter((entry) => entry.at === NO_TIME || !isIn(window, entry)),
    ...better.filter(({ at }) => at !== NO_TIME),
  ];
}

/** How to follow. */
export interface TailOptions {
  /** Where to begin: a time, or the standing of an earlier tail. */
  readonly begin: TailPosition;
  /** How late an entry may come, in milliseconds. */
  readonly overlapMs: number;
  /** How long the service keeps entries, in milliseconds. */
  readonly retentionMs: number;
  /** Always this pause between two looks; by default 1 s to 15 s. */
  readonly intervalMs?: number | undefined;
  /** End after this time. */
  readonly forMs?: number | undefined;
  /** End when nothing new came for this long. */
  readonly idleMs?: number | undefined;
  /** End as soon as the present is reached; an outage ends it too, with its error. */
  readonly untilPresent?: boolean | undefined;
  /** End after this many entries. */
  readonly most?: number | undefined;
  /** At most this many entries in a batch; by default all that a look found. */
  readonly atOnce?: number | undefined;
  /** Which entries are passed on; the others are only counted. */
  readonly keep?: ((log: Log) => boolean) | undefined;
  /**
   * Told what identifies an entry before it is passed on: of equal entries each has an id of its own, and an entry that
   * comes again after a restart has the same one.
   */
  readonly onPass?: ((log: Log, id: string) => void) | undefined;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** Called with a standing once the reader has taken all entries up to it. */
  readonly onStanding?: ((standing: TailPosition) => void) | undefined;
}

/** What happens beside the entries. */
export type TailEvent =
  /** Nothing came of a look; said once for each outage. */
  | { readonly kind: 'cut off'; readonly reason: string; readonly nextMs: number }
  /** The first look since an outage that reached the present. */
  | { readonly kind: 'caught up'; readonly afterMs: number; readonly entries: number }
  /** A look at the present, and the pause before the next one. */
  | { readonly kind: 'looked'; readonly nextMs: number }
  /** A stretch of the past was read. `readTo` and `now` by the service's clock. */
  | { readonly kind: 'catching up'; readonly readTo: number; readonly now: number }
  /** The service may no longer have had what was created in this stretch of time. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };

/** A half-open stretch of time, in epoch milliseconds: `from` belongs to it, `to` does not. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Where a tail reads: the service, or a model of it. */
export interface LogSource {
  /** All pages of a window, in whatever order. */
  pages(window: Window, pageSize: number): AsyncIterable<Page<Log>>;
  /** The time by the service's clock. */
  now(): number;
  /** For pauses. */
  readonly clock: Clock;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

/** The service's logs, or those of one kind of entity, as a tail reads them. */
export function serviceLogs(client: Client, filter: Pick<LogFilter, 'entityType' | 'entityId'>): LogSource {
  const { clock, signal } = client;
  return {
    clock,
    signal,
    now: () => client.now(),
    pages: ({ from, to }, pageSize) => {
      const [startDate, endDate] = [new Date(from).toISOString(), new Date(to).toISOString()];
      return client.logs.list({ ...filter, startDate, endDate }, { pageSize }).pages();
    },
  };
}
