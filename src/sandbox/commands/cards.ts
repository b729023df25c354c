import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { conflicting, flag, value } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { refuseForms } from '../../cli/app/query.ts';
import { integer } from '../../cli/app/value-parsers.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/number.ts';
import type { View } from '../../cli/output/view.ts';
import { MAX_TENANTS } from '../../schema/sandbox.ts';
import { directoryFrom, directoryParameter } from '../server-options.ts';

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
    request: conflicting(['threeDs'], flag('--request', 'write a request file for svc au submit instead')),
    tenant: value('--tenant <n>', 'the cards of this tenant of several, counted from 1', integer(1, MAX_TENANTS)),
    directory: directoryParameter,
  },
  async run(context, { threeDs, request, tenant = 1, directory }) {
    const { exampleRequestFile, sandboxCards, sandboxThreeDsCards } = await import('../../emulator/vault/cards.ts');
    const { tenantsIn } = await import('../../emulator/state/journal.ts');
    const { seedIn } = await import('../../emulator/state/state.ts');
    // Without a home directory there is no sandbox with another seed.
    const isHomeless = directory === undefined && directoryOf(context.system, 'state') === undefined;
    const place = isHomeless ? undefined : await directoryFrom(context, directory);
    const tenants = place === undefined ? undefined : tenantsIn(place);
    if (tenants !== undefined && tenant > tenants)
      throw new SvcError('usage', `the sandbox in ${place} has ${countText(tenants, 'tenant')}`, {
        hint: 'Name the directory of another sandbox with --directory.',
      });
    const seed = seedIn(place, tenant);
    if (request) {
      refuseForms(context, '--request');
      return context.out.write(exampleRequestFile(seed));
    }
    const print = await listPrinter<unknown>(context, threeDs ? threeDsCardView : cardView);
    await print(oneBatch<unknown>(threeDs ? sandboxThreeDsCards(seed) : sandboxCards(seed)));
  },
});
