// Collects facts about a column of dates that decide how ambiguous dates are read.

import { formatNumber } from '../../cli/output/number.ts';
import { DAY_MS, HOUR_MS } from '../../schema/durations.ts';
import type { Doubt } from '../request/checks.ts';
import type { Expiration, ReadDate } from '../date-parts.ts';
import { dateIn } from './zoned-time.ts';

/** Facts about the days and times in a column of expirations. */
export interface DateFacts {
  /** A note about the days; undefined if nothing is notable. */
  readonly days: string | undefined;
  readonly doubts: readonly Doubt[];
  /** Why the time zone of the dates is not clear; undefined if it is. */
  readonly zone: string | undefined;
}

/** The largest share of days that are neither the first nor the last of a month, in a column of expirations. */
const FEW_DAYS = 0.02;
/** The largest distance of a time zone from UTC. */
const FARTHEST_ZONE = 14 * HOUR_MS;
const LAST_DAYS = 31;

/** A date with its month in other time zones. */
export interface JudgedDate extends ReadDate {
  readonly isLastDay: boolean;
  /** The month that the time is in elsewhere; undefined if that is the same one. */
  readonly elsewhere: Expiration | undefined;
}

export function judged(date: ReadDate): JudgedDate {
  const elsewhere = date.instant === undefined ? undefined : otherMonth(date.instant, date);
  return { ...date, isLastDay: isLastDay(date), elsewhere };
}

/** Counts the days of full dates, and the times with a zone, of a column of expirations. */
export class DateCounter {
  readonly #days = new Uint32Array(LAST_DAYS + 1);
  #dates = 0;
  #lastDays = 0;
  #unclear: { readonly line: number; readonly date: JudgedDate } | undefined;
  #instants = 0;
  #nearBoundary = 0;
  #instant: { readonly line: number; readonly date: JudgedDate } | undefined;

  take(date: JudgedDate, line: number): void {
    const { day, instant, elsewhere } = date;
    if (day === undefined) return;
    this.#dates += 1;
    this.#days[day] = (this.#days[day] ?? 0) + 1;
    if (date.isLastDay) this.#lastDays += 1;
    else if (day !== 1) this.#unclear ??= { line, date };
    if (instant === undefined) return;
    this.#instants += 1;
    if (elsewhere === undefined) return;
    this.#nearBoundary += 1;
    this.#instant ??= { line, date };
  }

  found(): DateFacts {
    const zone = this.#zone();
    // In the wrong time zone, the days prove nothing.
    return { days: this.#text(), doubts: zone === undefined ? this.#doubts() : [], zone };
  }

  /** Returns the only day of all dates; undefined if there are several. */
  #onlyDay(): number | undefined {
    const day = this.#days.indexOf(this.#dates);
    return this.#dates > 0 && day > 0 ? day : undefined;
  }

  #text(): string | undefined {
    const day = this.#onlyDay();
    if (day === undefined || this.#lastDays === this.#dates) return undefined;
    return day === 1 ? 'each on the first of its month' : `each on day ${day} of its month`;
  }

  #doubts(): Doubt[] {
    const count = this.#dates - (this.#days[1] ?? 0) - this.#lastDays;
    if (this.#unclear === undefined || count <= this.#dates * FEW_DAYS || this.#onlyDay() !== undefined) return [];
    const { line, date } = this.#unclear;
    const asYear = { month: date.month, year: String(date.day).padStart(2, '0') };
    return [
      {
        check: 'days',
        problem: `${formatNumber(count)} of ${formatNumber(this.#dates)} expirations are in the middle of a month, where no card expires: line ${formatNumber(line)} is read as ${monthText(date)}, and is ${monthText(asYear)} if its day is the year`,
      },
    ];
  }

  #zone(): string | undefined {
    if (this.#instant === undefined || this.#nearBoundary < this.#instants) return undefined;
    const { line, date } = this.#instant;
    if (date.elsewhere === undefined) return undefined;
    return `the times have a zone and are near the end of a month, so that the calendar decides the month: line ${formatNumber(line)} is ${monthText(date)} as it is written, and ${monthText(date.elsewhere)} in another one`;
  }
}

/** Returns the month of an instant in some other time zone; undefined if all zones agree. */
function otherMonth(instant: number, { year, month }: Expiration): Expiration | undefined {
  return [-FARTHEST_ZONE, FARTHEST_ZONE]
    .map((shift) => dateIn('UTC', instant + shift))
    .find((date) => date !== undefined && (date.year !== year || date.month !== month));
}

/** Tells whether a date is the last of its month, or 28 February, as programs without leap years write it. */
function isLastDay({ year, month, day }: ReadDate): boolean {
  const next = new Date(Date.UTC(2000 + Number(year), Number(month) - 1, day) + DAY_MS);
  return next.getUTCDate() === 1 || (month === '02' && day === 28);
}

/** Formats an expiration as it is printed on a card. */
function monthText({ year, month }: Expiration): string {
  return `${month}/${year}`;
}
