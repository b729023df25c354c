// The sections of reviews and shifts.

import { timeCell } from '../../cli/output/page-table.ts';
import { utcTime } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { Column } from '../../cli/output/view.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { operationTone } from '../view.ts';
import type { DeletedEntity } from './deleted.ts';
import { type Findings, headingOf, type Part, skippedText } from './findings.ts';
import { type ReportWords, reportTable, type Section } from './report.ts';
import type { DayFindings, ReviewRow } from './review.ts';

/** The most rows of a section on a terminal, so that a report fits a screen. */
const FEW = 3;
/** As `FEW`, with --verbose. */
const MANY = 20;

const WHOLE_TIME = '2026-01-31 09:00:00'.length;

/** Stands for a time that is not readable. */
const NO_TIME = 'no time';
const NO_ACTOR = 'no actor';

/** Returns a section for each kind of finding: deletions, changes, new actors and new operations. */
export function findingSections(
  findings: Findings,
  parts: readonly Part[],
  { actorOf }: ReportWords,
  isVerbose: boolean,
): Section[] {
  const columns: Column<ReviewRow>[] = [
    { path: 'operation', kind: 'text', paint: operationTone, repeats: ({ operation }) => operation === null },
    { path: 'entity_type', header: 'entity', kind: 'text', repeats: ({ entity_type: type }) => type === null },
    { path: 'actor_id', header: 'actor', kind: 'text', show: (_, row) => actorOf(row) || NO_ACTOR },
    { path: 'count', header: 'entries', kind: 'number' },
    {
      path: 'first_at',
      header: 'time (UTC)',
      kind: 'text',
      priority: 1,
      minWidth: WHOLE_TIME,
      show: (_, row) => timesOf(row),
    },
  ];
  return parts.map(([name, heading, nothing]) => {
    const rows = findings[name];
    if (rows === null) return { heading, sentences: [skippedText(findings)] };
    if (rows.length === 0) return { heading, sentences: [['quiet', nothing]] };
    const of = name === 'new_operations' ? columns.filter(({ path }) => path !== 'actor_id') : columns;
    const table = reportTable(of, rows, { most: isVerbose ? MANY : FEW });
    return { heading: headingOf(heading, name, findings), table };
  });
}

function timesOf({ first_at: first, last_at: last }: ReviewRow): string {
  if (first === null) return NO_TIME;
  const [from, to] = [first, last ?? first].map(timeCell) as [string, string];
  if (from === to) return from;
  return `${from} to ${to.startsWith(from.slice(0, 10)) ? to.slice(11) : to}`;
}

/** Returns the deleted entities one by one, as far as they are kept; on a terminal only if they are few. */
export function deletedSections(
  deleted: readonly DeletedEntity[],
  { findings_entries: counts }: Pick<Findings, 'findings_entries'>,
  { actorOf }: ReportWords,
  isVerbose: boolean,
): Section[] {
  if (deleted.length === 0) return [];
  const columns: Column<DeletedEntity>[] = [
    {
      path: 'created_at',
      header: 'time (UTC)',
      kind: 'text',
      minWidth: WHOLE_TIME,
      show: (at) => (typeof at === 'string' ? timeCell(at) : NO_TIME),
    },
    { path: 'entity_type', header: 'entity', kind: 'text' },
    { path: 'entity_id', header: 'id', kind: 'id' },
    { path: 'actor_id', header: 'actor', kind: 'text', priority: 1, show: (_, row) => actorOf(row) || NO_ACTOR },
  ];
  const total = counts.deletions ?? deleted.length;
  const options = { most: isVerbose ? MANY : total > FEW ? 0 : FEW, total };
  return [{ heading: 'Deleted entities', table: reportTable(columns, deleted, options) }];
}

/** Returns the entries of a day by hour, with the unusually busy hours in words. */
export function hourSection(day: number, { hours, median, busy_hours: busy }: DayFindings): Section {
  return {
    heading: 'Entries by hour',
    hours: {
      counts: hours.map((count, hour) => ({ at: day + hour * HOUR_MS, count })),
      busy: new Set(busy.map(({ hour }) => Date.parse(hour))),
    },
    sentences: busy.map(({ hour, count }) => [
      'warn',
      `${utcTime(hour)}: ${countText(count, 'entry')}, more than four times the median of ${formatNumber(median)}`,
    ]),
  };
}
