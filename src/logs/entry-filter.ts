import type { Context } from '../cli/app/command.ts';
import type { ActorFilter } from './actor-filter.ts';
import { NearIds } from './near-ids.ts';
import type { EntryInput, EntityInput } from './options.ts';

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
  const actors = actor.length === 0 ? [] : await (await import('./actor-filter.ts')).actorFilters(context, actor);
  return { ...input, actors, near: new NearIds(input.entityId) };
}
