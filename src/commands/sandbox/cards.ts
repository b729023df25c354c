import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { flag } from '../../cli/parameter.ts';
import { listPrinter, once } from '../../cli/print.ts';
import { sandboxCardView, sandboxThreeDsCardView } from '../../views/sandbox.ts';

/** `svc sandbox cards` */
export const cards = defineCommand({
  name: 'cards',
  summary: 'the card tokens of the sandbox, and what comes of each',
  description:
    'One for each test card of the Account Updater, with its result code; or of 3-D Secure, with its scenario.',
  examples: [
    ['svc sandbox cards', 'tokens, masked numbers, result codes'],
    ['svc sandbox cards --3ds', 'tokens for 3-D Secure, and how each turns out'],
    ['svc sandbox cards --request > tokens.csv', 'a request file with every one of them'],
  ],
  paged: true,
  fields: [...new Set([...sandboxCardView.fields, ...sandboxThreeDsCardView.fields])],
  parameters: {
    threeDs: flag('--3ds', 'the cards for 3-D Secure instead'),
    request: flag('--request', 'write a request file for svc au submit instead'),
  },
  async run(context, { threeDs, request }) {
    if (threeDs) return listThreeDs(context);
    const { exampleRequestFile, sandboxCards } = await import('../../sandbox/cards.ts');
    if (request) return context.out.write(exampleRequestFile());
    const print = await listPrinter(context, sandboxCardView);
    await print(once(sandboxCards()));
  },
});

async function listThreeDs(context: Context): Promise<void> {
  const { sandboxThreeDsCards } = await import('../../sandbox/vault/three-ds-cards.ts');
  const print = await listPrinter(context, sandboxThreeDsCardView);
  await print(once(sandboxThreeDsCards()));
}
