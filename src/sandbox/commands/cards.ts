import { defineCommand } from '../../cli/app/command.ts';
import { flag } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
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
    { path: 'token', kind: 'id' },
    { path: 'network', kind: 'text', priority: 1 },
    { path: 'scenario', kind: 'text' },
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
  },
  async run(context, { threeDs, request }) {
    const { exampleRequestFile, sandboxCards, sandboxThreeDsCards } = await import('../../emulator/vault/cards.ts');
    if (request) return context.out.write(exampleRequestFile());
    const print = await listPrinter<unknown>(context, threeDs ? threeDsCardView : cardView);
    await print(oneBatch<unknown>(threeDs ? sandboxThreeDsCards() : sandboxCards()));
  },
});
