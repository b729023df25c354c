// The filters of log entries: which the service applies, and which svc applies.

import { isSvcError, SvcError } from '../base/errors.ts';
import { didYouMean, nearest, typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext, option } from '../cli/app/hint.ts';
import type { ListProgress } from '../cli/app/print.ts';
import { serviceOf } from '../cli/app/service.ts';
import { type ApplicationNames, entityTypesOf, hasListedTypes, knownApplicationsOf } from '../cli/config/cache.ts';
import { cleanText } from '../cli/output/text.ts';
import { countText } from '../cli/output/time.ts';
import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';
import { readApplications } from './actor.ts';
import type { EntityInput, EntryInput } from './options.ts';

const MOST_NEAR = 5;
/** The most entries that wait for the end of the read, which shows whether only one entity has the beginning. */
const MOST_HELD = 10_000;
const SHORTER_THAN_UUID = /^[0-9a-f-]{1,35}$/i;
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]{0,26})?$/i;

/** Whether an id may be only the beginning of a UUID, which is what tables show. */
function mayBeBeginning(id: string): boolean {
  return SHORTER_THAN_UUID.test(id);
}

/** Whether an id stands for the one entity whose UUID begins so: it has the eight digits that tables show, or more. */
export function isBeginning(id: string): boolean {
  return BEGINNING.test(id);
}

/** The entity that a filter names by its id or by the beginning of its id, which the entries read complete. */
class RequestedEntity {
  readonly #typed: string | undefined;
  readonly #requested: string | undefined;
  readonly #isBeginning: boolean;
  readonly #near = new Set<string>();
  /** The types of entries about the entity that have another type than the requested one. */
  readonly #otherTypes = new Set<string>();
  #isFound = false;
  #hasType = false;

  constructor(typed: string | undefined) {
    this.#typed = typed;
    this.#requested = typed?.toLowerCase();
    this.#isBeginning = typed !== undefined && isBeginning(typed);
  }

