import { defineCommand } from '../../cli/app/command.ts';
import { flag, optionalArgument, suggesting } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import type { View } from '../../cli/output/view.ts';
import { startedDirectory, directoryParameter, outcomesFrom, outcomeWords } from '../server-options.ts';

/** A set outcome, the number of authentications that it matched, and the tenant that they belong to. */
const outcomeView: View = {
  name: 'outcome',
  fields: ['outcome', 'matched', 'tenant'],
  columns: [
    { path: 'outcome', kind: 'text' },
    { path: 'matched', kind: 'number' },
    { path: 'tenant', kind: 'number', priority: 0 },
  ],
};

export const outcome = defineCommand({
  description:
    'Sets how the next authentications of each tenant end, in every sandbox that uses the directory, including running ones and --sandbox. Outcomes stay until --clear or a reset; the newest is tried first. Without an outcome, lists those that are set.',
  examples: [
    ['svc sandbox outcome reason=card-expired:#1', 'the next authentication fails with this reason'],
    ["svc sandbox outcome 'challenge=static@card 1471'", 'a card that asks for a password'],
    ["svc sandbox outcome 'status=rejected,reason=stolen-card@session 5f0c…'", 'one session'],
    ['svc sandbox outcome --clear', 'let the cards decide again'],
  ],
  paged: true,
  fields: outcomeView.fields,
  parameters: {
    outcome: suggesting(
      { joined: outcomeWords },
      optionalArgument('[outcome]', "an outcome (see 'svc help outcomes'); several are separated by ;"),
    ),
    clear: flag('--clear', 'remove the outcomes set before'),
    directory: directoryParameter,
  },
  async run(context, { outcome: given, clear, directory }) {
    const print = await listPrinter<unknown>(context, outcomeView);
    const texts = await outcomesFrom('the outcome', given === undefined ? [] : [given]);
    const { setOutcomes } = await import('../../emulator/three-ds/set-outcomes.ts');
    const place = await startedDirectory(context, directory);
    const set = setOutcomes(place, () => context.clock.now(), texts, clear);
    if (set.length === 0) context.notices.note(`no outcome is set for the sandboxes on ${place}: the cards decide`);
    else if (texts.length > 0) context.notices.note(`set for the sandboxes on ${place}`);
    await print(oneBatch<unknown>(set));
  },
});
