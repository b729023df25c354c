import type { LogFilter } from '../../api/logs.ts';
import type { Page } from '../../api/pages.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../app/command.ts';
import { conflicting, flag, type Input, PAGING_PARAMETERS } from '../../app/parameter.ts';
import { listPrinter, type ListProgress, newListProgress, once, pageSizeFor, wanted } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { isoTime } from '../../output/time.ts';
import type { EntityType, Log } from '../../schema/log.ts';
import { nearest, typedWord } from '../../security/typed-word.ts';
import {
  actorNames,
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS,
  firstRequest,
  INTERVAL_PARAMETERS,
  intervalOf,
  matches,
  MAX_LAST,
  OddEntries,
  RETENTION_PARAMETERS,
} from './entries.ts';
import { Searched } from './searched.ts';
import type { TailInput } from './tail-start.ts';
import { entityTypeView, logView } from './views.ts';

const parameters = {
  follow: conflicting(
    ['until', 'all', 'start', 'pageSize'],
    flag('-f, --follow', "follow as 'svc logs tail' does, after the last --limit entries or from --since on"),
  ),
  ...ENTITY_PARAMETERS,
  ...INTERVAL_PARAMETERS,
  ...PAGING_PARAMETERS,
  ...ENTRY_PARAMETERS,
  ...RETENTION_PARAMETERS,
  ...PROFILES_PARAMETER,
} as const;

type ListInput = Input<typeof parameters>;
type Interval = ReturnType<typeof intervalOf>;

/** `svc logs list`, also `svc logs` */
export const list = defineCommand({
  description:
    'Entries are written page by page as they arrive. Options marked * are filtered client-side; the others go to the service. With such a filter, pages are read until --limit entries match (100 unless given), at most 20,000 entries without --all.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs -f -n 20', 'the last 20 logs, then those that follow'],
    ['svc logs --since 2h --all -o csv --excel-safe > logs.csv', 'two hours of logs, for a spreadsheet'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  exitCodes: [14, 130, 143],
  paged: ({ follow }) => follow !== true,
  fields: logView.fields,
  parameters,
  async run(context, input) {
    if (input.follow) return (await import('./tail.ts')).runTail(context, tailInput(input));
    const interval = intervalOf(input, context.clock.now());
    const actors = await actorNames(context);
    const print = await listPrinter(context, actors?.view ?? logView);
    const client = await context.client();
    const { listSteadily } = await import('../../logs/list.ts');
    let isNarrower = false;
    const searched = new Searched(input, interval);
    const pages = listSteadily(client.logs, toFilter(input, interval), {
      start: input.start,
      pageSize: pageSizeFor(input, searched.isFiltered),
      isAhead: input.all,
      onRestart: () => void (isNarrower = true),
    });
    const seen = newListProgress();
    const odd = new OddEntries();
    const checks = listChecks(input, interval);
    const read = searched.noted(context, checks.noted(pages), seen);
    const shown = odd.counted(wanted(read, searched.bounds, seen, (log) => matches(log, input)));
    await print(actors?.learned(shown) ?? shown);
    odd.warn(context);
    // These options would not give the list of this cursor again.
    if (isNarrower) seen.next = undefined;
    searched.report(context, seen);
    await checks.finish(context, seen, client.now(), searched.oldest);
    return 0;
  },
  async request(context, input) {
    if (input.follow) return (await import('./tail.ts')).tailRequest(context, tailInput(input));
    const interval = intervalOf(input, context.clock.now());
    const { isFiltered } = new Searched(input, interval);
    return firstRequest(toFilter(input, interval), { start: input.start, pageSize: pageSizeFor(input, isFiltered) });
  },
});

// What a tail can do beyond a list is left to it.
function tailInput(input: ListInput): TailInput {
  const { limit: last, since } = input;
  if (last !== undefined && since !== undefined)
    throw new SvcError('usage', '--limit and --since cannot both say where --follow begins', {
      hint: 'Leave one of them out.',
    });
  if (last !== undefined && last > MAX_LAST)
    throw new SvcError('usage', `with --follow, --limit must be at most ${MAX_LAST}`);
  const more = { checkpoint: undefined, to: undefined, overlap: undefined, interval: undefined, for: undefined };
  return { ...input, ...more, last, max: undefined, idleExit: undefined, hideOwnReads: false };
}

function toFilter(input: ListInput, { since, until }: Interval): LogFilter {
  return { ...entityFilter(input), startDate: isoTime(since), endDate: isoTime(until) };
}

/** Warns where a list may lack entries that the service no longer keeps, and of names that do not exist. */
function listChecks(input: ListInput, { since, until = Infinity }: Interval) {
  const seenOperations = new Set<string>();
  return {
    async *noted(pages: AsyncIterable<Page<Log>>): AsyncGenerator<Page<Log>> {
      for await (const page of pages) {
        if (input.operation.length > 0)
          for (const { operation: name } of page.items) if (typeof name === 'string') seenOperations.add(name);
        yield page;
      }
    },
    /** Reports once all is written; `now` is the service's time. @throws SvcError `entries_missing` */
    async finish(context: Context, seen: ListProgress, now: number, oldest: number): Promise<void> {
      await warnOfNames(context, input, seen, seenOperations);
      const { DEFAULT_RETENTION_MS } = await import('../../logs/entry.ts');
      const edge = now - (input.retention ?? DEFAULT_RETENTION_MS);
      // The service forgets the oldest first: once all is read, what it still has proves that it has all that came after.
      const to = Math.min(edge, until, seen.more ? Infinity : oldest);
      if (since === undefined || since >= to) return;
      const gap = `entries may be missing from ${isoTime(since)} to ${isoTime(to)}`;
      context.notices.warn(`${gap}: older than the service keeps them (--retention)`);
      if (input.strict)
        throw new SvcError('entries_missing', 'entries may be missing: the service no longer has them', {
          hint: 'Search an archive of the logs instead, or choose a later --since.',
        });
    },
  };
}

async function warnOfNames(context: Context, input: ListInput, seen: ListProgress, seenOperations: Set<string>) {
  const { system, notices } = context;
  const { entityType, operation } = input;
  const { LOG_OPERATIONS } = await import('../../schema/log.ts');
  const operations = [...new Set([...LOG_OPERATIONS, ...seenOperations])];
  for (const name of operation) if (!operations.includes(name)) notices.warn(unknown('operation', name, operations));
  if (entityType === undefined || seen.read > 0) return;
  const { knownEntityTypes } = await import('../../config/cache.ts');
  const types = [...knownEntityTypes(system).keys()];
  if (!types.includes(entityType)) notices.warn(unknown('entity type', entityType, types));
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const end = meant === undefined ? `known: ${known.toSorted().join(', ')}` : `did you mean ${meant}?`;
  return `unknown ${what} ${typedWord(name, known)}: ${end}`;
}

/** `svc logs entity-types` */
export const entityTypes = defineCommand({
  examples: [['svc logs entity-types', 'the entity types that logs are about']],
  permissions: ['log:read'],
  fields: entityTypeView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, entityTypeView);
    const client = await context.client();
    const types = await client.logs.entityTypes();
    await print(once(types));
    await rememberForCompletion(context, types);
  },
  async request() {
    return (await import('../../api/logs.ts')).entityTypesRequest();
  },
});

async function rememberForCompletion({ system, settings, notices }: Context, types: readonly EntityType[]) {
  const { rememberEntityTypes } = await import('../../config/cache.ts');
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const found = types.map((type) => [type.value, type.display_name ?? ''] as const);
  if (!rememberEntityTypes(system, service, found)) notices.debug('entity types were not kept for completion');
}