  /** Notes the entity of an entry that was read, and the type of the entity unless it is the requested one. */
  see(id: string | null | undefined, otherType?: string): void {
    if (this.#requested === undefined || typeof id !== 'string' || (this.#isFound && this.#hasType)) return;
    const lower = id.toLowerCase();
    if (!lower.startsWith(this.#requested)) return;
    if (lower === this.#requested) this.#isFound = true;
    else if (!this.#isFound && this.#near.size < MOST_NEAR) this.#near.add(id);
    if (lower !== this.#requested && !this.#isBeginning) return;
    if (otherType === undefined) this.#hasType = true;
    else this.#otherTypes.add(otherType);
  }

  /** Whether an entry may be about the entity, by its id alone. */
  accepts(id: string | null | undefined): boolean {
    const lower = id?.toLowerCase();
    if (this.#requested === undefined || lower === this.#requested) return true;
    return this.#isBeginning && !this.#isFound && lower?.startsWith(this.#requested) === true;
  }

  /** Holds accepted entries until all are read, so that none is shown of several entities. @throws SvcError `usage` for several */
  only(batches: AsyncIterable<readonly Log[]>): AsyncIterable<readonly Log[]> {
    return this.#isBeginning ? this.#heldBack(batches) : batches;
  }

  async *#heldBack(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    let heldBack: Log[] = [];
    for await (const batch of batches) {
      heldBack = heldBack.concat(batch);
      this.#requireOne();
      if (heldBack.length < MOST_HELD) continue;
      yield heldBack;
      heldBack = [];
    }
    yield heldBack.filter(({ entity_id: id }) => this.accepts(id));
  }

  /**
   * Says which entity was meant, or reports near ids if no entry has the requested one.
   * @throws SvcError `usage` if several entities, or none, have an id that begins so, or the entity has another type
   */
  report({ notices }: Pick<Context, 'notices'>): void {
    const requested = this.#requested;
    if (requested === undefined) return;
    this.#requireOne();
    this.#requireType(requested);
    if (this.#isFound) return;
    const near = [...this.#near];
    if (this.#isBeginning && near.length === 1) return notices.note(`${this.#typed} is ${near.join('')}`);
    const message = `no entry read is about the entity ${requested}`;
    const similarIds = near.length === 0 ? '' : `ids that begin so: ${near.join(', ')}`;
    if (mayBeBeginning(requested))
      throw new SvcError('usage', message, { hint: this.#hint(similarIds), facts: { near } });
    if (near.length > 0) notices.note(`${message}; ${similarIds}`);
  }

  #hint(found: string): string {
    if (found !== '') return `Give at least eight digits; ${found}`;
    return this.#isBeginning
      ? 'An id as tables show it stands for an entity among the entries read: widen the time range, or give the whole id.'
      : 'Give at least eight digits of an id, as tables show them, or the whole id.';
  }

  #requireType(requested: string): void {
    if (this.#hasType || this.#otherTypes.size === 0) return;
    const types = [...this.#otherTypes].join(', ');
    throw new SvcError('usage', `the entries about the entity ${requested} are of another type: ${types}`, {
      hint: 'Leave out --entity-type, or give this type.',
      facts: { entity_types: [...this.#otherTypes] },
    });
  }

  #requireOne(): void {
    if (!this.#isBeginning || this.#isFound || this.#near.size < 2) return;
    const near = [...this.#near];
    throw new SvcError('usage', `several entities have an id that begins with ${this.#requested}`, {
      hint: `Give one of these: ${near.join(', ')}`,
      facts: { near },
    });
  }
}

/** The most words of the service, and the most ids of actors, that are kept to compare them. */
const MOST_KEPT = 1_000;

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
  if (typeof word === 'string' && words.size < MOST_KEPT) words.add(word);
}

function requireKnown({ notices }: Context, what: string, name: string, known: ReadonlySet<string>): void {
  if (known.has(name)) return;
  if (nearest(name, known) !== undefined)
    throw new SvcError('usage', `unknown ${what} ${typedWord(name, known)}, which no entry read has`, {
      hint: didYouMean(name, known),
    });
  const words =
    known.size === 0 ? 'no entry to compare it with was read' : `known: ${[...known].toSorted().join(', ')}`;
  notices.warn(`unknown ${what} ${typedWord(name, known)}: ${words}`);
}

function requireType(context: Context, entityType: string): void {
  const { system, settings, notices } = context;
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const types = entityTypesOf(system, service);
  const knownTypes = new Set(types);
  if (knownTypes.has(entityType)) return;
  if (hasListedTypes(system, service) || nearest(entityType, knownTypes) !== undefined)
    return requireKnown(context, 'entity type', entityType, knownTypes);
  // The interface lets the service have more types than it names.
  const names = types.toSorted().join(', ');
  notices.warn(`the entity type ${typedWord(entityType, types)} is not one that the interface names (known: ${names})`);
  noteNext(context, 'the service may have more; to list them', ['logs', 'entity-types']);
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
  const actors = await actorFilters(context, actor);
  return { ...input, actors, entity: new RequestedEntity(input.entityId), words: new SeenWords() };
}

/** Returns the names of the typed filters that svc applies itself. */
export function clientFilters(input: EntryInput & Pick<EntityInput, 'entityId'>): string[] {
  const ofEntity = input.entityId !== undefined && isBeginning(input.entityId) ? ['--entity-id'] : [];
  const words = [...ofEntity, ...clientFilterWords(input)];
  return [...new Set(words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? []))];
}

/** Returns the filters for the service, which takes only a whole id; svc applies the beginning of one. */
export function entityFilter({ entityType, entityId }: EntityInput): EntityInput {
  return { entityType, entityId: entityId !== undefined && isBeginning(entityId) ? undefined : entityId };
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
  const matchText = shown === 0 ? 'no match' : countText(shown, 'match');
  const are = filters.length === 1 ? 'is' : 'are';
  notices.note(
    `${matchText} in the ${countText(read, 'entry')} read${range} (${filters.join(', ')} ${are} filtered client-side)`,
  );
}

function isOneOf(found: string | null | undefined, requested: readonly string[]): boolean {
  return requested.length === 0 || (typeof found === 'string' && requested.includes(found));
}

/**
 * Says what a filter may mean that no entry matches, when all entries are read.
 * @throws SvcError `usage` for a typing error: it is then no proof that nothing was found
 */
export async function reportFilters(context: Context, input: EntryFilter): Promise<void> {
  input.entity.report(context);
  for (const actor of input.actors) actor.report();
  await input.words.report(context, input);
}

/** A UUID that completes the beginning of another one, to check whether it can be one. */
const EXAMPLE = '00000000-0000-0000-0000-000000000000';
/** The short id at the end of an actor as a table shows it: `user a20690bc`, or `Twin (4707c78a)`. */
const SHOWN_ID = /[ (]([0-9a-f]{8})\)?$/i;
const FEWEST_CHARACTERS = 6;
const MOST_SHOWN = 10;
/** How many letters of an id may differ from a near one. */
const MOST_EDITS = 2;

/** Selects the entries of one actor, given by its id or the beginning of its id. */
export class ActorFilter {
  /** The complete id in lower case; undefined if only its beginning is known. */
  readonly id: string | undefined;
  readonly #beginning: string;
  #met: string | undefined;
  #isSeen = false;
  readonly #others = new Set<string>();

  constructor(idOrBeginning: string) {
    this.#beginning = idOrBeginning.toLowerCase();
    this.id = UUID.test(idOrBeginning) ? this.#beginning : undefined;
  }

  /** Notes the actor of an entry that was read, whether or not other filters hide the entry. */
  see(actorId: unknown): void {
    if (this.id !== undefined || this.#isSeen || typeof actorId !== 'string') return;
    const id = actorId.toLowerCase();
    this.#isSeen = id.startsWith(this.#beginning);
    if (this.#others.size < MOST_KEPT) this.#others.add(id);
  }

  /** Reports near ids if no entry read has an actor with the beginning. @throws SvcError `usage` */
  report(): void {
    if (this.id !== undefined || this.#isSeen) return;
    const { length } = this.#beginning;
    const isNear = (id: string): boolean => nearest(this.#beginning, [id.slice(0, length)], MOST_EDITS) !== undefined;
    const near = [...this.#others].filter(isNear).slice(0, MOST_NEAR);
    const similarActors = near.length === 0 ? '' : ` Actors with a similar id: ${near.join(', ')}.`;
    throw new SvcError('usage', `no entry read is by an actor whose id begins with ${this.#beginning}`, {
      hint: `The beginning of an id stands for an actor of the entries read: widen the time range, or give the whole id.${similarActors}`,
      facts: { near },
    });
  }

  /** Whether an id belongs to the actor. @throws SvcError `usage` if the ids of two actors have the same beginning */
  matches(actorId: unknown): boolean {
    if (typeof actorId !== 'string') return false;
    const id = actorId.toLowerCase();
    if (this.id !== undefined) return id === this.id;
    if (!id.startsWith(this.#beginning)) return false;
    this.#met ??= id;
    if (this.#met !== id) throw ambiguous(this.#beginning, [this.#met, id]);
    return true;
  }
}

/**
 * Resolves the actors in `--actor`: ids, beginnings of ids, or names of applications. A beginning that matches no known
 * application is searched in the entries, which are read anyway.
 * @throws SvcError `usage` if a name or a beginning matches no actor, or more than one
 */
async function actorFilters(context: Context, typed: readonly string[]): Promise<readonly ActorFilter[]> {
  const actors: ActorFilter[] = [];
  for (const name of typed) actors.push(new ActorFilter(UUID.test(name) ? name : await idOf(context, name)));
  return actors;
}

async function idOf(context: Context, typed: string): Promise<string> {
  const { settings, system, clock } = context;
  // Reading an archive needs no service.
  const service = settings.sandbox || settings.baseUrl !== undefined ? serviceOf(context) : undefined;
  const cached = knownApplicationsOf(system, service, clock.now()).names;
  const isBeginning = isBeginningOfId(typed);
  const found = candidates(cached, typed);
  if (found.length === 0 && isBeginning) return typed;
  if (found.length > 0) return onlyOne(typed, found);
  const [, shownId] = SHOWN_ID.exec(typed) ?? [];
  if (shownId !== undefined) return idOf(context, shownId);
  const { names, problem, hasMore } = await readNames(context, service);
  const named = candidates(names, typed);
  if (named.length === 0) throw unknownActor(typed, names, problem);
  const id = onlyOne(typed, named);
  if (hasMore)
    context.notices.warn(
      `--actor ${typedWord(typed, names.values())} is application ${id}; others of this name may not be known (${problem})`,
    );
  return id;
}

function isBeginningOfId(typed: string): boolean {
  return typed.length >= FEWEST_CHARACTERS && UUID.test(typed + EXAMPLE.slice(typed.length));
}

/**
 * Returns the ids of applications with this name or, if it may be one, this beginning of an id. A name that a table cut,
 * which ends with an ellipsis, is the beginning of a whole name.
 */
function candidates(names: ApplicationNames, typed: string): string[] {
  const isBeginning = isBeginningOfId(typed);
  const name = cleanText(typed).trim().toLowerCase();
  const idsOf = (isMeant: (known: string, id: string) => boolean): string[] =>
    [...names].filter(([id, known]) => isMeant(known.toLowerCase(), id.toLowerCase())).map(([id]) => id);
  const found = idsOf((known, id) => known === name || (isBeginning && id.startsWith(name)));
  const [, start] = /^(.+)…$/s.exec(name) ?? [];
  return found.length > 0 || start === undefined ? found : idsOf((known) => known.startsWith(start));
}

function onlyOne(typed: string, found: readonly string[]): string {
  const [first = typed] = found;
  if (found.length > 1) throw ambiguous(typed, found);
  return first;
}

/** Reads the names of applications. Without the service, names that were read long ago, and perhaps not all, must do. */
async function readNames(
  context: Context,
  service: string | undefined,
): Promise<{ names: ApplicationNames; hasMore: boolean; problem?: string }> {
  try {
    return { names: await readApplications(context), hasMore: false };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.signal.throwIfAborted();
    const { system, clock } = context;
    return { ...knownApplicationsOf(system, service, clock.now(), { isOld: true }), problem: error.message };
  }
}

function ambiguous(typed: string, ids: readonly string[]): SvcError {
  return new SvcError(
    'usage',
    `--actor ${typedWord(typed, [])} is not one actor: ${ids.slice(0, MOST_SHOWN).join(', ')}`,
    { hint: 'Give the whole id.', facts: { candidates: ids } },
  );
}

function unknownActor(typed: string, names: ApplicationNames, problem: string | undefined): SvcError {
  const knownActors = [...names].slice(0, MOST_SHOWN).map(([id, name]) => `${name} (${id})`);
  const reason = problem === undefined ? '' : `: the names of applications could not be read (${problem})`;
  const applications = knownActors.length === 0 ? '' : ` Known: ${knownActors.join(', ')}.`;
  return new SvcError('usage', `--actor ${typedWord(typed, [...names.values()])} is no known actor${reason}`, {
    hint: `Give an id, at least ${FEWEST_CHARACTERS} characters of one, or the name of an application.${applications}`,
    facts: { candidates: [...names.keys()].slice(0, MOST_SHOWN) },
  });
}
