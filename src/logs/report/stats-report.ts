// The counts of an archive or a shift, as a report.

import { parseTime } from '../../cli/output/time.ts';
import { countText, fixedPercent } from '../../cli/output/number.ts';
import type { Column } from '../../cli/output/view.ts';
import type { MissingText } from '../archive/archive-text.ts';
import { type Interval, type LogCounts, OTHERS, type StatsRow } from '../count.ts';
import { operationTone } from '../view.ts';
import { type Part, partsSaying } from './findings.ts';
import { BAR_COLUMNS, type Report, reportTable, type ReportWords, type Section } from './report.ts';
import { missingSentences, sourceText, subjectText } from './review-report.ts';
import { deletedSections, findingSections } from './sections.ts';
import { intervalText, partText, type Shift } from './shift.ts';

/** The most values of a kind on a terminal. */
const MAX_VALUES = 6;

const KINDS = [
  ['entity_type', 'Entity types'],
  ['operation', 'Operations'],
  ['actor', 'Actors'],
] as const;

/** Returns the counts of an archive for people. */
export function archiveReport(counts: LogCounts, interval: Interval, words: ReportWords): Report {
  return {
    title: `${countText(counts.entries, 'log entry')} from ${intervalText(interval)}`,
    sentences: [],
    sections: countSections(counts, interval, words),
  };
}

/** Returns the counts of entries for people: by hour, and the most frequent values first. */
function countSections(counts: LogCounts, interval: Interval, words: ReportWords): Section[] {
  if (counts.entries === 0) return [];
  const rows = counts.rows(interval);
  return [hourSection(rows), ...KINDS.map(([by, heading]) => valueSection(by, heading, rows, words))];
}

function hourSection(rows: readonly StatsRow[]): Section {
  const counts = rows.flatMap(({ by, value, count }) => {
    const at = by === 'hour' && value !== null ? parseTime(value) : undefined;
    return at === undefined ? [] : [{ at, count }];
  });
  return { heading: 'Entries by hour', hours: { counts } };
}

function valueSection(
  kind: (typeof KINDS)[number][0],
  heading: string,
  all: readonly StatsRow[],
  { actorOf, barOf }: ReportWords,
): Section {
  const rows = all.filter(({ by }) => by === kind);
  const maxCount = Math.max(...rows.map(({ count }) => count));
  const nameOf = ({ value, actor_type }: StatsRow): string => {
    if (value === null) return '(none)';
    return kind === 'actor' && value !== OTHERS ? actorOf({ actor_id: value, actor_type }) : value;
  };
  const columns: Column<StatsRow>[] = [
    {
      path: 'value',
      header: kind.replace('_', ' '),
      kind: 'text',
      show: (_, row) => nameOf(row),
      paint: (value) => (kind === 'operation' ? operationTone(value) : undefined),
    },
    { path: 'count', header: 'entries', kind: 'number' },
    { path: 'share', kind: 'number', show: (_, { share }) => fixedPercent(share) },
    ...(barOf
      ? [
          {
            path: 'by',
            header: '',
            kind: 'text' as const,
            priority: 3,
            // A bar that is cut says something else.
            minWidth: BAR_COLUMNS,
            show: (_: unknown, { count }: StatsRow) => barOf(count / maxCount),
            paint: () => 'accent' as const,
          },
        ]
      : []),
    { path: 'first_at', header: 'first', kind: 'time', priority: 1 },
    { path: 'last_at', header: 'last', kind: 'time', priority: 2 },
  ];
  return { heading, table: reportTable(columns, rows, { most: MAX_VALUES }) };
}

const SHIFT_TITLE = 'Shift, read live (UTC)';

interface ShiftFacts {
  readonly service: string;
  /** The filters as they were typed. */
  readonly filters: readonly string[];
  readonly missing: readonly MissingText[];
  /** The time of the report in epoch milliseconds. */
  readonly madeAt: number;
}

/** Returns a shift for people. It is no review: nobody can read the same entries again. */
export function shiftReport(
  shift: Shift,
  words: ReportWords,
  { service, filters, missing, madeAt }: ShiftFacts,
): Report {
  const { counts, findings, interval, requested, tenantId } = shift;
  const { entries } = counts;
  const only = filters.length === 0 ? [] : [`Only entries that match: ${filters.join(' ')}`];
  const part = partText(shift);
  return {
    title: SHIFT_TITLE,
    sentences: [
      subjectText({ entries, tenant_id: tenantId, service }),
      ...(part === undefined
        ? missingSentences(missing, `all entries from ${intervalText(requested)} were read`)
        : [['bad', part] as const]),
      ...only,
    ],
    source: [sourceText(undefined, madeAt)],
    sections: [
      ...findingSections(findings, shiftParts(shift, filters.length > 0, missing.length === 0), words, false),
      ...deletedSections(findings.deleted, findings, words, false),
      ...countSections(counts, interval, words),
    ],
  };
}

/** Returns the parts of a shift. A filter, a beginning that was not read, or one that the service deleted may leave entries out. */
function shiftParts(shift: Shift, isFiltered: boolean, isWhole: boolean): Part[] {
  const wasRead = isWhole && partText(shift) === undefined;
  const among = [...(isFiltered ? ['that match'] : []), ...(wasRead ? [] : ['that were read'])];
  const none = `none among the entries ${among.join(' and ')}`;
  const isShown = ([name]: Part): boolean =>
    name === 'deletions' || name === 'changes' || (name === 'new_actors' && shift.hasPast);
  return partsSaying(among.length === 0 ? undefined : none).filter(isShown);
}
