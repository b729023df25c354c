import type { Context } from '../../cli/app/command.ts';
import { isWithin, type Manifest, readManifest, sumOfEntries } from '../archive/manifest.ts';
import { reportGaps, type UncoveredTime } from '../archive/archive-text.ts';
import { countEntries, openArchive } from '../archive/open-archive.ts';
import { type Interval, LogCounts } from '../count.ts';
import { type EntryFilter, isAbout, matches, valuesAmong } from '../filter.ts';
import { type IntervalInput, intervalOf } from '../options.ts';
import { timelessText } from './deleted.ts';

/** The counts of an archive, their time range, and whose entries they are. */
interface ArchiveCounts {
  readonly counts: LogCounts;
  readonly interval: Interval;
  readonly service: string;
  readonly tenantId: string;
  /** What was warned of the time that the archive does not cover. */
  readonly uncovered: readonly UncoveredTime[];
}

/** Counts the entries of an archive. @throws SvcError as `readManifest` */
export async function countArchive(
  context: Context,
  input: EntryFilter & IntervalInput,
  dir: string,
): Promise<ArchiveCounts> {
  const now = context.clock.now();
  const bounds = intervalOf(input, now);
  const store = await openArchive(context, dir);
  const manifest = await readManifest(store, bounds);
  const end = manifest.coverage.covered().at(-1)?.to ?? now;
  const until = bounds.until ?? (end > (bounds.since ?? -Infinity) ? end : now);
  const begin = manifest.coverage.covered()[0]?.from ?? until;
  const interval = { since: bounds.since ?? Math.min(begin, until), until };
  // Without a typed time, all that is archived is counted, and nothing after it was requested.
  const isEndEnough =
    bounds.since === undefined && bounds.until === undefined && manifest.coverage.covered().length > 0;
  const uncovered = reportGaps(context, manifest, bounds, { newer: "'svc logs archive' updates it", isEndEnough });
  reportTimeless(context, manifest);
  const counts = new LogCounts();
  const segments = manifest.segments.filter((segment) => isWithin(segment, interval));
  // All other filters are about counted members.
  const isById = input.entityId !== undefined || input.grep !== undefined;
  const reading = { dir, label: 'stats', store, segments, ...interval };
  const among = isById ? valuesAmong(input) : undefined;
  await countEntries(context, {
    ...reading,
    among,
    onGroup: (log, bucket) => {
      if (isAbout(log, input) && matches(log, input)) counts.add(log, bucket);
    },
  });
  const { service, tenant_id: tenantId } = manifest.first;
  return { counts, interval, service, tenantId, uncovered };
}

/** Warns of entries without a readable time, which are in no hour and not counted. A typed time leaves them out anyway. */
function reportTimeless({ notices }: Context, { segments }: Pick<Manifest, 'segments'>): void {
  const entries = sumOfEntries(segments.filter(({ first }) => first === null));
  if (entries === 0) return;
  notices.warn(`not counted: ${timelessText({ entries, deleted: [] })}`);
}
