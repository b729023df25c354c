import { isoTime, startOfDay } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Manifest, SignedReview } from '../archive/manifest.ts';
import { dayIn, dayOf, partNumber } from '../archive/records/record.ts';
import type { Counts } from './findings.ts';

/** Whether a day was reviewed: `uncovered` if the archive has nothing of it, so that nobody can review it. */
export type DayState = 'reviewed' | 'open' | 'uncovered';

/** What is recorded of the review of a day. All rows have the same members, null if they do not apply. */
export interface DayStatus {
  readonly day: string;
  readonly state: DayState;
  readonly entries: number;
  /** The number of entries that were archived after the newest review. With any, the day is open again. */
  readonly late: number;
  /** Why the archive does not cover all of the day: the reasons, each once. */
  readonly missing: readonly string[];
  readonly reviews: number;
  readonly signed_at: string | null;
  readonly by: string | null;
  readonly account: string | null;
  readonly note: string | null;
  /** What the newest review found, as it was recorded: groups and entries. */
  readonly findings: Counts | null;
  readonly findings_entries: Counts | null;
  readonly record: number | null;
}

/** Returns the status of each day that is over, the oldest first. Times are epoch milliseconds. */
export function statusOf(
  manifest: Pick<Manifest, 'coverage' | 'reviews' | 'segments'>,
  { since, now }: { readonly since: number; readonly now: number },
) {
  const segments = byDay(manifest.segments, ({ path }) => dayIn(path));
  const ofDays = manifest.reviews.filter(({ of }) => of === 'day');
  const reviews = byDay(ofDays, ({ from }) => from);
  const days: DayStatus[] = [];
  for (let at = startOfDay(since); at + DAY_MS <= now; at += DAY_MS) {
    const day = dayOf(at);
    const missing = manifest.coverage.missing({ from: at, to: at + DAY_MS });
    const missingMs = missing.reduce((sum, { from, to }) => sum + to - from, 0);
    const signed = reviews.get(day) ?? [];
    const newest = signed.at(-1);
    const own = segments.get(day) ?? [];
    const count = (some: typeof own): number => some.reduce((sum, { entries }) => sum + entries, 0);
    const late = newest ? count(own.filter(({ path }) => partNumber(path) > newest.number)) : 0;
    days.push({
      day,
      state: newest && late === 0 ? 'reviewed' : missingMs >= DAY_MS ? 'uncovered' : 'open',
      entries: count(own),
      late,
      missing: [...new Set(missing.map(({ reason }) => reason))],
      reviews: signed.length,
      ...signatureOf(newest),
    });
  }
  return days;
}

function byDay<T>(items: readonly T[], dayOfItem: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const days = new Map<string, T[]>();
  for (const item of items) {
    const own = days.get(dayOfItem(item)) ?? [];
    own.push(item);
    days.set(dayOfItem(item), own);
  }
  return days;
}

function signatureOf(review: SignedReview | undefined) {
  if (review === undefined) {
    const found = { findings: null, findings_entries: null };
    return { signed_at: null, by: null, account: null, note: null, ...found, record: null };
  }
  const { written_at: at, by, account, note = null, findings, findings_entries = null, number } = review;
  return { signed_at: isoTime(Date.parse(at)), by, account, note, findings, findings_entries, record: number };
}

/** Returns the days that ended longer ago than `within` (milliseconds) and are not reviewed. */
export function overdue(days: readonly DayStatus[], now: number, within: number): DayStatus[] {
  return days.filter(({ day, state }) => state !== 'reviewed' && now - (Date.parse(day) + DAY_MS) > within);
}
