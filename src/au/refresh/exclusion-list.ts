import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { countText, isoTime } from '../../cli/output/time.ts';
import { Exclusions } from '../request/exclusions.ts';
import { requireNoEarlierCycles } from './earlier-cycles.ts';
import type { NotedExclusions, RefreshDirectory, Refreshed } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';

type Choice = Pick<RefreshInput, 'exclusions' | 'again'>;

/**
 * Returns the list of exclusions, if there is one, and what to record of it. Warns of a list that lost tokens.
 * @throws SvcError `config` for a list that is gone or in another directory, unless the operator goes on without it
 */
export async function exclusionsFor(
  context: Context,
  directory: RefreshDirectory,
  { exclusions: choice, again }: Choice,
): Promise<{ readonly list: string | undefined; readonly noted: Pick<Refreshed, 'exclusions'> & NotedExclusions }> {
  const { exclusions: list, notedExclusions: before } = directory;
  if (choice === 'none') {
    context.notices.note(`no row is left out because of ${list} (--exclusions none)`);
    // A list that is there was not read, so that what earlier cycles noted of it stays true.
    return { list: undefined, noted: { exclusions: choice, ...(directory.has(list) ? {} : countedAs(context, 0)) } };
  }
  if (!directory.has(list)) {
    if (before === undefined) await requireNoEarlierCycles(context, directory, again);
    if (!before) return { list: undefined, noted: countedAs(context, 0) };
    throw new SvcError('config', `${list} is gone; it listed ${countText(before, 'token')} to leave out`, {
      hint: 'Put the file back and run the same command again, or go on without it: the rows that it left out are then submitted and billed.',
      next: again,
      alternatives: [[...again, '--exclusions', 'none']],
      facts: { file: list, tokens: before },
    });
  }
  const tokens = await countExclusions(context, list);
  if (before !== undefined && tokens < before)
    context.notices.warn(
      `${list} lists ${countText(tokens, 'token')}, and it listed ${before} before: rows of the others are no longer left out`,
    );
  return { list, noted: countedAs(context, tokens) };
}

/** Counts the tokens on a list of exclusions. */
export async function notedExclusions(context: Context, list: string): Promise<NotedExclusions> {
  return countedAs(context, await countExclusions(context, list));
}

async function countExclusions(context: Context, list: string): Promise<number> {
  return (await Exclusions.open(resolvePath(context, list))).tokens;
}

function countedAs({ clock }: Context, tokens: number): NotedExclusions {
  return { excluded_tokens: tokens, excluded_at: isoTime(clock.now()) };
}
