import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { pageSizeFor, PAGING_PARAMETERS } from '../../cli/app/paging.ts';
import { conflicting, flag, hidden, type Input } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { LogFilter } from '../../client/api/logs.ts';
import type { Log } from '../../schema/log.ts';
import { DEFAULT_PAGE_SIZE } from '../../schema/page-size.ts';
import { clientFilters } from '../filter-words.ts';
import { entityFilter, filterOf, matches, reportUnmatchedFilters } from '../filter.ts';
import {
  actorNames,
  ENTITY_PARAMETERS,
  ENTRY_PARAMETERS,
  firstRequest,
  HIDE_OWN_READS,
  hidesOwnReads,
  INTERVAL_PARAMETERS,
  intervalOf,
  MAX_LAST,
  NO_HIDE_OWN_READS,
  RETENTION_PARAMETERS,
} from '../options.ts';
import type { ServiceInterval } from '../service-interval.ts';
import type { TailInput } from '../tail/start.ts';
import { logView, viewWith } from '../view.ts';

const parameters = {
  follow: conflicting(
    ['until', 'all', 'start', 'pageSize'],
    flag('-f, --follow', "then follow, as 'svc logs tail' does"),
  ),
  hideOwnReads: { ...HIDE_OWN_READS, description: 'hide own reads of the logs (default on a terminal)' },
  noHideOwnReads: hidden(NO_HIDE_OWN_READS),
  ...ENTITY_PARAMETERS,
  ...INTERVAL_PARAMETERS,
  ...PAGING_PARAMETERS,
  ...ENTRY_PARAMETERS,
  ...RETENTION_PARAMETERS,
} as const;

type ListInput = Input<typeof parameters>;
type Interval = ReturnType<typeof intervalOf>;

export const list = defineCommand({
  description:
    'Prints entries as pages arrive, in the order of the service, which is usually newest first. The service applies the filters without an asterisk; svc applies those marked *, and reads until --limit entries match (default 100), at most 20,000 entries without --all.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs -f -n 20', 'the last 20 logs, then those that follow'],
    ['svc logs --since 2h --all -o csv --excel-safe > logs.csv', 'two hours of logs, for a spreadsheet'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  exitCodes: [[14, 'entries may be missing (with --strict)'], 130, 143],
  paged: ({ follow }) => follow !== true,
  endsWithReader: true,
  fields: logView.fields,
  parameters,
  async run(context, typed) {
    if (typed.follow) return (await import('../tail/run-tail.ts')).runTail(context, tailInput(typed));
    const input = await filterOf(context, typed);
    // Times that contradict each other end the command before it needs a key.
    intervalOf(input, context.clock.now());
    const actors = actorNames(context);
    const isTable = actors !== undefined && context.out.isTerminal;
    const print = await listPrinter(context, viewWith(context, actors));
    const client = await context.client();
    const times = await timesOf(client, input);
    const isScreen = !input.hideOwnReads && hidesOwnReads(isTable, { ...input, to: undefined });
    const hiding = input.hideOwnReads || isScreen ? await import('../own-reads.ts') : undefined;
    const own = await hiding?.ownReadsToHide(context, !isScreen);
    const listing = await import('../read-list.ts');
    const isFiltered = isFilteredHere(input) || hiding !== undefined;
    const limits = isScreen && !isFilteredHere(input) ? screenLimits(input) : readLimits(input, isFiltered);
    const reading = listing.newListReading();
    const { onIgnoredTimes } = client;
    const pageSize = pageSizeFor(input, isFiltered);
    const paging = { start: input.start, pageSize, isAhead: input.all, onIgnoredTimes };
    const read = () => listing.listSteadily(client.logs, toFilter(input, times.value), paging, reading);
    const pages = times.pages?.(read, input.start !== undefined) ?? read();
    const isChosen = (log: Log): boolean => matches(log, input) && (own?.shows(log) ?? true);
    const entries = listing.readList(context, pages, { ...limits, isFiltered, matches: isChosen }, reading);
    const only = input.entity.only(entries);
    await print(actors?.learned(only) ?? only).catch((error: unknown) => {
      throw listing.withSearched(error, input, times.value, reading);
    });
    const interval = times.value;
    reading.malformed.warn(context);
    listing.reportSearched(context, input, interval, { reading, isFiltered, limits });
    if (input.start === undefined && listing.isOldestFirst(reading)) listing.warnOfOldest(context, interval);
    hiding?.reportHidden(context, own, actors, isScreen);
    await reportUnmatchedFilters(context, input);
    const { more, order } = reading;
    await listing.requireKept(context, interval, input, { more, oldest: order.oldest }, client.now());
    return 0;
  },
  async request(context, input) {
    if (input.follow) return (await import('../tail/run-tail.ts')).tailRequest(context, tailInput(input));
    const interval = intervalOf(input, context.clock.now());
    const pageSize = pageSizeFor(input, isFilteredHere(input));
    return firstRequest(toFilter(input, interval), { start: input.start, pageSize });
  },
});

/** Opens a time range that counts from the service's time. Without one, the pages come as they are. */
async function timesOf(
  client: Client,
  input: ListInput,
): Promise<Pick<ServiceInterval, 'value'> & Partial<ServiceInterval>> {
  if (input.since === undefined && input.until === undefined) return { value: { since: undefined, until: undefined } };
  return new (await import('../service-interval.ts')).ServiceInterval(client, input);
}

/** Whether svc filters entries too, so that few entries of a page may be shown. */
function isFilteredHere(input: ListInput): boolean {
  // The service may ignore an id without its type.
  const isIdOnly = input.entityId !== undefined && input.entityType === undefined;
  return isIdOnly || clientFilters(input).length > 0;
}

/** The default limit of a list that svc filters. `MAX_READ` is the most entries read to find the matches. */
const DEFAULT_MATCHES = 100;
const MAX_READ = 20_000;

/** Returns the most entries to show, and the most to read for them. */
function readLimits({ limit, all }: ListInput, isFiltered: boolean) {
  if (all) return { limit: Infinity, mostRead: Infinity };
  return isFiltered ? { limit: limit ?? DEFAULT_MATCHES, mostRead: MAX_READ } : { limit, mostRead: Infinity };
}

/** The most entries that are read for a screen of them, most of which may be reads of the logs by this key. */
const MAX_READ_FOR_SCREEN = 1_000;

/** As `readLimits`, for the newest entries on a terminal without own reads. */
function screenLimits({ limit = DEFAULT_PAGE_SIZE, all }: ListInput) {
  return all ? { limit: Infinity, mostRead: Infinity } : { limit, mostRead: Math.max(MAX_READ_FOR_SCREEN, 2 * limit) };
}

// Converts the options of a listing. The other options of a tail get no value.
function tailInput(input: ListInput): TailInput {
  const { limit: last, since } = input;
  if (last !== undefined && since !== undefined)
    throw new SvcError('usage', '--limit and --since cannot both say where --follow begins', {
      hint: 'Leave one of them out.',
    });
  if (last !== undefined && last > MAX_LAST)
    throw new SvcError('usage', `with --follow, --limit must be at most ${MAX_LAST}`);
  const more = { checkpoint: undefined, to: undefined, overlap: undefined, interval: undefined, for: undefined };
  return { ...input, ...more, last, max: undefined, idleExit: undefined };
}

function toFilter(input: ListInput, { since, until }: Interval): LogFilter {
  return { ...entityFilter(input), startDate: isoTime(since), endDate: isoTime(until) };
}
