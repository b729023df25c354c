import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import { type Input, optionalArgument, reading } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { countText, isoTime, parseTime, wholeSecond } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { countEntries, openArchive } from '../archive/open-archive.ts';
import type { ActorNames } from '../actor-names.ts';
import { type Interval, type LogCounts, OTHERS, type StatsRow } from '../count.ts';
import { type EntryFilter, filterOf } from '../entry-filter.ts';
import { matches, reportFiltered, valuesAmong, isAbout } from '../filter.ts';
import type { TailEvent } from '../follow/follow.ts';
import {
  actorNames,
  INTERVAL_PARAMETERS,
  ENTITY_PARAMETERS,
  ENTRY_PARAMETERS,
  intervalOf,
  firstRequest,
  entityFilter,
} from '../options.ts';
import { reportGaps } from '../archive/report-gaps.ts';
import { gapText } from '../sentences.ts';

const parameters = {
  dir: reading(optionalArgument('[dir]', 'an archive, counted offline', text)),
  since: { ...INTERVAL_PARAMETERS.since, description: 'only entries since (default: 24h; all of an archive)' },
  until: INTERVAL_PARAMETERS.until,
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
  ...PROFILES_PARAMETER,
} as const;

type CountFilter = Omit<Input<typeof parameters>, 'dir'> & EntryFilter;

const statsView: View<StatsRow> = {
  name: 'count of log entries',
  fields: ['by', 'value', 'actor_type', 'count', 'share', 'first_at', 'last_at'],
  columns: [
    ...simpleColumns({ by: 'text', value: 'id', count: 'number' }),
    { path: 'first_at', kind: 'time', priority: 1 },
    { path: 'last_at', kind: 'time', priority: 2 },
  ],
};

export const stats = defineCommand({
  description:
    'Counts the entries of the service, or of an archive. A terminal gets a chart; programs get one row per count. Each hour of the time range has a row, even an empty one. Filters marked * are applied by svc.',
  details:
    'The rows have always the same members: by (all, hour, entity_type, operation, actor_type, actor), value, actor_type (beside an actor), count, share, first_at, last_at.',
  examples: [
    ['svc logs stats', 'the last 24 hours'],
    ['svc logs stats --since 2h --operation delete', 'who deleted what within two hours'],
    ['svc logs stats audit --since 7d', 'a week of an archive'],
  ],
  permissions: ['log:read'],
  exitCodes: [5, 12],
  paged: true,
  fields: statsView.fields,
  parameters,
  async run(context, { dir, ...typed }) {
    const actors = await actorNames(context, dir === undefined ? 'service' : 'archive');
    const print = await statsPrinter(context, actors);
    const input = await filterOf(context, typed);
    const counted = dir === undefined ? await countService(context, input) : await countArchive(context, input, dir);
    input.entity.report(context);
    await input.words.report(context, input);
    if (actors) await nameActors(actors, counted);
    if (counted.counts.entries === 0) context.notices.note('no log entries');
    if (counted.counts.hasOtherActors)
      context.notices.note('too many actors to count each: those met last are counted as (others)');
    await print(counted);
  },
  async request(context, { dir, ...input }) {
    if (dir !== undefined) throw new SvcError('usage', '--curl has nothing to show: archives are counted offline');
    const now = context.clock.now();
    const { since, until } = intervalOf(input, now);
    const startDate = isoTime(since ?? (until ?? now) - DAY_MS);
    return firstRequest({ ...entityFilter(input), startDate, endDate: isoTime(until) });
  },
});

/** Counts, and their time range. */
interface Counted {
  readonly counts: LogCounts;
  readonly interval: Interval;
  readonly tenantId: string | undefined;
  /** The service of the archive whose entries were counted. */
  readonly service?: string;
}

/** Reads the names of the counted actors that are no users; of an archive, only from the cache. */
async function nameActors(actors: ActorNames, { counts, interval, tenantId, service }: Counted): Promise<void> {
  actors.service ??= service;
  actors.isOffline = service !== undefined;
  const rows = counts.rows(interval).filter(({ by, value }) => by === 'actor' && value !== OTHERS);
  await actors.learn(rows.map(({ value, actor_type }) => ({ tenant_id: tenantId, actor_id: value, actor_type })));
  actors.remember();
}

