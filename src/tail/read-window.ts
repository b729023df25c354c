import { isSvcError, SvcError } from '../errors.ts';
import { type Entry, entryOf, NO_TIME } from './entry.ts';
import type { LogSource, Window } from './source.ts';
import { areSame } from './tally.ts';

/** What one read of a window found. */
export interface Found {
  readonly entries: readonly Entry[];
  /** How many requests it took. */
  readonly pages: number;
  /** Whether equal entries came on different pages: two of them, or one that shifted. */
  readonly repeats: boolean;
}

/** How far to read. */
export interface ReadOptions {
  /** Give up as soon as there are more pages than this. */
  readonly mostPages?: number | undefined;
  /** Ask for no more pages once it has aborted. */
  readonly stop?: AbortSignal | undefined;
}

/** A window that holds more pages than were allowed for. */
export class TooManyPages extends Error {
  override readonly name = 'TooManyPages';
}

/** Windows begin and end with whole seconds: a service may not look at fractions. */
export const SECOND_MS = 1000;

// Each read cuts its pages elsewhere, so that a fault at a seam does not come twice alike.
const PAGE_SIZES = [100, 97, 89] as const;
const MOST_READS = 8;
const MOST_RESTARTS = 20;

/**
 * Reads all pages of a window once. When its cursor expires on the way it begins again: what was read before is
 * dropped, so nothing is lost or doubled by that (R27).
 * @throws TooManyPages as soon as there are more than `mostPages`
 */
export async function readOnce(
  source: LogSource,
  window: Window,
  options: ReadOptions & { readonly size?: number | undefined } = {},
): Promise<Found> {
  for (let restart = 0; ; restart += 1) {
    const reading = new Reading();
    try {
      for await (const page of source.pages(window, options.size ?? PAGE_SIZES[0])) {
        reading.add(page.items.map(entryOf).filter((entry) => isIn(window, entry)));
        options.stop?.throwIfAborted();
        if (reading.pages >= (options.mostPages ?? Infinity) && page.next !== undefined)
          throw new TooManyPages();
      }
      return reading;
    } catch (error) {
      if (!isExpiredCursor(error, reading.pages)) throw error;
      if (restart >= MOST_RESTARTS) throw goneAgain(error);
    }
  }
}

/** What has been read of a window so far. */
class Reading implements Found {
  readonly entries: Entry[] = [];
  pages = 0;
  repeats = false;
  readonly #earlier = new Set<string>();
  #page: readonly Entry[] = [];

  add(page: readonly Entry[]): void {
    for (const { key } of this.#page) this.#earlier.add(key);
    this.repeats ||= page.some(({ key }) => this.#earlier.has(key));
    this.#page = page;
    this.entries.push(...page);
    this.pages += 1;
  }
}

/**
 * Reads a window so that what it finds can be relied upon. One page is an answer of one moment. Several may shift
 * beneath the reader, who would then take an entry for two or not see it: they are read again until two reads agree.
 * A window that never comes to rest is read in halves.
 */
export async function readFirmly(
  source: LogSource,
  window: Window,
  { earlier, ...options }: ReadOptions & { readonly earlier?: Found | undefined } = {},
): Promise<Found> {
  let last = earlier;
  let pages = earlier?.pages ?? 0;
  for (let read = earlier ? 1 : 0; read < MOST_READS; read += 1) {
    const size = PAGE_SIZES[read % PAGE_SIZES.length];
    const found = await readOnce(source, window, { ...options, size });
    pages += found.pages;
    const { entries, repeats } = found;
    if (found.pages === 1 || (last && areSame(last.entries, entries))) return { entries, repeats, pages };
    last = found;
  }
  const middle = wholeSecond((window.from + window.to) / 2);
  if (middle <= window.from) throw restless(window);
  const early = await readFirmly(source, { from: window.from, to: middle }, options);
  const late = await readFirmly(source, { from: middle, to: window.to }, options);
  return {
    entries: [...early.entries, ...late.entries],
    repeats: early.repeats || late.repeats,
    pages: pages + early.pages + late.pages,
  };
}

/**
 * Reads a window of the past that nothing is added to any more. There one read over the pages suffices, as nothing
 * shifts beneath it: unless retention took something away meanwhile (`isStable`, asked at the end), or an entry came
 * on two pages, as it does where the service does not keep its order. Then it is read again until two reads agree.
 */
export async function readSettled(
  source: LogSource,
  window: Window,
  {
    isStable = () => true,
    ...options
  }: ReadOptions & { readonly isStable?: (() => boolean) | undefined } = {},
): Promise<Found> {
  const found = await readOnce(source, window, options);
  if (found.pages === 1 || (!found.repeats && isStable())) return found;
  return readFirmly(source, window, { ...options, earlier: found });
}

/** The whole second that a time lies in, in milliseconds. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND_MS) * SECOND_MS;
}

/** Whether an entry belongs to a window. One whose time cannot be read belongs to all. */
export function isIn({ from, to }: Window, { at }: Entry): boolean {
  return at === NO_TIME || (at >= from && at < to);
}

// On the first page no cursor was sent: there a refusal means what it says.
function isExpiredCursor(error: unknown, pages: number): boolean {
  if (pages === 0) return false;
  if (isSvcError(error, 'incomplete')) return true;
  return isSvcError(error) && [400, 404, 410, 422].includes(error.status ?? 0);
}

function goneAgain(error: unknown): SvcError {
  return new SvcError('incomplete', 'the cursor expired each time before the last page was read', {
    cause: error,
  });
}

function restless({ from }: Window): SvcError {
  const second = new Date(from).toISOString();
  return new SvcError('incomplete', `the entries of ${second} changed each time they were read`);
}
