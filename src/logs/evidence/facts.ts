import type { Context } from '../../cli/app/command.ts';
import { excelSafeRows } from '../../cli/output/csv.ts';
import type { AccessRow } from '../access/access.ts';
import { type Access, countAccess } from '../access/count-access.ts';
import type { Finding } from '../archive/chain.ts';
import type { EvidencePlan } from '../archive/evidence.ts';
import { untilDay } from '../archive/review-rules.ts';
import type { ArchiveStore } from '../archive/store.ts';
import { statusOf } from '../review/status.ts';
import type { EvidenceFacts } from './page.ts';

const DAY_MS = 86_400_000;
const DORMANT_MS = 90 * DAY_MS;

/** Collects what a bundle says of reviews and access. The names of actors are left out, because no record proves them. */
export async function evidenceFacts(
  context: Context,
  { store, dir }: { readonly store: ArchiveStore; readonly dir: string },
  plan: EvidencePlan,
  problems: readonly Finding[],
): Promise<EvidenceFacts> {
  const { coverage, earlier, first, from, index, reviews, segments, to } = plan;
  // A damaged archive is not read beyond the days of the bundle.
  const known = problems.length === 0 ? [...earlier, ...segments] : segments;
  const days = {
    dir,
    from: Date.parse(from),
    to: untilDay(to),
    dormantMs: DORMANT_MS,
    labels: new Map<string, string>(),
  };
  const access = await countAccess(context, store, { coverage, first, index, segments: known }, days);
  const range = mentioned(plan);
  const statuses = range === undefined ? [] : statusOf({ coverage, segments, reviews }, range);
  return { problems, days: statuses, access };
}

/** Returns the part of the days of a bundle that the archive says something about. */
function mentioned({ coverage, from, to }: EvidencePlan): { readonly since: number; readonly now: number } | undefined {
  const ranges = [...coverage.covered(), ...coverage.gaps()];
  if (ranges.length === 0) return undefined;
  const since = Math.max(Date.parse(from), Math.min(...ranges.map((range) => range.from)));
  const end = Math.max(...ranges.map((range) => range.to));
  return { since, now: Math.min(untilDay(to), Math.ceil(end / DAY_MS) * DAY_MS) };
}

const COLUMNS = [
  'actor_id',
  'actor_type',
  'first_at',
  'last_at',
  'entries',
  'reads',
  'changes',
  'deletes',
  'entity_types',
  'is_new',
  'is_dormant',
] as const satisfies readonly (keyof AccessRow)[];

/** Returns the rows of an access review as CSV. */
export function accessCsv({ rows }: Access): string {
  const lines = rows.map((row) => COLUMNS.map((name) => cellOf(row[name])));
  return excelSafeRows(COLUMNS, [[...COLUMNS], ...lines]);
}

function cellOf(value: AccessRow[keyof AccessRow]): string | number {
  if (value === null) return '';
  if (typeof value === 'object') return value.join(' ');
  return typeof value === 'boolean' ? String(value) : value;
}
