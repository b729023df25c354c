import { SvcError } from '../../base/errors.ts';
import { MAX_DEPTH } from '../../base/json/source.ts';
import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import {
  flag,
  type Input,
  type Parameter,
  repeated,
  suggesting,
  value,
  moment,
  pattern,
  positiveDuration,
  text,
} from '../../cli/app/parameter.ts';
import { isForPeople, type ListProgress } from '../../cli/app/print.ts';
import { countText, formatNumber, parseTime } from '../../cli/output/time.ts';
import { type LogFilter, type LogOddity, oddityOf } from '../../client/api/logs.ts';
import type { PageOptions } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorFilter } from '../actor-filter.ts';
import { mayBeBeginning, NearIds } from '../near-ids.ts';

/** Filters that the service applies. */
export const ENTITY_PARAMETERS = {
  entityType: suggesting(
    'entity type',
    value('--entity-type <type>', "only this type of entity ('svc logs entity-types' lists them)", text),
  ),
  entityId: value('--entity-id <id>', 'only the entity with this id', text),
} as const;

export const INTERVAL_PARAMETERS = {
  since: value('--since <time>', 'only entries from this time on: 2h, 2026-01-31, 2026-01-31T09:00:00Z, today', moment),
  until: value('--until <time>', 'only entries before this time', moment),
} as const;

/** Filters that svc applies. */
export const ENTRY_PARAMETERS = {
  operation: repeated('--operation <name>', 'only this operation, such as create; may be repeated *', text),
  actor: repeated(
    '--actor <id|name>',
    'only what this actor did: its id, a beginning of it, or an application; may be repeated *',
    text,
  ),
  actorType: repeated('--actor-type <type>', 'only this type of actor, such as user; may be repeated *', text),
  grep: value('--grep <regex>', 'only entries whose message matches *', pattern),
  excludeOperation: repeated('--exclude-operation <name>', 'not this operation; may be repeated *', text),
  excludeEntityType: suggesting(
    'entity type',
    repeated('--exclude-entity-type <type>', 'not this type of entity; may be repeated *', text),
  ),
} as const;

/** The same without the mark, for commands where svc applies every filter. */
export const UNMARKED_ENTRY_PARAMETERS = {
  operation: unmarked(ENTRY_PARAMETERS.operation),
  actor: unmarked(ENTRY_PARAMETERS.actor),
  actorType: unmarked(ENTRY_PARAMETERS.actorType),
  grep: unmarked(ENTRY_PARAMETERS.grep),
  excludeOperation: unmarked(ENTRY_PARAMETERS.excludeOperation),
  excludeEntityType: unmarked(ENTRY_PARAMETERS.excludeEntityType),
} as const;

/** Options of what the service may no longer have. */
export const RETENTION_PARAMETERS = {
  retention: value('--retention <duration>', 'how long the service keeps entries (default 24h)', positiveDuration),
  strict: flag('--strict', 'exit with 14 when entries may be missing'),
} as const;

/** So many entries at most a tail begins with. */
export const MAX_LAST = 10_000;

export const OVERLAP_PARAMETER = value(
  '--overlap <duration>',
  'how late an entry may arrive (default 2m)',
  positiveDuration,
);

export type EntryInput = Input<typeof ENTRY_PARAMETERS>;
export type EntityInput = Input<typeof ENTITY_PARAMETERS>;
export type IntervalInput = Input<typeof INTERVAL_PARAMETERS>;

/** The filters of a command, once the actors are known by their ids. */
export interface EntryFilter extends EntryInput, EntityInput {
  readonly actors: readonly ActorFilter[];
  /** Sees every entry read. */
  readonly near: NearIds;
}

/** Finds the ids of actors. @throws SvcError `usage` where an actor is not known, or not one alone */
export async function filterOf<T extends EntryInput & EntityInput>(context: Context, input: T) {
  const { actor } = input;
  // Most commands name no actor.
  const actors = actor.length === 0 ? [] : await (await import('../actor-filter.ts')).actorFilters(context, actor);
  return { ...input, actors, near: new NearIds(input.entityId) };
}

export function entityFilter({ entityType, entityId }: EntityInput): EntityInput {
  return { entityType, entityId };
}

/** The interval in epoch milliseconds, as far as it was given. @throws SvcError `usage` where it is empty */
export function intervalOf({ since, until }: IntervalInput, now: number) {
  const interval = { since: since?.(now), until: until?.(now) };
  if (interval.since !== undefined && interval.until !== undefined && interval.since >= interval.until)
    throw new SvcError('usage', '--since must be before --until', { hint: 'Swap them, or widen the range.' });
  return interval;
}

/** The names of the filters given that svc applies. */
export function clientFilters(input: EntryInput): string[] {
  return [...new Set(clientFilterWords(input).flatMap((word) => /^--[a-z-]+/.exec(word) ?? []))];
}

/** All filters as words of a command line. */
export function filterWords(input: EntryInput & EntityInput): string[] {
  return [
    ...option('--entity-type', input.entityType),
    ...option('--entity-id', input.entityId),
    ...clientFilterWords(input),
  ];
}

function clientFilterWords(input: EntryInput): string[] {
  return [
    ...option('--operation', input.operation),
    ...option('--actor', input.actor),
    ...option('--actor-type', input.actorType),
    ...option('--grep', input.grep?.source),
    ...option('--exclude-operation', input.excludeOperation),
    ...option('--exclude-entity-type', input.excludeEntityType),
  ];
}

