import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { type Input, optionalArgument, reading, value } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { integer, text } from '../../cli/app/value-parsers.ts';
import { isoTime, wholeSecond } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { type ActorNames, knownLabels } from '../actor.ts';
import type { UncoveredTime } from '../archive/archive-text.ts';
import { type Interval, type LogCounts, OTHERS, type StatsRow } from '../count.ts';
import { requireBegun } from '../entry.ts';
import { filterWords } from '../filter-words.ts';
import { entityFilter, filterOf, reportUnmatchedFilters } from '../filter.ts';
import {
  actorNames,
  ENTITY_PARAMETERS,
  ENTRY_PARAMETERS,
  firstRequest,
  HIDE_OWN_READS,
  INTERVAL_PARAMETERS,
  intervalOf,
  MONTH_PARAMETER,
  RETENTION_PARAMETERS,
} from '../options.ts';
import type { OwnReads } from '../own-reads.ts';
import { openPage, PAGE_PARAMETERS } from '../report/page.ts';
import type { Shift } from '../report/shift.ts';

const parameters = {
  dir: reading(optionalArgument('[dir]', 'an archive, counted offline', text)),
  since: { ...INTERVAL_PARAMETERS.since, description: 'only entries since (default: 24h; all of an archive)' },
  until: INTERVAL_PARAMETERS.until,
  month: MONTH_PARAMETER,
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
  archive: reading(value('--archive <location>', 'also name actors that this archive does not have', text)),
  hideOwnReads: HIDE_OWN_READS,
  max: value('--max <n>', 'read at most the newest n entries (default 20,000)', integer(100)),
  html: { ...PAGE_PARAMETERS.html, description: 'also write the shift as one page' },
  force: PAGE_PARAMETERS.force,
  ...RETENTION_PARAMETERS,
} as const;

type StatsInput = Input<typeof parameters>;

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
    'Counts the entries of the service, the newest first, or of an archive. A terminal gets charts and, of the service, who deleted and changed what; programs get one row per count, also for each empty hour. Filters marked * are applied by svc.',
  details:
    'The rows have always the same members: by (all, hour, entity_type, operation, actor_type, actor), value, actor_type (beside an actor), count, share, first_at, last_at.',
  examples: [
    ['svc logs stats', 'the last 24 hours'],
    ['svc logs stats --since 8h', 'what changed on a shift, and who did it'],
    ['svc logs stats audit --month last', 'last month in an archive'],
  ],
  permissions: ['log:read'],
  exitCodes: [5, 12, [14, 'entries were not read, or may be missing (with --strict)']],
  paged: true,
  fields: statsView.fields,
  parameters,
  async run(context, typed) {
    const { dir } = typed;
    if (dir !== undefined) checkOffline(typed);
    const actors = actorNames(context, dir === undefined ? 'service' : 'archive');
    const print = await statsPrinter(context, actors);
    const writePage = await openPage(context, typed);
    const input = await filterOf(context, typed);
    const counted = await countLogs(context, input);
    await reportUnmatchedFilters(context, input);
    if (actors) await nameActors(actors, counted);
    if (counted.hidden) (await import('../own-reads.ts')).reportHidden(context, counted.hidden, actors);
    if (counted.counts.entries === 0) context.notices.note('no log entries');
    if (counted.counts.hasOtherActors)
      context.notices.note('too many actors to count each: those met last are counted as (others)');
    await print(counted, input);
    const { shift } = counted;
    if (shift === undefined) {
      const { requireCovered } = await import('../archive/archive-text.ts');
      return requireCovered(dir ?? '', counted.uncovered ?? [], typed.strict);
    }
    await writePage(() => pageOf(context, input, shift));
    const { requireShift } = await import('../report/shift.ts');
    await requireShift(context, input, shift);
  },
  async request(context, { dir, ...input }) {
    if (dir !== undefined) throw new SvcError('usage', '--curl has nothing to show: archives are counted offline');
    const now = context.clock.now();
    const [{ wholeSeconds }, { firstRange }] = await Promise.all([
      import('../report/shift.ts'),
      import('../tail/last-entries.ts'),
    ]);
    const { since = -Infinity, until = Infinity } = intervalOf(input, now);
    requireBegun(since, now);
    const read = wholeSeconds({ since, until: Math.min(until, wholeSecond(now)) });
    const { from, to } = firstRange(now, read.until);
    const startDate = isoTime(Math.max(from, read.since));
    return firstRequest({ ...entityFilter(input), startDate, endDate: isoTime(to) });
  },
});

