// The words of filters that no entry read has.

import { SvcError } from '../base/errors.ts';
import { didYouMean, nearest, typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { noteNext } from '../cli/app/hint.ts';
import { entityTypesOf } from '../cli/config/cache.ts';

/**
 * Warns of a word that is not among the known ones.
 * @throws SvcError `usage` for one that is near a known word
 */
export function requireKnown({ notices }: Context, what: string, name: string, known: ReadonlySet<string>): void {
  if (known.has(name)) return;
  if (nearest(name, known) !== undefined)
    throw new SvcError('usage', `unknown ${what} ${typedWord(name, known)}, which no entry read has`, {
      hint: didYouMean(name, known),
    });
  const words =
    known.size === 0 ? 'no entry to compare it with was read' : `known: ${[...known].toSorted().join(', ')}`;
  notices.warn(`unknown ${what} ${typedWord(name, known)}: ${words}`);
}

/**
 * Warns of an entity type that the service has not listed; without a list, of one that is not documented.
 * @throws SvcError `usage` for one that is near a known type
 */
export function requireType(context: Context, entityType: string): void {
  const { system, settings } = context;
  const types = new Set(entityTypesOf(system, settings.baseUrl?.value.origin ?? 'sandbox'));
  if (types.has(entityType)) return;
  requireKnown(context, 'entity type', entityType, types);
  noteNext(context, 'the service may have more; to list them', ['logs', 'entity-types']);
}
