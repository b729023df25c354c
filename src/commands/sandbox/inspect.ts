import { defineCommand } from '../../app/command.ts';
import { flag, integer, value } from '../../app/parameter.ts';
import { listPrinter, once, recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { responseView } from '../api.ts';
import { directoryFrom, directoryParameter } from './server-options.ts';

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
    const { exampleRequestFile, sandboxCards, sandboxThreeDsCards } = await import('../../sandbox/vault/cards.ts');
    if (request) return context.out.write(exampleRequestFile());
    const print = await listPrinter<unknown>(context, threeDs ? threeDsCardView : cardView);
    await print(once<unknown>(threeDs ? sandboxThreeDsCards() : sandboxCards()));
  },
});

/** Requests that the sandbox received, and events that it delivered. */
const requestView: View = {
  name: 'request',
  fields: ['at', 'method', 'path', 'status', 'received', 'sent', 'key', 'application', 'event', 'aborted'],
  columns: [
    { path: 'at', kind: 'time', priority: 3 },
    { path: 'method', kind: 'text' },
    { path: 'path', kind: 'text', least: 32 },
    { path: 'status', kind: 'number', paint: (status) => (isRefusal(status) ? 'bad' : undefined) },
    { path: 'sent', header: 'bytes', kind: 'number', priority: 2 },
    { path: 'key', kind: 'text', priority: 1 },
    { path: 'application', kind: 'number', priority: 0 },
    { path: 'event', kind: 'text', priority: 0 },
  ],
};

// 0 stands for no response.
function isRefusal(status: unknown): boolean {
  return typeof status === 'number' && (status >= 400 || status === 0);
}

export const requests = defineCommand({
  examples: [
    ['svc sandbox requests -n 20', 'the last twenty'],
    [
      'svc sandbox requests -o csv --excel-safe --fields at,path,status',
      'requests and when they were received, for a spreadsheet',
    ],
  ],
  paged: true,
  fields: requestView.fields,
  parameters: { limit: value('-n, --limit <n>', 'only the last so many', integer(1)), directory: directoryParameter },
  async run(context, { limit, directory }) {
    const print = await listPrinter(context, requestView);
    const { listRequests } = await import('../../sandbox/ledger.ts');
    const found = listRequests(directoryFrom(context, directory), limit);
    if (found.length === 0) context.notices.note('the sandbox has received no requests yet');
    await print(once(found));
  },
});

export const openapi = defineCommand({
  description: 'Generated from the routes and schemas of the sandbox. JSON, or YAML with -o yaml.',
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
      throw new SvcError('usage', 'the document is written as json or yaml', { hint: 'Choose -o json or -o yaml.' });
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