// Opening the printer checks --fields before the first request.
async function statsPrinter(
  context: Context,
  actors: ActorNames | undefined,
): Promise<(counted: Counted) => Promise<void>> {
  if (isDrawn(context)) {
    const [{ drawStats }, { actorText, wholeActorText }] = await Promise.all([
      import('../stats/draw-stats.ts'),
      import('../actor.ts'),
    ]);
    const textOf = context.globals.wide || !context.out.isTerminal ? wholeActorText : actorText;
    return ({ counts, interval, tenantId }) => {
      const labels = actors?.labelsOf(tenantId);
      return context.out.write(drawStats(context, counts.rows(interval), interval, (actor) => textOf(actor, labels)));
    };
  }
  const print = await listPrinter<StatsRow>(context, statsView);
  return async ({ counts, interval }) => {
    await print(oneBatch(counts.rows(interval)));
  };
}

/** Counts the service's entries, each once even if pages shift meanwhile, and warns of entries already deleted. */
async function countService(context: Context, input: CountFilter): Promise<Counted> {
  const [{ LogCounts: Counts }, { beginAt, DEFAULT_OVERLAP_MS }, { Tail }, { serviceLogs }] = await Promise.all([
    import('../count.ts'),
    import('../entry.ts'),
    import('../follow/follow.ts'),
    import('../read-range.ts'),
  ]);
  const now = context.clock.now();
  const { since: typedSince, until } = intervalOf(input, now);
  const since = typedSince ?? (until ?? now) - DAY_MS;
  const client = await context.client();
  const counts = new Counts();
  const tail = new Tail(serviceLogs(client, entityFilter(input)), {
    begin: beginAt(wholeSecond(since)),
    overlapMs: DEFAULT_OVERLAP_MS,
    retentionMs: DAY_MS,
    untilPresent: true,
    onEvent: (event) => reportGap(context, event),
  });
  const live = context.system.stderr.isTTY === true ? context.progress.waiting('logs') : undefined;
  let read = 0;
  let tenantId: string | undefined;
  try {
    for await (const logs of tail.batches()) {
      for (const log of logs) {
        const at = parseTime(log.created_at);
        if (at !== undefined && (at < since || at >= (until ?? Infinity))) continue;
        read += 1;
        tenantId ??= log.tenant_id ?? undefined;
        if (matches(log, input)) counts.add(log);
      }
      live?.update({ state: `${countText(read, 'entry')} read` });
      if (until !== undefined && tail.position().settled >= until) break;
    }
  } finally {
    live?.fail();
  }
  reportFiltered(context, input, { shown: counts.entries, read });
  return { counts, interval: { since, until: until ?? client.now() }, tenantId };
}

/** The shortest gap to report. Retention always deletes some entries while the first ones are read. */
const LEAST_GAP_MS = 60_000;

function reportGap({ notices }: Context, event: TailEvent): void {
  if (event.kind === 'gap' && event.to - event.from >= LEAST_GAP_MS)
    notices.warn(`${gapText(event)}: older than the service keeps them`);
}

/** Counts the entries of an archive. @throws SvcError as `readManifest` */
async function countArchive(context: Context, input: CountFilter, dir: string): Promise<Counted> {
  const [{ isWithin, readManifest }, { LogCounts: Counts }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../count.ts'),
  ]);
  const now = context.clock.now();
  const bounds = intervalOf(input, now);
  const store = await openArchive(context, dir);
  const manifest = await readManifest(store, bounds);
  const end = manifest.coverage.covered().at(-1)?.to ?? now;
  const until = bounds.until ?? (end > (bounds.since ?? -Infinity) ? end : now);
  const begin = manifest.coverage.covered()[0]?.from ?? until;
  const interval = { since: bounds.since ?? Math.min(begin, until), until };
  reportGaps(context, manifest, interval, "'svc logs archive' updates it");
  const counts = new Counts();
  const segments = manifest.segments.filter((segment) => isWithin(segment, interval));
  // All other filters are about counted members, so the index suffices for them.
  const isById = input.entityId !== undefined || input.grep !== undefined;
  const reading = { dir, label: 'stats', store, segments, index: manifest.index, ...interval };
  const among = isById ? valuesAmong(input) : undefined;
  await countEntries(context, {
    ...reading,
    among,
    onGroup: (log, bucket) => {
      if (isAbout(log, input) && matches(log, input)) counts.add(log, bucket);
    },
  });
  const { service, tenant_id: tenantId } = manifest.first;
  return { counts, interval, service, tenantId };
}
