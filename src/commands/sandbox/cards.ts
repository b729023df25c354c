import { defineCommand } from '../../cli/command.ts';
import { flag } from '../../cli/parameter.ts';
import { listPrinter, once } from '../../cli/print.ts';
import { sandboxCardView } from '../../views/sandbox.ts';

/** `svc sandbox cards` */
export const cards = defineCommand({
  name: 'cards',
  summary: 'the card tokens of the sandbox, and what the Account Updater says of each',
  examples: [
    ['svc sandbox cards', 'tokens, masked numbers, result codes'],
    ['svc sandbox cards --request > tokens.csv', 'a request file with every one of them'],
  ],
  fields: sandboxCardView.fields,
  parameters: { request: flag('--request', 'write a request file for svc au submit instead') },
  async run(context, { request }) {
    const { exampleRequestFile, sandboxCards } = await import('../../sandbox/cards.ts');
    if (request) return context.out.write(exampleRequestFile());
    const print = await listPrinter(context, sandboxCardView);
    await print(once(sandboxCards()));
  },
});
