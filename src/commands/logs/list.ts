import type { LogFilter } from '../../api/logs.ts';
import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { moment } from '../../cli/moment.ts';
import {
  checkPaging,
  nothingSeen,
  pageSizeFor,
  PAGING_PARAMETERS,
  type Seen,
  tellRest,
  wanted,
} from '../../cli/paging.ts';
import { type Input, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { SvcError } from '../../errors.ts';
import { logView } from '../../views/log.ts';
import { ENTITY_PARAMETERS, entityFilter, ENTRY_PARAMETERS, isFiltered, matches } from './entry-filter.ts';

const parameters = {
  ...ENTITY_PARAMETERS,
  since: value(
    '--since <time>',
    'only entries from this time on: 2h, 2026-01-31, 2026-01-31T09:00:00Z, yesterday',
    moment,
  ),
  until: value('--until <time>', 'only entries before this time', moment),
  ...PAGING_PARAMETERS,
  ...ENTRY_PARAMETERS,
} as const;

type ListInput = Input<typeof parameters>;

/** `svc logs list`, also `svc logs` */
export const list = defineCommand({
  name: 'list',
  summary: 'log entries: the newest page, or more with --limit and --all',
  description:
    'Entries are written page by page as they come. Options marked * are applied here, to what the service answered; the others go to the service.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs --since 2h --all -o csv > logs.csv', 'two hours of logs, for a spreadsheet'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  fields: logView.fields,
  parameters,
  async run(context, input) {
    checkPaging(input);
    const filter = toFilter(input, context.clock.now());
    const print = await listPrinter(context, logView);
    const client = await context.client();
    const pages = client.logs.list(filter, {
      start: input.start,
      pageSize: pageSizeFor(input, isFiltered(input)),
    });
    const seen = nothingSeen();
    await print(wanted(pages.pages(), input, seen, (log) => matches(log, input)));
    tell(context, input, seen);
  },
});

function toFilter(input: ListInput, now: number): LogFilter {
  const entity = entityFilter(input);
  const [since, until] = [input.since?.(now), input.until?.(now)];
  if (since !== undefined && until !== undefined && since >= until) {
    throw new SvcError('usage', '--since must be before --until', {
      hint: 'Swap them, or widen the interval.',
    });
  }
  return {
    ...entity,
    startDate: iso(since),
    endDate: iso(until),
  };
}

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function tell(context: Context, input: ListInput, seen: Seen): void {
  if (isFiltered(input)) {
    context.notices.note(
      `${seen.shown} of ${seen.read} entries match; the service cannot filter by operation, actor or message, so this was done here`,
    );
  }
  tellRest(context, seen, 'no log entries');
}
