import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, typedCommand } from '../../cli/app/hint.ts';
import { type PageColumn, tableSection, timeCell } from '../../cli/output/page-table.ts';
import { escapeHtml } from '../../cli/output/page.ts';
import { wrapWords } from '../../cli/output/text.ts';
import { fixedPercent, formatNumber, formatPercent, isoTime, utcTime } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import type { MissingText } from '../archive/archive-text.ts';
import { type Interval, OTHERS, restShare, type StatsRow } from '../count.ts';
import { DEFAULT_RETENTION_MS, LEAST_GAP_MS } from '../entry.ts';
import { filterWords } from '../filter.ts';
import { type RetentionInput, retentionWords } from '../options.ts';
import { requireKept } from '../read-list.ts';
import { type Part, REVIEW_PARTS } from './findings.ts';
import { archivePage } from './page.ts';
import { deletedSection, rowSection } from './review-page.ts';
import { summaryLines } from './review-terminal.ts';
import type { Shift, ShiftFilter } from './shift.ts';

export const SHIFT_TITLE = 'Shift, read live';
/** How much a table names where it need not fit a screen. */
const MOST = { actors: 10, kinds: Infinity };

/** Returns the parts of a shift. A filter, or a beginning that was not read, may leave entries out. */
function shiftParts(shift: Shift, isFiltered: boolean): Part[] {
  const among = [...(isFiltered ? ['that match'] : []), ...(partText(shift) === undefined ? [] : ['that were read'])];
  const none = `none among the entries ${among.join(' and ')}`;
  const isShown = ([name]: Part): boolean =>
    name === 'deletions' || name === 'changes' || (name === 'new_actors' && shift.hasPast);
  return REVIEW_PARTS.filter(isShown).map(([name, heading, nothing]) => [
    name,
    heading,
    among.length === 0 ? nothing : none,
  ]);
}

/** Returns what a terminal shows of a shift before its counts: what was not read, then who deleted and changed what. */
export function shiftLines(
  context: Pick<Context, 'out' | 'palette' | 'unicode' | 'plain' | 'globals'>,
  shift: Shift,
  { labels, isFiltered }: { readonly labels: ActorLabels; readonly isFiltered: boolean },
): string[] {
  const part = partText(shift);
  const warning = part === undefined ? [] : wrapWords(part, context.out.width).map(context.palette.bad);
  const most = context.out.isTerminal && !context.globals.wide ? {} : MOST;
  const tables = shiftParts(shift, isFiltered).flatMap((one) =>
    [''].concat(summaryLines(context, shift.findings, labels, one, most)),
  );
  return [...warning, ...tables];
}

/** Returns which part of a shift was read, and its share of the time: undefined if all of it was. */
function partText({ requested, interval }: Pick<Shift, 'requested' | 'interval'>): string | undefined {
  if (interval.since <= requested.since) return undefined;
  const share = formatPercent((interval.until - interval.since) / (requested.until - requested.since));
  const [day] = isoTime(requested.since).split('T');
  const isOneDay = isoTime(requested.until).startsWith(`${day}T`);
  const timeOf = (at: number): string => {
    const time = utcTime(at).replace(/:00Z$/, 'Z');
    return isOneDay ? time.slice('2026-01-31 '.length) : time;
  };
  const rangeOf = ({ since, until }: Interval): string => `${timeOf(since)} to ${timeOf(until)}`;
  return `read ${rangeOf(interval)} of ${rangeOf(requested)}${isOneDay ? ` on ${day}` : ''} (${share})`;
}

/** Returns the part of a shift that was not read, or that the service no longer kept, and why. */
export function missingOf(shift: Shift, { retention }: RetentionInput): MissingText[] {
  const { requested, interval, oldest, now } = shift;
  const part = partText(shift);
  const edge = Math.min(now - (retention ?? DEFAULT_RETENTION_MS), oldest, requested.until);
  const to = part === undefined ? edge : interval.since;
  if (part === undefined && edge - requested.since < LEAST_GAP_MS) return [];
  const reason = part ?? 'older than the service keeps them';
  return [{ from: isoTime(requested.since), to: isoTime(to), reason }];
}

/**
 * Reports what of a shift was not read, or is no longer kept, and the command for the rest.
 * @throws SvcError `entries_missing` with --strict
 */
