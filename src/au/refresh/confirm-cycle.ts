import type { Context } from '../../cli/app/command.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { countText } from '../../cli/output/time.ts';
import type { RefreshDirectory } from './refresh-directory.ts';

/**
 * Asks whether a cycle that the operator did not name is the right one. `rows` are those that it would begin with. --yes does
 * not answer, because a month that begins by itself is paid for by itself.
 * @throws SvcError `declined`
 */
export async function confirmCycle(
  { prompts }: Context,
  { cycle }: Pick<RefreshDirectory, 'cycle'>,
  rows?: number,
): Promise<void> {
  const what =
    rows === undefined
      ? `Go on with cycle ${cycle} (UTC)?`
      : `Begin cycle ${cycle} (UTC) with ${countText(rows, 'row')}?`;
  const answer = await prompts().promptText(`${what} [y/N]`, `Name it: --cycle ${cycle}.`);
  requireYes(answer, 'nothing was submitted; --cycle names another cycle');
}
