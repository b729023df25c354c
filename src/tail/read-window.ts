import { isSvcError, SvcError } from '../errors.ts';
import { type Entry, entryOf, NO_TIME } from './entry.ts';
import type { LogSource, Window } from './source.ts';
import { areSame } from './tally.ts';

/** What one read of a window found. */
export interface Found {
  readonly entries: readonly Entry[];
  /** How many requests it took. */
  readonly pages: number;
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
  { size = PAGE_SIZES[0], mostPages = Infinity }: { size?: number; mostPages?: number } = {},
): Promise<Found> {
  for (let restart = 0; ; restart += 1) {
    const found = { entries: [] as Entry[], pages: 0 };
    try {
      for await (const page of source.pages(window, size)) {
        found.pages += 1;
        found.entries.push(...page.items.map(entryOf).filter((entry) => isIn(window, entry)));
        if (found.pages >= mostPages && page.next !== undefined) throw new TooManyPages();
      }
      return found;
    } catch (error) {
      if (!isExpiredCursor(error, found.pages)) throw error;
      if (restart >= MOST_RESTARTS) throw goneAgain(error);
    }
  }
}

/**
 * Reads a window so that what it finds can be relied upon. One page is an answer of one moment. Several may shift
 * beneath the reader, who would then take an entry for two or not see it: they are read again until two reads agree.
 * A window that never comes to rest is read in halves.
 */
export async function readFirmly(source: LogSource, window: Window, mostPages = Infinity): Promise<Found> {
  let last: Found | undefined;
  let pages = 0;
  for (let read = 0; read < MOST_READS; read += 1) {
    const size = PAGE_SIZES[read % PAGE_SIZES.length] ?? PAGE_SIZES[0];
    const found = await readOnce(source, window, { size, mostPages });
    pages += found.pages;
    if (found.pages === 1 || (last && areSame(last.entries, found.entries))) return { ...found, pages };
    last = found;
  }
  const middle = wholeSecond((window.from + window.to) / 2);
  if (middle <= window.from) throw restless(window);
  const early = await readFirmly(source, { from: window.from, to: middle }, mostPages);
  const late = await readFirmly(source, { from: middle, to: window.to }, mostPages);
  return { entries: [...early.entries, ...late.entries], pages: pages + early.pages + late.pages };
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
