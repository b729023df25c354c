import { defineCommand } from '../../cli/app/command.ts';
import { flag, value } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { integer } from '../../cli/app/value-parsers.ts';
import type { View } from '../../cli/output/view.ts';

const cardView: View = {
  name: 'card',
  fields: ['token', 'network', 'number', 'expiration_month', 'expiration_year', 'result_code', 'new_token'],
  columns: [
    { path: 'token', kind: 'id' },
    { path: 'network', kind: 'text', priority: 2 },
    { path: 'number', kind: 'id', priority: 1 },
    { path: 'result_code', kind: 'status' },
  ],
};

const threeDsCardView: View = {
  name: 'card',
  fields: ['token', 'token_intent', 'network', 'number', 'scenario'],
  columns: [
    // At 80 columns, the token and the beginning of the scenario, by which --card names the card.
    { path: 'token', kind: 'id' },
    { path: 'network', kind: 'text', priority: 1 },
    { path: 'number', kind: 'id', priority: 2 },
    { path: 'scenario', kind: 'text', minWidth: 40 },
  ],
};

export const cards = defineCommand({
  description:
    'Lists one token per test card: for the Account Updater with its result code, or for 3-D Secure with its scenario.',
  examples: [
    ['svc sandbox cards', 'tokens, masked numbers, result codes'],
    ['svc sandbox cards --3ds', 'tokens for 3-D Secure, and the outcome of each'],
    ['svc sandbox cards --request > tokens.csv', 'a request file with every one of them'],
  ],
  paged: true,
  fields: [...new Set([...cardView.fields, ...threeDsCardView.fields])],
  parameters: {
    threeDs: flag('--3ds', 'the cards for 3-D Secure instead'),
    request: flag('--request', 'write a request file for svc au submit instead'),
    tenant: value('--tenant <n>', 'the cards of this tenant of several, counted from 1', integer(1, 9)),
  },
  async run(context, { threeDs, request, tenant = 1 }) {
    const { exampleRequestFile, sandboxCards, sandboxThreeDsCards } = await import('../../emulator/vault/cards.ts');
    const { DEFAULT_SEED, seedOf } = await import('../../emulator/seed/logs.ts');
    const seed = seedOf(DEFAULT_SEED, tenant);
    if (request) return context.out.write(exampleRequestFile(seed));
    const print = await listPrinter<unknown>(context, threeDs ? threeDsCardView : cardView);
    await print(oneBatch<unknown>(threeDs ? sandboxThreeDsCards(seed) : sandboxCards(seed)));
  },
});
