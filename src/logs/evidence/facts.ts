import type { Context } from '../../cli/app/command.ts';
import { excelSafeRows } from '../../cli/output/csv.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { ACCESS_FIELDS, type AccessRow } from '../access/access.ts';
import { type Access, countAccess } from '../access/count-access.ts';
import type { Finding } from '../archive/records/chain.ts';
import { knownLabels } from '../known-labels.ts';
import { untilDay } from '../review/review-rules.ts';
import { statusOf } from '../review/status.ts';
import type { EvidencePlan } from './evidence.ts';
import type { EvidenceFacts } from './page.ts';

const DORMANT_MS = 90 * DAY_MS;

/** Collects what a bundle says of reviews and access. Actors have the names that svc knows; no record proves them. */
export async function evidenceFacts(
  context: Context,
  { store, dir }: { readonly store: Store; readonly dir: string },
  plan: EvidencePlan,
  problems: readonly Finding[],
): Promise<EvidenceFacts> {
  const { coverage, earlier, first, from, reviews, segments, to } = plan;
  // A damaged archive is not read beyond the days of the bundle.
  const known = problems.length === 0 ? [...earlier, ...segments] : segments;
  const days = {
    dir,
    from: Date.parse(from),
    to: untilDay(to),
    dormantMs: DORMANT_MS,
    timeless: segments.filter((segment) => segment.first === null),
    labels: await knownLabels(context, first),
  };
  const access = await countAccess(context, store, { coverage, first, segments: known }, days);
  const range = mentioned(plan);
  const statuses = range === undefined ? [] : statusOf({ coverage, segments, reviews }, range);
  const dayCount = Math.floor(plan.requested.to / DAY_MS) - plan.requested.from / DAY_MS;
  return { problems, days: statuses, dayCount, access };
}

/** Returns the requested time without what was before the archive, so that its days can be listed. */
function mentioned({ coverage, from, requested }: EvidencePlan) {
  const whole = coverage.whole();
  return whole === undefined ? undefined : { since: Math.max(Date.parse(from), whole.from), now: requested.to };
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
