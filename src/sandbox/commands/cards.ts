import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { flag } from '../../cli/app/parameter.ts';
import { listPrinter, once } from '../../cli/app/print.ts';
import type { View } from '../../cli/output/view.ts';
import type { SandboxThreeDsCard } from '../../emulator/vault/cards.ts';

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
    'One for each test card of the Account Updater, with its result code; or of 3-D Secure, with its scenario.',
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
    await print(once<unknown>(threeDs ? sandboxThreeDsCards() : sandboxCards()));
  },
});

/** The test cards of the sandbox for 3-D Secure. */
export async function threeDsCards(): Promise<readonly SandboxThreeDsCard[]> {
  return (await import('../../emulator/vault/cards.ts')).sandboxThreeDsCards();
}

/** The card with this masked number, or of the scenario that begins so. @throws SvcError `usage` for none or several */
export function findTestCard(cards: readonly SandboxThreeDsCard[], wanted: string): SandboxThreeDsCard {
  const start = wanted.toLowerCase();
  const byNumber = cards.find(({ number }) => number === wanted);
  const begun = cards.filter(({ scenario }) => scenario.toLowerCase().startsWith(start));
  const names = [...new Set(begun.map(({ scenario }) => scenario))].toSorted((a, b) => a.length - b.length);
  const [first = '', ...others] = names;
  // A name can be the beginning of another one.
  const isClear = names.length > 0 && others.every((name) => name.startsWith(first));
  const found = byNumber ?? (isClear ? begun.find(({ scenario }) => scenario === first) : undefined);
  if (found !== undefined) return found;
  const which = names.length === 0 ? 'no test card has this scenario or number' : `several scenarios begin so`;
  throw new SvcError('usage', names.length === 0 ? which : `${which}: ${names.join('; ')}`, {
    hint: 'Give the name of a scenario, its beginning, or a masked number from the list.',
    next: ['sandbox', 'cards', '--3ds'],
  });
}
