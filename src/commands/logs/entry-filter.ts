import type { LogFilter } from '../../api/logs.ts';
import type { PageOptions } from '../../api/pages.ts';
import type { Context, PreviewRequest } from '../../app/command.ts';
import {
  type Input,
  moment,
  type Parameter,
  pattern,
  repeated,
  suggesting,
  text,
  value,
} from '../../app/parameter.ts';
import { SvcError } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import type { EntityType, Log } from '../../schema/log.ts';

/** Which entries are wanted, as far as the service can tell. */
export const ENTITY_PARAMETERS = {
  entityType: suggesting(
    'entity type',
    value('--entity-type <type>', "only this type of entity ('svc logs entity-types' lists them)", text),
  ),
  entityId: value('--entity-id <id>', 'only the entity with this id', text),
} as const;

/** Which stretch of time is wanted. */
export const INTERVAL_PARAMETERS = {
  since: value(
    '--since <time>',
    'only entries from this time on: 2h, 2026-01-31, 2026-01-31T09:00:00Z, yesterday',
    moment,
  ),
  until: value('--until <time>', 'only entries before this time', moment),
} as const;

/** Which entries are wanted, as far as that is decided here. */
export const ENTRY_PARAMETERS = {
  operation: repeated('--operation <name>', 'only this operation, such as create; may be repeated *', text),
  actor: repeated('--actor <id>', 'only what this actor did; may be repeated *', text),
  actorType: repeated(
    '--actor-type <type>',
    'only this type of actor, such as user; may be repeated *',
    text,
  ),
  grep: value('--grep <regex>', 'only entries whose message matches *', pattern),
} as const;

/** The same where everything is decided here, so that nothing needs a mark. */
export const ENTRY_PARAMETERS_HERE = {
  operation: unmarked(ENTRY_PARAMETERS.operation),
  actor: unmarked(ENTRY_PARAMETERS.actor),
  actorType: unmarked(ENTRY_PARAMETERS.actorType),
  grep: unmarked(ENTRY_PARAMETERS.grep),
} as const;

/** The filters as they were asked for. */
export type EntryInput = Input<typeof ENTRY_PARAMETERS>;

/** What the service can filter by itself. */
export function entityFilter({
  entityType,
  entityId,
}: Input<typeof ENTITY_PARAMETERS>): Pick<LogFilter, 'entityType' | 'entityId'> {
  return { entityType, entityId };
}

/** The interval in epoch milliseconds, as far as it was given. @throws SvcError `usage` where it is empty */
export function intervalOf(
  { since, until }: Input<typeof INTERVAL_PARAMETERS>,
  now: number,
): { since: number | undefined; until: number | undefined } {
  const interval = { since: since?.(now), until: until?.(now) };
  if (interval.since !== undefined && interval.until !== undefined && interval.since >= interval.until) {
    throw new SvcError('usage', '--since must be before --until', {
      hint: 'Swap them, or widen the interval.',
    });
  }
  return interval;
}

/** Whether entries are also dropped here. */
export function isFiltered(input: EntryInput): boolean {
  return input.operation.length + input.actor.length + input.actorType.length > 0 || input.grep !== undefined;
}

/** Whether an entry is about what was asked for, where no service looks at that. */
export function isAbout(log: Log, { entityType, entityId }: Input<typeof ENTITY_PARAMETERS>): boolean {
  return (
    (entityType === undefined || log.entity_type === entityType) &&
    (entityId === undefined || log.entity_id === entityId)
  );
}

/** Whether an entry is wanted. */
export function matches(log: Log, input: EntryInput & Input<typeof ENTITY_PARAMETERS>): boolean {
  return (
    isAboutId(log, input) &&
    isOneOf(log.operation, input.operation) &&
    isOneOf(log.actor_id, input.actor) &&
    isOneOf(log.actor_type, input.actorType) &&
    (input.grep === undefined || input.grep.test(log.message ?? ''))
  );
}

// The interface speaks of an id together with its type: a service may ignore an id alone, and then it is checked here.
function isAboutId(
  { entity_id: id }: Log,
  { entityType, entityId }: Input<typeof ENTITY_PARAMETERS>,
): boolean {
  if (entityId === undefined || entityType !== undefined) return true;
  return id?.toLowerCase() === entityId.toLowerCase();
}

/** Says how much of what the service answered was dropped here. */
export function reportFiltered(
  { notices }: Context,
  input: EntryInput,
  { shown, read }: { readonly shown: number; readonly read: number },
): void {
  if (!isFiltered(input)) return;
  notices.note(
    `${shown} of ${read} entries match; the service cannot filter by operation, actor or message, so this was done here`,
  );
}

/** The request for the first page of entries, for `--curl`. */
export async function firstRequest(
  filter: LogFilter,
  options: PageOptions = { pageSize: 100 },
): Promise<PreviewRequest> {
  const [{ listLogsRequest }, { pageRequest }] = await Promise.all([
    import('../../api/logs.ts'),
    import('../../api/pages.ts'),
  ]);
  return pageRequest(listLogsRequest(filter), options);
}

function unmarked<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, description: parameter.description.replace(/ \*$/, '') };
}

function isOneOf(found: string | null | undefined, asked: readonly string[]): boolean {
  return asked.length === 0 || (typeof found === 'string' && asked.includes(found));
}

/** How log entries are shown. */
export const logView: View<Log> = {
  name: 'log entry',
  fields: [
    'tenant_id',
    'actor_id',
    'actor_type',
    'entity_type',
    'entity_id',
    'operation',
    'message',
    'created_at',
  ],
  columns: [
    { path: 'created_at', kind: 'time' },
    { path: 'operation', kind: 'text', paint: (value) => (value === 'delete' ? 'bad' : undefined) },
    { path: 'entity_type', header: 'entity', kind: 'text' },
    { path: 'actor_type', header: 'actor', kind: 'text' },
    { path: 'entity_id', kind: 'id', priority: 2 },
    { path: 'actor_id', kind: 'id', priority: 1 },
    { path: 'message', kind: 'text', priority: 3, repeats: onlyRepeats },
  ],
};

// "Card created" beside "create" and "card" tells nothing.
function onlyRepeats({ operation, entity_type: type, message }: Log): boolean {
  const noun = wordsOf(type);
  const said = wordsOf(message);
  const verb = wordsOf(operation).replace(/e$/, '');
  if (said === '' || said === noun) return true;
  if (noun === '' || verb === '' || !said.startsWith(noun)) return false;
  const rest = said.slice(noun.length).replace(/^s? /, '');
  return rest.startsWith(verb) && /^e?d?$/.test(rest.slice(verb.length));
}

function wordsOf(text: string | null | undefined): string {
  return (text ?? '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** How the kinds of entity are shown. */
export const entityTypeView: View<EntityType> = {
  name: 'entity type',
  fields: ['value', 'display_name'],
  columns: [
    { path: 'value', kind: 'id' },
    { path: 'display_name', kind: 'text' },
  ],
};
