import { SvcError } from '../base/errors.ts';
import { didYouMean, nearest, typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext } from '../cli/app/hint.ts';
import type { Log } from '../schema/log.ts';
import type { EntityInput, EntryInput } from './options.ts';

/** The service may use any words, so only so many are kept. */
const MOST_KEPT = 1_000;

type Words = Pick<
  EntityInput & EntryInput,
  'entityType' | 'operation' | 'excludeOperation' | 'excludeEntityType' | 'actorType'
>;

/** The operations and types of all entries read, with which the words of filters are compared. */
export class SeenWords {
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
    if (entityType !== undefined && !this.#hasEntries) await requireType(context, entityType);
    for (const name of excludeEntityType) if (!this.entityTypes.has(name)) await requireType(context, name);
  }
}

/** @throws SvcError `usage` for a word that one filter requires and another one excludes: no entry can match */
export function requireNoContradiction({ entityType, operation, excludeOperation, excludeEntityType }: Words): void {
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

async function requireType(context: Context, entityType: string): Promise<void> {
  const { system, settings, notices } = context;
  const { entityTypesOf, hasListedTypes } = await import('../cli/config/cache.ts');
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const types = entityTypesOf(system, service);
  const known = new Set(types);
  if (known.has(entityType)) return;
  if (hasListedTypes(system, service) || nearest(entityType, known) !== undefined)
    return requireKnown(context, 'entity type', entityType, known);
  // The interface lets the service have more types than it names.
  const names = types.toSorted().join(', ');
  notices.warn(`the entity type ${typedWord(entityType, types)} is not one that the interface names (known: ${names})`);
  noteNext(context, 'the service may have more; to list them', ['logs', 'entity-types']);
}
