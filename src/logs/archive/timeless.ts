import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import { entityText } from '../actor.ts';
import type { TimeRange } from '../entry.ts';
import type { TimelessSegment } from './manifest.ts';
import { withByteProgress } from './open-archive.ts';
import type { Segment } from './records/record.ts';

/** Entries without a readable time, and what was deleted by some of them. */
export interface Timeless {
  readonly entries: number;
  readonly deleted: readonly Pick<Log, 'entity_type' | 'entity_id'>[];
}

const MOST_NAMED = 3;

/** Returns how many entries have no readable time, and what was deleted by them. */
export function timelessText({ entries, deleted }: Timeless): string {
  const names = deleted.slice(0, MOST_NAMED).map((entity) => entityText(entity) || 'something without a name');
  const more = deleted.length > MOST_NAMED ? ' …' : '';
  const named = names.length === 0 ? '' : `; deleted among them: ${names.join(', ')}${more}`;
  return `${countText(entries, 'entry')} without a readable time (created_at), which 'svc logs search' shows last${named}`;
}

/** Returns the segments without a readable time that were archived while a part of this time was read. */
export function timelessOf(all: readonly TimelessSegment[], { from, to }: TimeRange): Segment[] {
  return all.filter((one) => one.from < to && (one.to > from || one.from >= from)).map(({ segment }) => segment);
}

export function sumOfEntries(segments: readonly Segment[]): number {
  return segments.reduce((sum, { entries }) => sum + entries, 0);
}

/** Reads entries without a readable time, which the index does not count. */
export async function readTimeless(
  context: Context,
  {
    dir,
    label,
    store,
    segments,
  }: { readonly dir: string; readonly label: string; readonly store: Store; readonly segments: readonly Segment[] },
  onLog: (log: Log) => void,
): Promise<void> {
  if (segments.length === 0) return;
  const { readSegment } = await import('./read-segment.ts');
  await withByteProgress(context, { dir, label, store, segments }, async (onBytes) => {
    for (const segment of segments)
      for await (const logs of readSegment(store, segment, { signal: context.signal, onBytes })) logs.forEach(onLog);
  });
}
