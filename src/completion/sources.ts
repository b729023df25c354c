import type { Suggest, Suggestion } from '../cli/parameter.ts';
import type { PathsHost } from '../config/paths.ts';
import { ENTITY_TYPES } from '../schema/entity-type-names.ts';

/** Where values come from. Nothing here asks the network or writes. */
export interface Sources {
  readonly system: PathsHost;
  /** What `--fields` can choose from for the command being typed. */
  readonly fields: readonly string[];
}

/** The values to offer; none where they cannot be read, since pressing TAB is no time for an error. */
export async function suggestionsOf(suggest: Suggest, sources: Sources): Promise<readonly Suggestion[]> {
  if (typeof suggest === 'function') return suggest();
  switch (suggest) {
    case 'profile':
      return (await import('./profiles.ts')).profileNames(sources.system);
    case 'entity type':
      return entityTypes(sources);
    case 'field':
      return fieldNames(sources.fields).map((field) => [field, '']);
    case 'job':
      return (await import('./runs.ts')).jobIds(sources.system);
    case 'run':
      return (await import('./runs.ts')).runIds(sources.system);
  }
}

async function entityTypes({ system }: Sources): Promise<Suggestion[]> {
  const { readEntityTypes } = await import('./entity-type-cache.ts');
  const known = new Map<string, string>(ENTITY_TYPES.map((type) => [type, '']));
  for (const [type, name] of readEntityTypes(system)) known.set(type, name);
  return [...known];
}

// `settings.*` stands for any key of `settings`, which is a field too; `*` for any at all.
function fieldNames(fields: readonly string[]): string[] {
  const names = fields.map((field) => field.replace(/\.\*$/, '')).filter((field) => field !== '*');
  return [...new Set(names)];
}
