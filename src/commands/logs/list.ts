import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { moment } from '../../cli/moment.ts';
import { flag, type Input, repeated, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { integer, pattern, text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { Log } from '../../schema/log.ts';
import { logView } from '../../views/log.ts';

const parameters = {
  entityType: value(
    '--entity-type <type>',
    "only this type of entity ('svc logs entity-types' lists them)",
    text,
  ),
  entityId: value('--entity-id <id>', 'only the entity with this id; needs --entity-type', text),
  since: value(
    '--since <time>',
    'only entries from this time on: 2h, 2026-01-31, 2026-01-31T09:00:00Z, yesterday',
    moment,
  ),
  until: value('--until <time>', 'only entries before this time', moment),
  limit: value('-n, --limit <n>', 'stop after this many entries', integer(1)),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'go on from a cursor that an earlier run gave', text),
  pageSize: value('--page-size <n>', 'entries asked for at once, 1 to 100', integer(1, 100)),
  operation: repeated('--operation <name>', 'only this operation, such as create; may be repeated *', text),
  actor: repeated('--actor <id>', 'only what this actor did; may be repeated *', text),
  actorType: repeated(
    '--actor-type <type>',
    'only this type of actor, such as user; may be repeated *',
    text,
  ),
  grep: value('--grep <regex>', 'only entries whose message matches *', pattern),
} as const;

/** `svc logs list`, also `svc logs` */
export const list = defineCommand({
  name: 'list',
  summary: 'log entries: the newest page, or more with --limit and --all',
  description:
    'Entries come a page at a time and are written as they come. Options marked * are applied here, after the service answered: the others go to the service.',
  examples: [
    ['svc logs --entity-type card', 'the last logs of an entity type'],
    ['svc logs --since 2h --all -o csv > logs.csv', 'two hours of logs, as a table for others'],
    ['svc logs --all --operation delete --grep token', 'deletions whose message mentions a token'],
  ],
  permissions: ['log:read'],
  parameters,
  async run(context, input) {
    const filter = toFilter(context, input);
    const print = await listPrinter(context, logView);
    const client = await context.client();
    const pages = client.logs.list(filter, { start: input.start, pageSize: pageSizeFor(input) });
    const seen: Seen = { shown: 0, read: 0, more: false, next: undefined };
    await print(wanted(pages.pages(), input, seen));
    tellRest(context, input, seen);
  },
});

type ListInput = Input<typeof parameters>;

interface Seen {
  shown: number;
  read: number;
  more: boolean;
  next: string | undefined;
}

function toFilter(context: Context, input: ListInput): object {
  if (input.entityId !== undefined && input.entityType === undefined) {
    throw new SvcError('usage', '--entity-id needs --entity-type', {
      hint: 'Say which type of entity the id belongs to.',
    });
  }
  if (input.limit !== undefined && input.all) {
    throw new SvcError('usage', '--limit and --all exclude each other', { hint: 'Give one of them.' });
  }
  const now = context.clock.now();
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

function pageSizeFor(input: ListInput): number | undefined {
  if (input.pageSize !== undefined) return input.pageSize;
  if (input.all || isFiltered(input)) return 100;
  // Equal pages that end at the limit, so that the next cursor goes on just behind it.
  return input.limit === undefined ? undefined : Math.ceil(input.limit / Math.ceil(input.limit / 100));
}

function isFiltered(input: ListInput): boolean {
  return input.operation.length + input.actor.length + input.actorType.length > 0 || input.grep !== undefined;
}

async function* wanted(
  pages: AsyncIterable<{ items: readonly Log[]; next: string | undefined }>,
  input: ListInput,
  seen: Seen,
): AsyncGenerator<readonly Log[]> {
  const limit = input.limit ?? (input.all ? Infinity : undefined);
  for await (const page of pages) {
    seen.read += page.items.length;
    const items = page.items.filter((log) => matches(log, input));
    const batch = limit === undefined ? items : items.slice(0, limit - seen.shown);
    seen.shown += batch.length;
    seen.more = page.next !== undefined || batch.length < items.length;
    // The cursor of a page that was shown in part would skip the rest of it.
    seen.next = batch.length < items.length ? undefined : page.next;
    yield batch;
    if (limit === undefined || seen.shown >= limit) return;
  }
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

function tellRest(context: Context, input: ListInput, { shown, read, more, next }: Seen): void {
  if (isFiltered(input))
    context.notices.note(
      `${shown} of ${read} entries read match; some filters were applied here, not by the service`,
    );
  else if (shown === 0) context.notices.note('no log entries');
  if (!more) return;
  const goOn = next === undefined ? 'a larger --limit' : `--start '${next}' to go on`;
  context.notices.note(`more entries follow: --all for every page, or ${goOn}`);
}
