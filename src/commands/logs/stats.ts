import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import type { Input } from '../../cli/parameter.ts';
import { batches, isForPeople, listPrinter, once } from '../../cli/print.ts';
import { formatNumber } from '../../render/quantity.ts';
import type { Log } from '../../schema/log.ts';
import type { Interval, LogCounts } from '../../stats/counts.ts';
import { statsView, type StatsRow } from '../../views/log-stats.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS,
  INTERVAL_PARAMETERS,
  intervalOf,
  isFiltered,
  matches,
  tellFiltered,
} from './entry-filter.ts';

const DAY_MS = 86_400_000;

const parameters = {
  since: {
    ...INTERVAL_PARAMETERS.since,
    description: 'only entries from this time on (default 24h, back from --until)',
  },
  until: INTERVAL_PARAMETERS.until,
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
} as const;

/** `svc logs stats` */
export const stats = defineCommand({
  name: 'stats',
  summary: 'count log entries by hour, entity type, operation and actor',
  description:
    'On a terminal a picture; to programs one row a count, always with the same members: by (all, hour, entity_type, operation, actor_type, actor), value, actor_type (beside an actor), count, share, first_at, last_at. Each hour of the interval has a row, also an empty one. Options marked * are applied here.',
  examples: [
    ['svc logs stats', 'the last 24 hours'],
    ['svc logs stats --since 2h --operation delete', 'who deleted what within two hours'],
    [
      `svc logs stats -o jsonl | jq -r 'select(.by == "operation") | [.value, .count] | @tsv'`,
      'numbers for a script',
    ],
  ],
  permissions: ['log:read'],
  paged: true,
  fields: statsView.fields,
  parameters,
  async run(context, input) {
    const entity = entityFilter(input);
    const now = context.clock.now();
    const { since: asked, until } = intervalOf(input, now);
    const since = asked ?? (until ?? now) - DAY_MS;
    const print = await statsPrinter(context);
    const client = await context.client();
    const pages = client.logs.list(
      { ...entity, startDate: iso(since), endDate: until === undefined ? undefined : iso(until) },
      { pageSize: 100 },
    );
    const counts = await count(context, input, batches(pages.pages()));
    await print(counts, { since, until: until ?? context.clock.now() });
  },
});

type StatsPrinter = (counts: LogCounts, interval: Interval) => Promise<void>;

// Checks --fields before anything is asked of the service.
async function statsPrinter(context: Context): Promise<StatsPrinter> {
  if (isForPeople(context) && context.globals.fields === undefined) {
    const { drawStats } = await import('./draw-stats.ts');
    return (counts, interval) => context.out.write(drawStats(context, counts.rows(interval), interval));
  }
  const print = await listPrinter<StatsRow>(context, statsView);
  return async (counts, interval) => {
    await print(once(counts.rows(interval)));
  };
}

async function count(
  context: Context,
  input: Input<typeof ENTRY_PARAMETERS>,
  entries: AsyncIterable<readonly Log[]>,
): Promise<LogCounts> {
  const { LogCounts: Counts } = await import('../../stats/counts.ts');
  const counts = new Counts();
  const live = context.progress.watching('logs');
  let read = 0;
  try {
    for await (const batch of entries) {
      for (const log of batch) if (matches(log, input)) counts.add(log);
      read += batch.length;
      live?.update({ state: `${formatNumber(read)} entries read` });
    }
  } finally {
    live?.fail();
  }
  tell(context, input, counts, read);
  return counts;
}

function tell(
  context: Context,
  input: Input<typeof ENTRY_PARAMETERS>,
  counts: LogCounts,
  read: number,
): void {
  if (isFiltered(input)) tellFiltered(context, input, { shown: counts.entries, read });
  if (counts.entries === 0) context.notices.note('no log entries');
  if (counts.hasOtherActors)
    context.notices.note(
      'too many different actors to tell all apart: those met last are counted as (others)',
    );
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
