import type { Context } from '../cli/app/command.ts';
import type { ActorFilter } from './actor-filter.ts';
import { NearIds } from './near-ids.ts';
import type { EntryInput, EntityInput } from './options.ts';

/** The filters of a command, with resolved actors. */
export interface EntryFilter extends EntryInput, EntityInput {
  readonly actors: readonly ActorFilter[];
  /** Collects ids near the requested one from all entries read. */
  readonly near: NearIds;
}

/** Resolves the actors of a command's filters. @throws SvcError `usage` if an actor is unknown or ambiguous */
export async function filterOf<T extends EntryInput & EntityInput>(context: Context, input: T) {
  const { actor } = input;
  // Most commands name no actor, and need not load the module.
  const actors = actor.length === 0 ? [] : await (await import('./actor-filter.ts')).actorFilters(context, actor);
  return { ...input, actors, near: new NearIds(input.entityId) };
}
