import type { Context } from '../cli/app/command.ts';
import type { EntryFilter } from './entry-filter.ts';

/**
 * Says what a filter may mean that no entry matches, when all entries are read.
 * @throws SvcError `usage` for a typing error: it is then no proof that nothing was found
 */
export async function reportFilters(context: Context, input: EntryFilter): Promise<void> {
  input.entity.report(context);
  for (const actor of input.actors) actor.report();
  await input.words.report(context, input);
}