export async function requireShift(context: Context, input: ShiftFilter, shift: Shift): Promise<void> {
  const { requested, interval, oldest, now } = shift;
  const part = partText(shift);
  if (part === undefined) {
    if (missingOf(shift, input).length === 0) return;
    return requireKept(context, requested, input, { more: false, oldest }, now);
  }
  const next = [
    'logs',
    'stats',
    ...option('--since', isoTime(requested.since)),
    ...option('--until', isoTime(interval.since)),
    ...filterWords(input),
    ...(input.hideOwnReads ? ['--hide-own-reads'] : []),
    ...option('--archive', input.archive),
    ...option('--max', input.max?.toString()),
    ...retentionWords(input),
    // The page of the part that was read must not be replaced by that of the rest.
    ...option('--html', input.html === undefined ? undefined : '<file>'),
  ];
  if (input.strict)
    throw new SvcError('entries_missing', part, { hint: 'The rest is older, and was not counted. To read it:', next });
  const { notices, globals, system } = context;
  // A warning is shown with --quiet too.
  if (notices.shows('normal')) notices.failure(part);
  else notices.warn(part);
  notices.note('for the rest');
  notices.command(typedCommand(next, globals, system));
}

interface PageFacts {
  readonly service: string;
  readonly labels: ActorLabels;
  /** The filters as they were typed. */
  readonly filters: readonly string[];
  readonly missing: readonly MissingText[];
  /** The time of the page in epoch milliseconds. */
  readonly madeAt: number;
}

const COLUMNS: readonly PageColumn[] = [
  { title: 'By' },
  { title: 'Value' },
  { title: 'Entries', isNumber: true },
  { title: 'Share', isNumber: true },
  { title: 'First (UTC)' },
  { title: 'Last (UTC)' },
];

/** Returns a shift as one self-contained page, to hand over. It is no review: nobody can read the same entries again. */
export function shiftPage(shift: Shift, { service, labels, filters, missing, madeAt }: PageFacts): string {
  const { counts, findings, interval, tenantId } = shift;
  const words = { labels, timeOf: timeCell };
  const parts = shiftParts(shift, filters.length > 0).map((part) => rowSection(part, findings, words));
  const range = `${utcTime(interval.since)} to ${utcTime(interval.until)}`;
  const only =
    filters.length === 0 ? '' : `<p>Only entries that match: <code>${escapeHtml(filters.join(' '))}</code></p>\n`;
  return archivePage(
    { service, tenant_id: tenantId, entries: counts.entries, missing },
    { title: SHIFT_TITLE, complete: `All entries from ${range} were read.`, madeAt },
    `${only}${parts.join('')}${deletedSection(findings, words)}${countSection(shift, labels)}`,
  );
}

/** Returns all counts in a table; own reads of the logs stand above it, and the shares of the rest in it. */
function countSection({ counts, interval, own }: Shift, labels: ActorLabels): string {
  const rows = counts.rows(interval);
  if (own === undefined) {
    const cells = rows.map((row) => cellsOf(row, labels));
    return tableSection('Counts', COLUMNS, cells);
  }
  const rest = own.rest.rows(interval);
  const cells = rows.map((row) => cellsOf(row, labels).concat(row.by === 'all' ? '' : restShare(row, rest)));
  const share = fixedPercent(own.count / counts.entries);
  const text = `reads of the logs by this key (${wholeActorText(own.sample, labels)}): ${formatNumber(own.count)}, ${share}`;
  return tableSection('Counts', [...COLUMNS, { title: 'Share of the rest', isNumber: true }], cells, {
    before: `<p>${escapeHtml(text)}</p>\n`,
  });
}

function cellsOf({ by, value, actor_type, count, share, first_at, last_at }: StatsRow, labels: ActorLabels): string[] {
  const isActor = by === 'actor' && value !== null && value !== OTHERS;
  const name = isActor
    ? wholeActorText({ actor_id: value, actor_type }, labels)
    : (value ?? (by === 'all' ? '' : '(none)'));
  const times = [first_at, last_at].map((at) => (at === null ? '' : timeCell(at)));
  return [
    by.replaceAll('_', ' '),
    by === 'hour' && value !== null ? timeCell(value) : name,
    formatNumber(count),
    fixedPercent(share),
    ...times,
  ];
}
