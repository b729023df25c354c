// Lists which days were reviewed.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Moment } from '../../cli/app/moment.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { formatDuration, isoTime, startOfDay } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type Manifest, readManifest, type SignedReview } from '../archive/manifest.ts';
import { openArchive } from '../archive/open-archive.ts';
import { isoMissing } from '../archive/records/coverage.ts';
import { dayIn, dayOf, partNumber } from '../archive/records/record.ts';
import { pastTime } from '../options.ts';
import { isDayMissing } from './review.ts';
import { type DayState, type DayStatus, statusView } from './views.ts';

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
    const missing = manifest.coverage.missing({ from: at, to: at + DAY_MS }).map(isoMissing);
    const signed = reviews.get(day) ?? [];
    const newest = signed.at(-1);
    const own = segments.get(day) ?? [];
    const count = (some: typeof own): number => some.reduce((sum, { entries }) => sum + entries, 0);
    const late = newest ? count(own.filter(({ path }) => partNumber(path) > newest.number)) : 0;
    days.push({
      day,
      state: newest && late === 0 ? 'reviewed' : isDayMissing(missing) ? 'uncovered' : 'open',
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
    const noFindings = { findings: null, findings_entries: null };
    return { signed_at: null, by: null, account: null, note: null, ...noFindings, record: null };
  }
  const { written_at: at, by, account, note = null, findings, findings_entries = null, number } = review;
  return { signed_at: isoTime(Date.parse(at)), by, account, note, findings, findings_entries, record: number };
}

/** Returns the days that ended longer ago than `within` (milliseconds) and are not reviewed. */
function overdue(days: readonly DayStatus[], now: number, within: number): DayStatus[] {
  return days.filter(({ day, state }) => state !== 'reviewed' && now - (Date.parse(day) + DAY_MS) > within);
}

/** The error for days that are open for longer than `within` milliseconds; `first` is the oldest. */
function daysOpen(archive: string, first: DayStatus, open: readonly DayStatus[], within: number): SvcError {
  const are = `${countText(open.length, 'day')} of ${archive} ${open.length === 1 ? 'is' : 'are'}`;
  return new SvcError('threshold', `${are} open for longer than ${formatDuration(within)}, the first: ${first.day}`, {
    hint: 'Review the days, and sign them off.',
    next: ['logs', 'review', archive, '--day', first.day],
    facts: { open: open.map((one) => one.day) },
  });
}

/** The error for a day that should be in the archive and is not. */
function archiveStopped(archive: string, { day }: DayStatus): SvcError {
  return new SvcError('entries_missing', `${archive} has nothing of ${day} yet, so nobody can review it`, {
    hint: 'Find out why the archive was not updated, then update it.',
    next: ['logs', 'archive', archive],
    facts: { day },
  });
}

const STATUS_DAYS = 90;

interface StatusOptions {
  readonly dir: string;
  readonly since: Moment | undefined;
  readonly within: number | undefined;
}

/** Lists the days with their reviews. @throws SvcError `threshold`, `entries_missing` with `--within` */
export async function reviewStatus(context: Context, { dir, since, within }: StatusOptions): Promise<void> {
  const print = await listPrinter(context, statusView);
  const now = context.clock.now();
  const first = since ? pastTime(since, now) : now - STATUS_DAYS * DAY_MS;
  const store = await openArchive(context, dir);
  // The first day is judged as a whole, so its earlier segments count too.
  const manifest = await readManifest(store, { since: startOfDay(first), until: now });
  const days = statusOf(manifest, { since: since ? first : Math.max(beginOf(manifest), first), now });
  await print(oneBatch(days));
  const countState = (state: DayState): number => days.filter((one) => one.state === state).length;
  context.notices.note(
    `${countState('reviewed')} reviewed, ${countState('open')} open, ${countState('uncovered')} not in the archive`,
  );
  if (within !== undefined) requireNoneLate(store.name, overdue(days, now, within), within);
}

/** Returns the beginning of an archive, even before it has entries. */
function beginOf({ coverage, last }: Pick<Manifest, 'coverage' | 'last'>): number {
  // Before the first commit, the archive still ends where it began.
  return (coverage.covered()[0] ?? coverage.whole())?.from ?? Date.parse(last.record.position.read_to);
}

function requireNoneLate(archive: string, late: readonly DayStatus[], within: number): void {
  const open = late.filter(({ state }) => state === 'open');
  const [first] = open;
  if (first !== undefined) throw daysOpen(archive, first, open, within);
  const stopped = late.find(({ missing }) => missing.includes('not archived yet'));
  if (stopped !== undefined) throw archiveStopped(archive, stopped);
}
