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
import { type Input, repeated, suggesting, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { pattern, text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { Log } from '../../schema/log.ts';
import { logView } from '../../views/log.ts';

const parameters = {
  entityType: suggesting(
    'entity type',
    value('--entity-type <type>', "only this type of entity ('svc logs entity-types' lists them)", text),
  ),
  entityId: value('--entity-id <id>', 'only the entity with this id; needs --entity-type', text),
  since: value(
    '--since <time>',
    'only entries from this time on: 2h, 2026-01-31, 2026-01-31T09:00:00Z, yesterday',
    moment,
  ),
  until: value('--until <time>', 'only entries before this time', moment),
  ...PAGING_PARAMETERS,
  operation: repeated('--operation <name>', 'only this operation, such as create; may be repeated *', text),
  actor: repeated('--actor <id>', 'only what this actor did; may be repeated *', text),
  actorType: repeated(
    '--actor-type <type>',
    'only this type of actor, such as user; may be repeated *',
    text,
  ),
  grep: value('--grep <regex>', 'only entries whose message matches *', pattern),
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
  if (input.entityId !== undefined && input.entityType === undefined) {
    throw new SvcError('usage', '--entity-id needs --entity-type', {
      hint: 'Say which type of entity the id belongs to.',
    });
  }
  const [since, until] = [input.since?.(now), input.until?.(now)];
  if (since !== undefined && until !== undefined && since >= until) {
    throw new SvcError('usage', '--since must be before --until', {
      hint: 'Swap them, or widen the interval.',
    });
  }
  return {
    entityType: input.entityType,
    entityId: input.entityId,
    startDate: iso(since),
    endDate: iso(until),
  };
}

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function isFiltered(input: ListInput): boolean {
  return input.operation.length + input.actor.length + input.actorType.length > 0 || input.grep !== undefined;
}

function matches(log: Log, input: ListInput): boolean {
  return (
    isOneOf(log.operation, input.operation) &&
    isOneOf(log.actor_id, input.actor) &&
    isOneOf(log.actor_type, input.actorType) &&
    (input.grep === undefined || input.grep.test(log.message ?? ''))
  );
}

function isOneOf(found: string | null | undefined, asked: readonly string[]): boolean {
  return asked.length === 0 || (typeof found === 'string' && asked.includes(found));
}

function tell(context: Context, input: ListInput, seen: Seen): void {
  if (isFiltered(input)) {
    context.notices.note(
      `${seen.shown} of ${seen.read} entries match; the service cannot filter by operation, actor or message, so this was done here`,
    );
  }
  tellRest(context, seen, 'no log entries');
}