/** Whether an entry is about the requested entity, where no service applies that filter. */
export function isAbout(log: Log, { entityType, entityId, near }: EntryFilter): boolean {
  near.see(log.entity_id);
  return (
    (entityType === undefined || log.entity_type === entityType) &&
    (entityId === undefined || log.entity_id === entityId || formsOf(entityId).includes(log.entity_id ?? ''))
  );
}

/** An id as it was given, in lower and in upper case: a service that takes any of them writes ids in one. */
function formsOf(id: string): string[] {
  return [id, id.toLowerCase(), id.toUpperCase()];
}

/** Values of which every entry that passes all filters has one: those of one filter, of all given the rarest. */
export function valuesAmong(input: EntryFilter): readonly string[] {
  const { operation, entityType, actorType } = input;
  const [entity, actors] = wholeIds(input);
  const filters = [
    distinctForms(entity),
    distinctForms(actors),
    operation,
    entityType === undefined ? [] : [entityType],
    actorType,
  ];
  return filters.find(({ length }) => length > 0) ?? [];
}

function distinctForms(ids: readonly string[]): string[] {
  return [...new Set(ids.flatMap(formsOf))];
}

/** The ids that an entry must have, one of each list, as its entity or its actor. */
export function idsAmong(input: EntryFilter): (readonly string[])[] {
  return wholeIds(input).filter(({ length }) => length > 0);
}

/** The ids of the entity and of the actors; none of either where one may be the beginning of another id. */
function wholeIds({ entityId, actors }: EntryFilter): [entity: readonly string[], actors: readonly string[]] {
  const ids = actors.flatMap(({ id }) => id ?? []);
  const isWhole = entityId !== undefined && !mayBeBeginning(entityId);
  return [isWhole ? [entityId] : [], ids.length === actors.length ? ids : []];
}

export function matches(log: Log, input: EntryFilter): boolean {
  const { entityId, entityType, actors, near } = input;
  near.see(log.entity_id);
  // The API documents an id together with its type: a service may ignore an id alone, so it is checked here.
  const isIdOnly = entityId !== undefined && entityType === undefined;
  return (
    (!isIdOnly || log.entity_id?.toLowerCase() === entityId.toLowerCase()) &&
    isOneOf(log.operation, input.operation) &&
    (actors.length === 0 || actors.some((actor) => actor.matches(log.actor_id))) &&
    isOneOf(log.actor_type, input.actorType) &&
    !input.excludeOperation.includes(log.operation ?? '') &&
    !input.excludeEntityType.includes(log.entity_type ?? '') &&
    (input.grep === undefined || input.grep.test(log.message ?? ''))
  );
}

/** Reports how many of the entries that the service sent were dropped here. */
export function reportFiltered(
  { notices }: Context,
  input: EntryInput,
  { shown, read }: Pick<ListProgress, 'shown' | 'read'>,
  range = '',
): void {
  const filters = clientFilters(input);
  if (filters.length === 0) return;
  const found = shown === 0 ? 'no match' : countText(shown, 'match');
  const are = filters.length === 1 ? 'is' : 'are';
  notices.note(
    `${found} in the ${countText(read, 'entry')} read${range} (${filters.join(', ')} ${are} filtered client-side)`,
  );
}

/** Names of actors, where a person reads a table on a terminal whose columns nobody chose. */
export async function actorNames(context: Context) {
  if (!context.out.isTerminal || !isForPeople(context) || context.globals.fields !== undefined) return undefined;
  return new (await import('../actor-names.ts')).ActorNames(context);
}

/** The request for the first page of entries, for `--curl`. */
export async function firstRequest(filter: LogFilter, page: PageOptions = { pageSize: 100 }): Promise<PreviewRequest> {
  const [{ listLogsRequest }, { pageRequest }] = await Promise.all([
    import('../../client/api/logs.ts'),
    import('../../client/api/pages.ts'),
  ]);
  return pageRequest(listLogsRequest(filter), page);
}

function unmarked<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, description: parameter.description.replace(/ \*$/, '') };
}

function isOneOf(found: string | null | undefined, asked: readonly string[]): boolean {
  return asked.length === 0 || (typeof found === 'string' && asked.includes(found));
}

type Oddity = LogOddity | 'no time';

const ODDITIES: Readonly<Record<Oddity, string>> = {
  'no time': 'without a readable time (created_at)',
  'too deep': `nested more than ${MAX_DEPTH} levels deep`,
  'other types': 'with fields of other types than documented',
  'not an object': 'that are not objects',
};

/** Counts entries that are not as documented. They are kept like all others. */
export class OddEntries {
  readonly #counts = new Map<Oddity, number>();

  async *counted(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const logs of batches) {
      for (const log of logs) {
        const oddity = oddityOf(log) ?? (parseTime(log.created_at) === undefined ? 'no time' : undefined);
        if (oddity !== undefined) this.#counts.set(oddity, (this.#counts.get(oddity) ?? 0) + 1);
      }
      yield logs;
    }
  }

  warn({ notices }: Pick<Context, 'notices'>): void {
    for (const [oddity, count] of this.#counts)
      notices.warn(`entries ${ODDITIES[oddity]}: ${formatNumber(count)}, kept as the service sent them`);
  }
}
