import type { Context } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import type { ListProgress } from '../cli/app/print.ts';
import { countText } from '../cli/output/time.ts';
import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';
import type { EntryFilter } from './entry-filter.ts';
import type { EntryInput, EntityInput } from './options.ts';
import { isBeginning, mayBeBeginning } from './requested-entity.ts';

/** Returns the names of the typed filters that svc applies itself. */
export function clientFilters(input: EntryInput & Pick<EntityInput, 'entityId'>): string[] {
  const ofEntity = input.entityId !== undefined && isBeginning(input.entityId) ? ['--entity-id'] : [];
  const words = [...ofEntity, ...clientFilterWords(input)];
  return [...new Set(words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? []))];
}

/** Returns all filters as words of a command line. */
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

/** Whether an entry is about the requested entity. Used for archives, where no service applies this filter. */
export function isAbout(log: Log, { entityType, entity }: EntryFilter): boolean {
  const isOfType = entityType === undefined || log.entity_type === entityType;
  entity.see(log.entity_id, isOfType ? undefined : (log.entity_type ?? 'none'));
  return isOfType && entity.accepts(log.entity_id);
}

/** Returns an id as typed, in lower case and in upper case. A service may accept any form, but writes only one. */
function formsOf(id: string): string[] {
  return [id, id.toLowerCase(), id.toUpperCase()];
}

/** Returns the values of the most selective filter. Every match contains one of them, so other lines need not be parsed. */
export function valuesAmong(input: EntryFilter): readonly string[] {
  const { operation, entityType } = input;
  const [entity, actors] = wholeIds(input);
  // Whether the beginning of an id, or a type, is a mistake shows only in entries that do not match.
  const filters = [
    distinctForms(entity),
    ...(hasBeginning(input) ? [] : [distinctForms(actors), operation]),
    entityType === undefined || input.entityId !== undefined ? [] : [entityType],
  ];
  return filters.find(({ length }) => length > 0) ?? [];
}

/** Returns the forms of ids, or none if one of them can be written in more forms, such as `Tok-AbC`. */
function distinctForms(ids: readonly string[]): string[] {
  return ids.every(hasFewForms) ? [...new Set(ids.flatMap(formsOf))] : [];
}

/** Whether a service writes an id in lower case or in upper case only. */
function hasFewForms(id: string): boolean {
  return UUID.test(id) || id.toLowerCase() === id.toUpperCase();
}

/** Returns lists of ids. Every match has one id of each list, as its entity or its actor. */
export function idsAmong(input: EntryFilter): (readonly string[])[] {
  const [entity, actors] = wholeIds(input);
  return [entity, isBeginningTyped(input) ? [] : actors].filter(({ length }) => length > 0);
}

/** Whether the id of the entity may be only the beginning of one. */
function isBeginningTyped({ entityId }: Pick<EntryFilter, 'entityId'>): boolean {
  return entityId !== undefined && mayBeBeginning(entityId);
}

function hasBeginning(input: EntryFilter): boolean {
  return isBeginningTyped(input) || input.actors.some(({ id }) => id === undefined);
}

/** Returns the requested ids of entities and actors. A list is empty if one of its ids may be the beginning of another id. */
function wholeIds(input: EntryFilter): [entity: readonly string[], actors: readonly string[]] {
  const { entityId, actors } = input;
  const ids = actors.flatMap(({ id }) => id ?? []);
  const isWhole = entityId !== undefined && !isBeginningTyped(input);
  return [isWhole ? [entityId] : [], ids.length === actors.length ? ids : []];
}

export function matches(log: Log, input: EntryFilter): boolean {
  const { entityId, entityType, actors, entity, words } = input;
  entity.see(log.entity_id);
  words.see(log);
  for (const actor of actors) actor.see(log.actor_id);
  // The API documents the filter by id only together with a type. A service may ignore an id alone, so svc checks it.
  const isChecked = entityId !== undefined && (entityType === undefined || isBeginning(entityId));
  return (
    (!isChecked || entity.accepts(log.entity_id)) &&
    isOneOf(log.operation, input.operation) &&
    (actors.length === 0 || actors.some((actor) => actor.matches(log.actor_id))) &&
    isOneOf(log.actor_type, input.actorType) &&
    !input.excludeOperation.includes(log.operation ?? '') &&
    !input.excludeEntityType.includes(log.entity_type ?? '') &&
    (input.grep === undefined || input.grep.test(log.message ?? ''))
  );
}

/** Whether an entry is about somebody who read the logs, as every command about logs does. */
export function isReadOfLogs({ operation, entity_type: type }: Log): boolean {
  return operation === 'read' && (type === 'log' || type === 'logs');
}

/** Reports how many of the entries read match the filters that svc applies. */
export function reportFiltered(
  { notices }: Context,
  input: EntryInput & Pick<EntityInput, 'entityId'>,
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

function isOneOf(found: string | null | undefined, requested: readonly string[]): boolean {
  return requested.length === 0 || (typeof found === 'string' && requested.includes(found));
}