/** Counts, and their time range. */
interface Counted {
  readonly counts: LogCounts;
  readonly interval: Interval;
  readonly tenantId: string | undefined;
  /** The service of the archive whose entries were counted. */
  readonly service?: string;
  readonly shift?: Shift;
  /** What was warned of the time that the archive does not cover. */
  readonly uncovered?: readonly UncoveredTime[];
  /** The own reads that were left out. */
  readonly hidden?: OwnReads | undefined;
}

/** Refuses options of a shift for an archive. @throws SvcError `usage` */
function checkOffline({ archive, hideOwnReads, max, html, force, retention }: StatsInput): void {
  const live = { archive, 'hide-own-reads': hideOwnReads, max, html, force, retention };
  const used = Object.entries(live).find(([, given]) => given !== undefined && given !== false);
  if (used !== undefined)
    throw new SvcError('usage', `--${used[0]} is about entries read from the service`, {
      hint: 'Leave it out, or leave out the archive.',
    });
}

type Filter = Awaited<ReturnType<typeof filterOf<StatsInput>>>;

async function countLogs(context: Context, input: Filter): Promise<Counted> {
  if (input.dir !== undefined) {
    const { countArchive } = await import('../report/count-archive.ts');
    return countArchive(context, input, input.dir);
  }
  const { readShift } = await import('../report/shift.ts');
  const hidden = input.hideOwnReads ? await (await import('../own-reads.ts')).ownReadsToHide(context, true) : undefined;
  const shift = await readShift(context, input, hidden);
  return { ...shift, shift, hidden };
}

/** Reads the names of the counted actors that are no users; of an archive, only from the cache. */
async function nameActors(actors: ActorNames, { counts, interval, tenantId, service }: Counted): Promise<void> {
  actors.service ??= service;
  actors.isOffline = service !== undefined;
  const rows = counts.rows(interval).filter(({ by, value }) => by === 'actor' && value !== OTHERS);
  await actors.learn(rows.map(({ value, actor_type }) => ({ tenant_id: tenantId, actor_id: value, actor_type })));
}

async function pageOf(context: Context, input: Filter, shift: Shift): Promise<string> {
  const labels = await knownLabels(context, { service: serviceOf(context), tenant_id: shift.tenantId ?? '' });
  const { pageWords, reportPage } = await import('../report/report.ts');
  const { shiftReport } = await import('../report/stats-report.ts');
  return reportPage(shiftReport(shift, pageWords(labels), await shiftFacts(context, input, shift)));
}

async function shiftFacts(context: Context, input: Filter, shift: Shift) {
  const { missingOf } = await import('../report/shift.ts');
  const missing = missingOf(shift, input);
  return { service: serviceOf(context), filters: filterWords(input), missing, madeAt: context.clock.now() };
}

// Opening the printer checks --fields before the first request.
async function statsPrinter(
  context: Context,
  actors: ActorNames | undefined,
): Promise<(counted: Counted, input: Filter) => Promise<void>> {
  if (isDrawn(context)) {
    const [{ drawReport, terminalWords }, { archiveReport, shiftReport }] = await Promise.all([
      import('../report/report.ts'),
      import('../report/stats-report.ts'),
    ]);
    return async ({ counts, interval, tenantId, shift }, input) => {
      const words = terminalWords(context, actors?.labelsOf(tenantId) ?? new Map());
      const report = shift
        ? shiftReport(shift, words, await shiftFacts(context, input, shift))
        : archiveReport(counts, interval, words);
      await context.out.write(await drawReport(context, report));
    };
  }
  const print = await listPrinter<StatsRow>(context, statsView);
  return async ({ counts, interval }) => {
    await print(oneBatch(counts.rows(interval)));
  };
}
