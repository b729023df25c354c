import { isSvcError, SvcError } from '../errors.ts';
import {
  type Entry,
  entryOf,
  isIn,
  type LogSource,
  replaced,
  secondsOf,
  wholeSecond,
  type Window,
} from './entry.ts';
import { areSame, Tally } from './tally.ts';

/** What one read of a window found. */
export interface Found {
  readonly entries: readonly Entry[];
  /** How many requests it took. */
  readonly pages: number;
  /** Those of them that may be others met again, as they came on several pages. */
  readonly uncertain: readonly Entry[];
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

// Each read cuts its pages elsewhere, so that a fault at a seam does not come twice alike.
const PAGE_SIZES = [100, 97, 89] as const;
const MOST_READS = 8;
const MOST_RESTARTS = 20;

/**
 * Reads all pages of a window once. When its cursor expires on the way it begins again: what was read before is
 * dropped, so nothing is lost or doubled by that (R27). A window with more pages than a cursor lives for is read in halves.
 * @throws TooManyPages as soon as there are more than `mostPages`; SvcError `truncated` for such a second
 */
export async function readOnce(
  source: LogSource,
  window: Window,
  options: ReadOptions & { readonly size?: number | undefined } = {},
): Promise<Found> {
  for (let restart = 0; ; restart += 1) {
    const pages: Entry[][] = [];
    try {
      for await (const page of source.pages(window, options.size ?? PAGE_SIZES[0])) {
        pages.push(page.items.map(entryOf).filter((entry) => isIn(window, entry)));
        options.stop?.throwIfAborted();
        if (pages.length >= (options.mostPages ?? Infinity) && page.next !== undefined)
          throw new TooManyPages();
      }
      return { entries: pages.flat(), pages: pages.length, uncertain: isUncertain(pages) };
    } catch (error) {
      if (!isExpiredCursor(error, pages.length)) throw error;
      if (restart >= MOST_RESTARTS)
        return readHalves(window, vanished(error), (half) => readOnce(source, half, options));
    }
  }
}

/**
 * What came on several pages: where pages shift, the end of one comes once more at the beginning of the next. A page is
 * of one moment, so as many equal entries as one page holds are beyond doubt.
 */
function isUncertain(pages: readonly (readonly Entry[])[]): Entry[] {
  if (pages.length < 2) return [];
  const certain = new Map<string, number>();
  for (const page of pages) {
    const met = new Map<string, number>();
    for (const { key } of page) met.set(key, (met.get(key) ?? 0) + 1);
    for (const [key, count] of met) certain.set(key, Math.max(count, certain.get(key) ?? 0));
  }
  return pages.flat().filter(({ key }) => {
    const left = certain.get(key) ?? 0;
    certain.set(key, left - 1);
    return left <= 0;
  });
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
    const { entries } = found;
    if (found.pages === 1 || (last && areSame(last.entries, entries)))
      return { entries, pages, uncertain: [] };
    last = found;
  }
  const half = await readHalves(window, isUnstable(window), (one) => readFirmly(source, one, options));
  return { ...half, pages: pages + half.pages };
}

/** What is found in the two halves of a window, the earlier first. @throws the failure, for a second */
async function readHalves(
  { from, to }: Window,
  failure: SvcError,
  read: (half: Window) => Promise<Found>,
): Promise<Found> {
  const middle = wholeSecond((from + to) / 2);
  if (middle <= from) throw failure;
  const [early, late] = [await read({ from, to: middle }), await read({ from: middle, to })];
  // An entry without a time may have come with both.
  const met = new Tally();
  for (const entry of early.entries) met.add(entry);
  const rest = met.surplus(late.entries);
  return {
    entries: [...early.entries, ...rest],
    pages: early.pages + late.pages,
    uncertain: [...early.uncertain, ...late.uncertain],
  };
}

/**
 * Reads a window of the past that nothing is added to any more. There one read over the pages suffices, as nothing
 * shifts beneath it: unless retention took something away meanwhile (`isStable`, asked at the end), or an entry came
 * on two pages, as it does where the service does not keep its order. That is read again until two reads agree.
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
  if (found.pages === 1) return found;
  if (!isStable()) return readFirmly(source, window, { ...options, earlier: found });
  return resolved(found, secondsOf(found.uncertain), (doubt) =>
    readFirmly(source, doubt, { stop: options.stop }),
  );
}

/** Reads a window that things still happen in: what it finds when two reads agree at once, or else nothing. */
export async function readIfStable(source: LogSource, window: Window): Promise<Found | undefined> {
  const first = await readOnce(source, window);
  if (first.pages === 1) return first;
  const second = await readOnce(source, window, { size: PAGE_SIZES[1] });
  const pages = first.pages + second.pages;
  return areSame(first.entries, second.entries) ? { ...second, pages, uncertain: [] } : undefined;
}

/** What was found without what is uncertain, and with these windows as another read found them. */
export async function resolved(
  found: Found,
  windows: readonly Window[],
  read: (window: Window) => Promise<Found | undefined>,
): Promise<Found> {
  if (found.uncertain.length === 0) return found;
  const doubts = new Set(found.uncertain);
  let entries: readonly Entry[] = found.entries.filter((entry) => !doubts.has(entry));
  let { pages } = found;
  for (const window of windows) {
    const better = await read(window);
    if (better) entries = replaced(entries, window, better.entries);
    pages += better?.pages ?? 2;
  }
  return { entries, pages, uncertain: [] };
}

/** Whether a list broke off because its cursor expired. On the first page none was sent: there a refusal means what it says. */
export function isExpiredCursor(error: unknown, pages: number): boolean {
  if (pages === 0) return false;
  if (isSvcError(error, 'truncated')) return true;
  return isSvcError(error) && [400, 404, 410, 422].includes(error.status ?? 0);
}

function vanished(error: unknown): SvcError {
  return new SvcError('truncated', 'the cursor expired each time before the last page was read', {
    cause: error,
  });
}

function isUnstable({ from }: Window): SvcError {
  const second = new Date(from).toISOString();
  return new SvcError('truncated', `the entries of ${second} changed each time they were read`);
}
