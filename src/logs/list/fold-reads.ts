import type { Context } from '../../cli/app/command.ts';
import { formatNumber, parseTime } from '../../cli/output/time.ts';
import type { View } from '../../cli/output/view.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorNames } from '../actor-names.ts';
import type { EntryFilter } from '../entry-filter.ts';
import { isReadOfLogs } from '../filter.ts';
import { shownTime } from '../sentences.ts';

/** The consecutive reads of the logs by one actor that one line stands for. */
interface Run {
  count: number;
  oldest: number;
  newest: number;
}

/** No member of an entry has this key, whatever members the service adds. */
const RUN = Symbol('run of reads');

type ShownLog = Log & { readonly [RUN]?: Run };

/** Whether a list folds reads of the logs. Filters that name reads or a type of entity show that each is wanted. */
export function foldsReads({ entityType, operation }: Pick<EntryFilter, 'entityType' | 'operation'>): boolean {
  return entityType === undefined && !operation.includes('read');
}

/** Returns the view of people in which a run of reads is one dim line. */
export function foldedView(context: Context, actors: ActorNames): View<Log> {
  return {
    ...actors.view,
    aside: (log: ShownLog) => {
      const run = log[RUN];
      return (
        run &&
        `read log ${context.unicode ? '×' : 'x'}${formatNumber(run.count)} by ${actors.textOf(log)}${rangeOf(context, run)}`
      );
    },
  };
}

/** Replaces each run of consecutive reads of the logs by one actor by its first entry, which counts the run. */
export async function* foldReads(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
  let open: { readonly log: Log; readonly run: Run } | undefined;
  const folded = (): ShownLog[] => {
    if (open === undefined) return [];
    return [open.run.count === 1 ? open.log : { ...open.log, [RUN]: open.run }];
  };
  for await (const batch of batches) {
    const shown: ShownLog[] = [];
    for (const log of batch) {
      const isFoldable = isReadOfLogs(log) && Boolean(log.actor_id);
      if (open !== undefined && isFoldable && log.actor_id === open.log.actor_id) {
        extend(open.run, log);
        continue;
      }
      shown.push(...folded());
      open = isFoldable ? { log, run: extend({ count: 0, oldest: Infinity, newest: -Infinity }, log) } : undefined;
      if (!isFoldable) shown.push(log);
    }
    yield shown;
  }
  yield folded();
}

function extend(run: Run, { created_at: created }: Log): Run {
  const at = parseTime(created);
  run.count += 1;
  run.oldest = Math.min(run.oldest, at ?? Infinity);
  run.newest = Math.max(run.newest, at ?? -Infinity);
  return run;
}

const WHOLE_TIME = /^(\S+) (\d\d:\d\d):\d\d(Z|[+-]\d\d:\d\d)$/;

/** Returns the times of a run, with a date and an offset that both have in common said once. */
function rangeOf(context: Context, { oldest, newest }: Run): string {
  if (oldest === Infinity) return '';
  const [from, to] = [shownTime(context, oldest), shownTime(context, newest)];
  const [, fromDay, fromClock, fromOffset] = WHOLE_TIME.exec(from) ?? [];
  const [, toDay, toClock, toOffset] = WHOLE_TIME.exec(to) ?? [];
  if (fromDay === undefined || fromDay !== toDay || fromOffset !== toOffset) return `, ${from} to ${to}`;
  const clocks = fromClock === toClock ? fromClock : `${fromClock} to ${toClock}`;
  return `, ${fromDay} ${clocks}${toOffset}`;
}
