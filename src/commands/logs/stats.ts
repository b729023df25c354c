import { type Context, defineCommand } from '../../app/command.ts';
import { optionalArgument, text } from '../../app/parameter.ts';
import { isForPeople, listPrinter, once } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { StatsRow } from '../../logs/count.ts';
import { isoTime } from '../../output/time.ts';
import type { View } from '../../output/view.ts';
import type { Counted } from './count-entries.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS,
  firstRequest,
  INTERVAL_PARAMETERS,
  intervalOf,
} from './entry-filter.ts';

const DAY_MS = 86_400_000;

const parameters = {
  dir: optionalArgument('[dir]', 'the place of an archive, to count its entries offline', text),
  since: {
    ...INTERVAL_PARAMETERS.since,
    description: 'only entries from this time on (default 24h, back from --until or the end of the archive)',
  },
  until: INTERVAL_PARAMETERS.until,
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
} as const;

/** How counts of entries are shown. */
const statsView: View<StatsRow> = {
  name: 'count of log entries',
  fields: ['by', 'value', 'actor_type', 'count', 'share', 'first_at', 'last_at', 'note'],
  columns: [
    { path: 'by', kind: 'text' },
    { path: 'value', kind: 'id' },
    { path: 'count', kind: 'number' },
    { path: 'first_at', kind: 'time', priority: 1 },
    { path: 'last_at', kind: 'time', priority: 2 },
    { path: 'note', kind: 'text', priority: 3 },
  ],
};

/** `svc logs stats` */
export const stats = defineCommand({
  description:
    'Of the service, or of an archive, which is then held against its own past: note tells actors that were not in it before, and hours with more than twice as many entries, or less than half as many, as the same hour of the 28 days before ever had. On a terminal a picture; to programs one row a count, always with the same members: by (all, hour, entity_type, operation, actor_type, actor), value, actor_type (beside an actor), count, share, first_at, last_at, note. Each hour of the interval has a row, also an empty one. Options marked * are applied here.',
  examples: [
    ['svc logs stats', 'the last 24 hours'],
    ['svc logs stats --since 2h --operation delete', 'who deleted what within two hours'],
    ['svc logs stats audit --since 7d', 'a week of an archive, with what was unusual in it'],
    [
      `svc logs stats audit -o jsonl | jq -r 'select(.note != null) | [.by, .value, .note] | @tsv'`,
      'what is unusual, for a script',
    ],
  ],
  permissions: ['log:read'],
  exitCodes: [5, 12],
  paged: true,
  fields: statsView.fields,
  parameters,
  async run(context, { dir, ...input }) {
    const print = await statsPrinter(context);
    const { countArchive, countService } = await import('./count-entries.ts');
    const counted =
      dir === undefined ? await countService(context, input) : await countArchive(context, input, dir);
    if (counted.counts.entries === 0) context.notices.note('no log entries');
    if (counted.counts.hasOtherActors) {
      context.notices.note(
        'too many different actors to tell all apart: those met last are counted as (others)',
      );
    }
    await print(counted);
  },
  async request(context, { dir, ...input }) {
    if (dir !== undefined)
      throw new SvcError('usage', '--curl has nothing to show: an archive is counted offline');
    const now = context.clock.now();
    const { since, until } = intervalOf(input, now);
    const startDate = isoTime(since ?? (until ?? now) - DAY_MS);
    return firstRequest({ ...entityFilter(input), startDate, endDate: isoTime(until) });
  },
});

type StatsPrinter = (counted: Counted) => Promise<void>;

// Checks --fields before anything is asked of the service.
async function statsPrinter(context: Context): Promise<StatsPrinter> {
  if (isForPeople(context) && context.globals.fields === undefined) {
    const { drawStats } = await import('./draw-stats.ts');
    return ({ counts, interval, notes }) =>
      context.out.write(drawStats(context, counts.rows(interval, notes), interval));
  }
  const print = await listPrinter<StatsRow>(context, statsView);
  return async ({ counts, interval, notes }) => {
    await print(once(counts.rows(interval, notes)));
  };
}
