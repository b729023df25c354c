// The filters of log entries: which the service applies, and which svc applies.

import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';
import type { ActorFilter } from './actor-filter.ts';
import type { EntityInput, EntryInput } from './options.ts';
import { isUsableBeginning, mayBeBeginning, RequestedEntity } from './requested-entity.ts';
import { requireKnown, requireType } from './unknown-words.ts';

/** The most words of the service that are kept to compare them. */
const MAX_KEPT = 1_000;

type Words = Pick<
  EntityInput & EntryInput,
  'entityType' | 'operation' | 'excludeOperation' | 'excludeEntityType' | 'actorType'
>;

/** The operations and types of all entries read, with which the words of filters are compared. */
class SeenWords {
  readonly operations = new Set<string>();
  readonly actorTypes = new Set<string>();
  readonly entityTypes = new Set<string>();
  #hasEntries = false;

  see({ operation, entity_type: entityType, actor_type: actorType }: Log): void {
    this.#hasEntries = true;
    keep(this.operations, operation);
    keep(this.entityTypes, entityType);
    keep(this.actorTypes, actorType);
  }

  /**
   * Warns of words in filters that the service does not know and no entry read has.
   * @throws SvcError `usage` for one that is near a known word: it is a typing error, and finding nothing proves nothing
   */
  async report(context: Context, words: Words): Promise<void> {
    const { entityType, operation, excludeOperation, excludeEntityType, actorType } = words;
    const { LOG_OPERATIONS } = await import('../schema/log.ts');
    const operations = new Set([...LOG_OPERATIONS, ...this.operations]);
    for (const name of [...operation, ...excludeOperation]) requireKnown(context, 'operation', name, operations);
    for (const name of actorType) requireKnown(context, 'actor type', name, this.actorTypes);
    if (entityType !== undefined && !this.#hasEntries) requireType(context, entityType);
    for (const name of excludeEntityType) if (!this.entityTypes.has(name)) requireType(context, name);
  }
}

/** @throws SvcError `usage` for a word that one filter requires and another one excludes: no entry can match */
function requireNoContradiction({ entityType, operation, excludeOperation, excludeEntityType }: Words): void {
  if (operation.length > 0 && operation.every((name) => excludeOperation.includes(name)))
    throw contradiction('--operation', '--exclude-operation');
  if (entityType !== undefined && excludeEntityType.includes(entityType))
    throw contradiction('--entity-type', '--exclude-entity-type');
}

function contradiction(one: string, other: string): SvcError {
  return new SvcError('usage', `${other} excludes what ${one} selects, so no entry can match`, {
    hint: 'Leave one of them out.',
  });
}

function keep(words: Set<string>, word: unknown): void {
  if (typeof word === 'string' && words.size < MAX_KEPT) words.add(word);
}

/** The filters of a command, with resolved actors. */
export interface EntryFilter extends EntryInput, EntityInput {
  readonly actors: readonly ActorFilter[];
  /** Notes the entities of all entries read. */
  readonly entity: RequestedEntity;
  /** Notes the operations and types of all entries read. */
  readonly words: SeenWords;
}

/**
 * Resolves the actors of a command's filters.
 * @throws SvcError `usage` if an actor is unknown or ambiguous, or two filters contradict each other
 */
export async function filterOf<T extends EntryInput & EntityInput>(context: Context, input: T) {
  const { actor } = input;
  requireNoContradiction(input);
  const actors = actor.length === 0 ? [] : await (await import('./resolve-actor.ts')).actorFilters(context, actor);
  return { ...input, actors, entity: new RequestedEntity(input.entityId), words: new SeenWords() };
}

/** Returns the filters for the service, which takes only a whole id; svc applies the beginning of one. */
export function entityFilter({ entityType, entityId }: EntityInput): EntityInput {
  return { entityType, entityId: entityId !== undefined && isUsableBeginning(entityId) ? undefined : entityId };
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

/** Whether an entry matches. Notes what each entry has, even if it does not match: the reports need all that was read. */
export function matches(log: Log, input: EntryFilter): boolean {
  const { entityId, entityType, actors, entity, words } = input;
  entity.see(log.entity_id);
  words.see(log);
  for (const actor of actors) actor.see(log.actor_id);
  // The API documents the filter by id only together with a type. A service may ignore an id alone, so svc checks it.
  const isChecked = entityId !== undefined && (entityType === undefined || isUsableBeginning(entityId));
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

function isOneOf(found: string | null | undefined, requested: readonly string[]): boolean {
  return requested.length === 0 || (typeof found === 'string' && requested.includes(found));
}

/**
 * Says what a filter may mean that no entry matches, when all entries are read.
 * @throws SvcError `usage` for a typing error: it is then no proof that nothing was found
 */
export async function reportUnmatchedFilters(context: Context, input: EntryFilter): Promise<void> {
  input.entity.report(context);
  for (const actor of input.actors) actor.requireSeen();
  await input.words.report(context, input);
}
