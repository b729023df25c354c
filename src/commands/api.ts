import { hasMore, itemsIn } from '../api/any-endpoint.ts';
import { type Context, defineCommand, Preview } from '../app/command.ts';
import { batches, formatOf, listPrinter, once, recordPrinter } from '../app/print.ts';
import { DEFAULT_ORIGIN } from '../config/values.ts';
import type { AnyResponse, JsonBody } from '../http/response.ts';
import { exactItem, replaceMembers } from '../json/exact.ts';
import { sourceFrom, sourceOf } from '../json/source.ts';
import { jsonLine } from '../output/formats.ts';
import { type Column, columnFor, isObject, leafPaths, type View } from '../output/view.ts';
import { parameters, toRequest } from './api-request.ts';

export const api = defineCommand({
  description:
    'Prints the response as JSON, on a terminal too; -o table draws it. It must be JSON or empty. GET is retried when it fails; other methods only when they surely had no effect.',
  examples: [
    ['svc api GET /logs --query size=5', 'one page as the service sends it'],
    ['svc api GET /account-updater/jobs --paginate --fields id,status', 'all jobs, one a line'],
    ['svc api POST /3ds/sessions --set token_id=5f0c… --set type=customer', 'a body made of texts'],
  ],
  permissions: ['those of the endpoint'],
  exitCodes: [9, 12, 13],
  changes: true,
  paged: true,
  fields: ['*'],
  parameters,
  async run(terminalContext, input) {
    const context = withJson(terminalContext, input.paginate);
    const request = await toRequest(context, input);
    if (input.dryRun && request.method !== 'GET') return new Preview(request);
    const client = await context.client();
    const onResponse = (response: AnyResponse): void => {
      if (input.include) reportHead(context, response);
    };
    if (input.paginate) return printItems(context, batches(client.any.pages(request, onResponse).pages()));
    const response = await client.any.send(request);
    onResponse(response);
    if (response.body !== undefined) return printResponse(context, response.body);
    context.notices.note(`${request.method} ${request.path}: ${response.status}, without a body`);
  },
  request: (context, input) => toRequest(context, input),
});

/** A response is JSON on a terminal too: a table would hide its form. Only what was chosen makes it another one. */
function withJson(context: Context, isList: boolean): Context {
  const { settings, out } = context;
  if (settings.output.value !== undefined || !out.isTerminal) return context;
  const output = { value: isList ? 'jsonl' : 'json', origin: DEFAULT_ORIGIN } as const;
  return { ...context, settings: { ...settings, output } };
}

function reportHead({ notices }: Context, { status, headers }: AnyResponse): void {
  const lines = headers.map(([name, content]) => `${name}: ${content}`);
  for (const line of [`HTTP ${status}`, ...lines, '']) notices.note(line);
}

/** Writes a response of unknown shape: an array as a list, an object as it is; tables and CSV show a list's items. */
async function printResponse(context: Context, body: JsonBody): Promise<void> {
  const items = Array.isArray(body.json) || isTabular(context) ? itemsIn(body) : undefined;
  if (items !== undefined) {
    await printItems(context, once(items));
    if (hasMore(body)) context.notices.note('more results: use --paginate for every page');
    return;
  }
  const shown = context.globals.showUrls ? exactItem(body.json, sourceFrom(body.text)) : withoutAddresses(body.text);
  // A single text or number has no columns: it is its own JSON in every format.
  if (!isObject(shown) && !context.query) return context.out.write(`${jsonLine(shown)}\n`);
  await (
    await recordPrinter(context, responseView([shown]))
  )(shown);
}

/** Writes items as they come. The first page with any decides which columns a table has. */
async function printItems(context: Context, batches: AsyncIterable<readonly unknown[]>): Promise<void> {
  const shown = shownBatches(context, batches);
  const first = await shown.next();
  const sample = first.done === true ? [] : first.value;
  if (sample.length === 0) context.notices.note('the list is empty');
  // Without an item the columns are unknown, and so there is no heading.
  if (sample.length === 0 && isTabular(context)) return;
  const print = await listPrinter(context, responseView(sample));
  await print(resumed(sample, shown));
}

async function* shownBatches(context: Context, batches: AsyncIterable<readonly unknown[]>) {
  // In a table or in CSV every row has named columns.
  const row = (item: unknown): unknown => (isTabular(context) && !isObject(item) ? { value: item } : item);
  for await (const batch of batches) {
    if (batch.length > 0) yield batch.map((item) => row(shownItem(context, item)));
  }
  return undefined;
}

async function* resumed<T>(first: readonly T[], rest: AsyncGenerator<readonly T[]>): AsyncGenerator<readonly T[]> {
  if (first.length > 0) yield first;
  yield* rest;
}

function shownItem({ globals }: Context, item: unknown): unknown {
  const source = sourceOf(item);
  return source === undefined || globals.showUrls ? item : withoutAddresses(source.text);
}

function isTabular(context: Context): boolean {
  return ['table', 'csv'].includes(formatOf(context, 'list'));
}

const ADDRESS = /^(?:upload|download)_?url$/i;
const MOST_COLUMNS = 12;

/** A response as it was sent, but with its upload and download addresses hidden: they are secrets. */
function withoutAddresses(text: string): unknown {
  const shown = replaceMembers(sourceFrom(text).text, (name) => ADDRESS.test(name), '"(hidden)"');
  return exactItem(JSON.parse(shown), sourceFrom(shown));
}

/** A view made from the objects that are to be shown: every path is known, columns drop from the right. */
function responseView(samples: readonly unknown[]): View {
  const paths = [...new Set(samples.flatMap((sample) => leafPaths(sample)))];
  const columns = paths.slice(0, MOST_COLUMNS).map((path, at): Column => {
    const { kind } = columnFor(NOTHING_KNOWN, path);
    return { path, kind, priority: at === 0 ? undefined : MOST_COLUMNS - at };
  });
  return { name: 'response', fields: [...paths, '*'], columns };
}

const NOTHING_KNOWN: View = { name: '', fields: [], columns: [] };
