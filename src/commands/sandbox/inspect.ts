import { type Context, defineCommand } from '../../app/command.ts';
import { flag, integer, value } from '../../app/parameter.ts';
import { listPrinter, once, recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { responseView } from '../response-view.ts';
import { directoryFrom, directoryParameter } from './server-options.ts';
import { sandboxCardView, sandboxRequestView, sandboxThreeDsCardView } from './view.ts';

/** `svc sandbox cards` */
export const cards = defineCommand({
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
    const { exampleRequestFile, sandboxCards } = await import('../../sandbox/vault/cards.ts');
    if (request) return context.out.write(exampleRequestFile());
    const print = await listPrinter(context, sandboxCardView);
    await print(once(sandboxCards()));
  },
});

async function listThreeDs(context: Context): Promise<void> {
  const { sandboxThreeDsCards } = await import('../../sandbox/vault/cards.ts');
  const print = await listPrinter(context, sandboxThreeDsCardView);
  await print(once(sandboxThreeDsCards()));
}

/** `svc sandbox requests` */
export const requests = defineCommand({
  examples: [
    ['svc sandbox requests -n 20', 'the last twenty'],
    [
      'svc sandbox requests -o csv --excel-safe --fields at,path,status',
      'what was asked when, for a spreadsheet',
    ],
  ],
  paged: true,
  fields: sandboxRequestView.fields,
  parameters: {
    limit: value('-n, --limit <n>', 'only the last so many', integer(1)),
    directory: directoryParameter,
  },
  async run(context, { limit, directory }) {
    const print = await listPrinter(context, sandboxRequestView);
    const { listRequests } = await import('../../sandbox/ledger.ts');
    const found = listRequests(directoryFrom(context, directory), limit);
    if (found.length === 0) context.notices.note('the sandbox has had no request yet');
    await print(once(found));
  },
});

/** `svc sandbox openapi` */
export const openapi = defineCommand({
  description:
    'Made from the same table and the same shapes that the sandbox answers with. JSON, or YAML with -o yaml.',
  examples: [
    ['svc sandbox openapi > openapi.json', 'for other tools'],
    ['svc sandbox openapi -o yaml', 'to read'],
  ],
  paged: true,
  fields: ['*'],
  parameters: {},
  async run(context) {
    const format = context.settings.output.value ?? 'json';
    if (format !== 'json' && format !== 'yaml')
      throw new SvcError('usage', 'the document is written as json or yaml', {
        hint: 'Choose -o json or -o yaml.',
      });
    const { openApiDocument } = await import('../../sandbox/openapi/document.ts');
    const document = openApiDocument();
    if (context.query) {
      const print = await recordPrinter(context, responseView([]));
      return print(document);
    }
    if (format === 'json') return context.out.write(`${JSON.stringify(document, undefined, 2)}\n`);
    const { stringify } = await import('yaml');
    return context.out.write(stringify(document, { aliasDuplicateObjects: false }));
  },
});
