// Collects what an evidence bundle says of reviews and access.

import type { Context } from '../../cli/app/command.ts';
import { excelSafeRows } from '../../cli/output/csv.ts';
import type { Store } from '../../client/store/store.ts';
import { knownLabels } from '../actor.ts';
import type { Finding } from '../archive/records/chain.ts';
import type { EvidencePlan } from './evidence.ts';
import { type Access, countAccess } from '../report/access.ts';
import { untilDay } from '../report/review-rules.ts';
import { statusOf } from '../report/status.ts';
import { ACCESS_FIELDS, type AccessRow, type DayStatus } from '../report/views.ts';
import { DAY_MS } from '../../schema/durations.ts';

const DORMANT_MS = 90 * DAY_MS;

/** Collects what a bundle says of reviews and access. Actors have the names that svc knows; no record proves them. */
export async function evidenceFacts(
  context: Context,
  { store, dir }: { readonly store: Store; readonly dir: string },
  plan: EvidencePlan,
  problems: readonly Finding[],
): Promise<EvidenceFacts> {
  const { coverage, earlier, first, from, reviews, segments, to } = plan;
  const isIntact = problems.length === 0;
  // A damaged archive is not read beyond the days of the bundle.
  const knownSegments = isIntact ? [...earlier, ...segments] : segments;
  const period = {
    dir,
    from: Date.parse(from),
    to: untilDay(to),
    dormantMs: DORMANT_MS,
    timeless: segments.filter((segment) => segment.first === null),
    labels: await knownLabels(context, first),
  };
  const counted = await countAccess(context, store, { coverage, first, segments: knownSegments }, period);
  const access = isIntact ? counted : withoutPast(counted);
  const range = archivedRange(plan);
  const statuses = range === undefined ? [] : statusOf({ coverage, segments, reviews }, range);
  const dayCount = Math.floor(plan.requested.to / DAY_MS) - plan.requested.from / DAY_MS;
  return { problems, days: statuses, dayCount, access };
}

/** Returns access without what only the days before could show: who is new, and the first entries. */
function withoutPast(access: Access): Access {
  const rows = access.rows.map((row) => ({ ...row, first_at: null, is_new: null }));
  return { ...access, hasPast: false, rows };
}

/** Returns the requested time, without the part before the archive began; undefined for an empty archive. */
function archivedRange({ coverage, requested }: EvidencePlan) {
  const began = coverage.began();
  return began === undefined ? undefined : { since: Math.max(requested.from, began), now: requested.to };
}

/** Returns the rows of an access review as CSV. */
export function accessCsv({ rows }: Access): string {
  const lines = rows.map((row) => ACCESS_FIELDS.map((name) => cellOf(row[name])));
  return excelSafeRows(ACCESS_FIELDS, [[...ACCESS_FIELDS], ...lines]);
}

function cellOf(value: AccessRow[keyof AccessRow]): string | number {
  if (value === null) return '';
  if (typeof value === 'object') return value.join(' ');
  return typeof value === 'boolean' ? String(value) : value;
}

/** What the page of a bundle shows in addition to the bundle's plan. */
export interface EvidenceFacts {
  readonly problems: readonly Finding[];
  /** The requested days that are over, without those before the archive began. */
  readonly days: readonly DayStatus[];
  /** The number of requested days that are over, with those before the archive began. */
  readonly dayCount: number;
  readonly access: Access;
}
