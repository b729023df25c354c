import type { Context } from '../cli/app/command.ts';
import type { ActorFilter } from './actor-filter.ts';
import { requireNoContradiction, SeenWords } from './filter-words.ts';
import type { EntryInput, EntityInput } from './options.ts';
import { RequestedEntity } from './requested-entity.ts';

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
  // Most commands name no actor, and need not load the module.
  const actors = actor.length === 0 ? [] : await (await import('./actor-filter.ts')).actorFilters(context, actor);
  return { ...input, actors, entity: new RequestedEntity(input.entityId), words: new SeenWords() };
}
