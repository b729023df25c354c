// The filters as words of a command line, and the names of those that svc applies.

import type { Context } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import type { ListProgress } from '../cli/app/paging.ts';
import { countText } from '../cli/output/number.ts';
import type { EntityInput, EntryInput } from './options.ts';
import { isUsableBeginning } from './requested-entity.ts';

/** Returns the names of the typed filters that svc applies itself. */
export function clientFilters(input: EntryInput & Pick<EntityInput, 'entityId'>): string[] {
  const ofEntity = input.entityId !== undefined && isUsableBeginning(input.entityId) ? ['--entity-id'] : [];
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

/** Reports how many of the entries read match the filters that svc applies. */
export function reportMatchCount(
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
