import type { Context } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import type { ListProgress } from '../cli/app/print.ts';
import { countText } from '../cli/output/time.ts';
import type { Log } from '../schema/log.ts';
import type { EntryFilter } from './entry-filter.ts';
import { mayBeBeginning } from './near-ids.ts';
import type { EntryInput, EntityInput } from './options.ts';

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

function isOneOf(found: string | null | undefined, asked: readonly string[]): boolean {
  return asked.length === 0 || (typeof found === 'string' && asked.includes(found));
}
