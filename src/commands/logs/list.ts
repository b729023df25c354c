import type { LogFilter } from '../../api/logs.ts';
import { type Context, defineCommand } from '../../app/command.ts';
import { flag, type Input, positiveDuration, value } from '../../app/parameter.ts';
import {
  listPrinter,
  newListProgress,
  once,
  pageSizeFor,
  PAGING_PARAMETERS,
  reportRest,
  wanted,
} from '../../app/print.ts';
import { isoTime } from '../../output/time.ts';
import type { EntityType } from '../../schema/log.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  entityTypeView,
  ENTRY_PARAMETERS,
  firstRequest,
  INTERVAL_PARAMETERS,
  intervalOf,
  isFiltered,
  logView,
  matches,
  reportFiltered,
} from './entry-filter.ts';
import { OddEntries } from './odd-entries.ts';

const parameters = {
  ...ENTITY_PARAMETERS,
  ...INTERVAL_PARAMETERS,
  ...PAGING_PARAMETERS,
  ...ENTRY_PARAMETERS,
  retention: value(
    '--retention <duration>',
    'how long the service keeps entries (default 24h)',
    positiveDuration,
  ),
  strict: flag('--strict', 'end with exit code 14 when entries may be missing'),
} as const;

type ListInput = Input<typeof parameters>;

/** `svc logs list`, also `svc logs` */
export const list = defineCommand({
  description:
    'Entries are written page by page as they come. Options marked * are applied here, to what the service answered; the others go to the service.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs --since 2h --all -o csv --excel-safe > logs.csv', 'two hours of logs, for a spreadsheet'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  exitCodes: [14],
  paged: true,
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const interval = intervalOf(input, context.clock.now());
    const filter = toFilter(input, interval);
    const print = await listPrinter(context, logView);
    const client = await context.client();
    const { steadyPages } = await import('../../logs/steady-list.ts');
    const { ListChecks } = await import('./list-checks.ts');
    let isNarrower = false;
    const pages = steadyPages(client.logs, filter, {
      start: input.start,
      pageSize: pageSizeFor(input, isFiltered(input)),
      onRestart: () => {
        isNarrower = true;
      },
    });
    const seen = newListProgress();
    const odd = new OddEntries();
    const checks = new ListChecks({ ...input, ...interval });
    await print(odd.counted(wanted(checks.noted(pages), input, seen, (log) => matches(log, input))));
    odd.warn(context);
    // The cursor is of a list that these options would not give again.
    if (isNarrower) seen.next = undefined;
    reportFiltered(context, input, seen);
    reportRest(context, seen, 'no log entries');
    await checks.finish(context, seen, client.now());
  },
  async request(context, input) {
    const { start } = input;
    return firstRequest(toFilter(input, intervalOf(input, context.clock.now())), {
      start,
      pageSize: pageSizeFor(input, isFiltered(input)),
    });
  },
});

function toFilter(input: ListInput, { since, until }: ReturnType<typeof intervalOf>): LogFilter {
  return { ...entityFilter(input), startDate: isoTime(since), endDate: isoTime(until) };
}

/** `svc logs entity-types` */
export const entityTypes = defineCommand({
  examples: [['svc logs entity-types', 'the kinds of entity that logs are about']],
  permissions: ['log:read'],
  fields: entityTypeView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, entityTypeView);
    const client = await context.client();
    const types = await client.logs.entityTypes();
    await print(once(types));
    await remember(context, types);
  },
  async request() {
    return (await import('../../api/logs.ts')).entityTypesRequest();
  },
});

// For completion, which asks no network.
async function remember({ system, settings, notices }: Context, types: readonly EntityType[]): Promise<void> {
  const { rememberEntityTypes } = await import('../../config/entity-types.ts');
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const found = types.map((type) => [type.value, type.display_name ?? ''] as const);
  if (!rememberEntityTypes(system, service, found))
    notices.debug('entity types were not kept for completion');
}
