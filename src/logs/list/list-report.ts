import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { nextCommand, option, typedCommand } from '../../cli/app/hint.ts';
import { type PagingInput, pagingWords } from '../../cli/app/paging.ts';
import { reportRest } from '../../cli/app/print.ts';
import { countText, isoTime, SECOND_MS, wholeSecond, utcTime } from '../../cli/output/time.ts';
import { isEndless } from '../../client/api/pages.ts';
import { clientFilters, filterWords, reportFiltered } from '../filter.ts';
import { type EntityInput, type EntryInput, type intervalOf, type RetentionInput, retentionWords } from '../options.ts';
import type { ListReading } from './read-list.ts';

type Interval = ReturnType<typeof intervalOf>;
type ListInput = EntryInput &
  EntityInput &
  PagingInput &
  RetentionInput & { readonly hideOwnReads?: boolean | undefined };

/** Reports how much of the log was searched, what that found, and the command for the rest. */
export function reportSearched(
  context: Context,
  input: ListInput,
  interval: Interval,
  {
    reading,
    isFiltered,
    most,
  }: { readonly reading: ListReading; readonly isFiltered: boolean; readonly most: ReadLimits },
): void {
  const range = isFiltered ? rangeOf(reading) : '';
  const isEarly = reading.more && reading.read >= most.mostRead && reading.shown < (most.limit ?? 0);
  const rest = isEarly ? restWords(input, interval, reading) : undefined;
  reportFiltered(context, input, reading, rest === undefined ? range : '');
  // The note on filters has just said that there was no match.
  if (rest === undefined && reading.shown === 0 && !reading.more && clientFilters(input).length > 0) return;
  if (rest === undefined)
    return reportRest(context, reading, {
      nothing: 'no log entries',
      limit: input.limit,
      wordsFrom: (start) => wordsFrom(input, interval, start),
    });
  context.notices.note(`searched ${countText(reading.read, 'entry')}${range}; to search on`);
  context.notices.command(typedCommand(rest, context.globals, context.system));
}

/** The most entries to show, and the most to read for them. */
interface ReadLimits {
  readonly limit: number | undefined;
  readonly mostRead: number;
}

function rangeOf({ first, oldest, newest }: ListReading): string {
  return first === undefined ? '' : `, from ${utcTime(oldest)} to ${utcTime(newest)}`;
}

/** Adds to the error for a list without an end what was searched, and the command that continues there. */
export function withSearched(error: unknown, input: ListInput, interval: Interval, reading: ListReading): unknown {
  if (!isEndless(error)) return error;
  const searched = `searched ${countText(reading.read, 'entry')}${rangeOf(reading)}`;
  return error.with({
    message: `${error.message}; ${searched}`,
    hint: 'The service may search one time range after the other. To search on:',
    next: restWords(input, interval, reading),
  });
}

/** Returns the command that reads on: from the cursor or, without one, from the time of the last entry. */
function restWords(input: ListInput, interval: Interval, { first, last, next }: ListReading): string[] | undefined {
  if (next !== undefined) return wordsFrom(input, interval, next);
  // The cursors belong to a narrower list, so the command continues by time and may repeat entries of one second.
  if (first === undefined || last === undefined) return undefined;
  const { since, until } = interval;
  const rest = last < first ? { since, until: wholeSecond(last) + SECOND_MS } : { since: wholeSecond(last), until };
  return wordsFrom(input, rest, undefined);
}

/** Returns the command of a list from a cursor. The times are absolute, because a cursor belongs to its filters. */
function wordsFrom(input: ListInput, { since, until }: Interval, start: string | undefined): string[] {
  return [
    'logs',
    'list',
    ...option('--since', isoTime(since)),
    ...option('--until', isoTime(until)),
    ...filterWords(input),
    ...(input.hideOwnReads ? ['--hide-own-reads'] : []),
    ...retentionWords(input),
    ...pagingWords(input, start),
  ];
}

/** Warns that a page is not of the newest entries: the service promises no order. */
export function warnOfOldest({ notices, globals, system }: Context, { since }: Interval): void {
  const where = since === undefined ? 'of the log' : 'of the requested time';
  notices.warn(`this service lists its oldest entries first: these are the oldest ${where}, not the newest`);
  notices.note(`for the newest: ${nextCommand(['logs', 'tail', '--last', '<n>'], globals, system)}`);
}

/**
 * Warns where entries may be missing because the service no longer keeps them. `now` is the service's time.
 * @throws SvcError `entries_missing` with `--strict`
 */
export async function requireKept(
  { notices }: Context,
  { since, until = Infinity }: Interval,
  { retention, strict }: RetentionInput,
  { more, oldest }: Pick<ListReading, 'more' | 'oldest'>,
  now: number,
): Promise<void> {
  const { DEFAULT_RETENTION_MS, LEAST_GAP_MS } = await import('../entry.ts');
  const edge = now - (retention ?? DEFAULT_RETENTION_MS);
  // The service deletes the oldest entries first, so the oldest entry read proves that all later ones exist.
  const to = Math.min(edge, until, more ? Infinity : oldest);
  // Without --since, an entry that was found shows that the service keeps entries of that time.
  if (since === undefined ? until > edge || oldest < Infinity : to - since < LEAST_GAP_MS) return;
  const gap = `entries may be missing ${since === undefined ? 'before' : `from ${utcTime(since)} to`} ${utcTime(to)}`;
  notices.warn(`${gap}: older than the service keeps them (--retention)`);
  if (strict)
    throw new SvcError('entries_missing', 'entries may be missing: the service no longer has them', {
      hint: 'Search an archive of the logs instead, or choose a later time.',
    });
}
