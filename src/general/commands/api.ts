import { isSvcError, SvcError } from '../../base/errors.ts';
import { exactItem, replaceMembers } from '../../base/json/exact.ts';
import { sourceFrom, sourceOf } from '../../base/json/source.ts';
import { didYouMean, typedWord } from '../../base/security/typed-word.ts';
import { withAssignments, jsonAssignment, textAssignment } from '../../cli/app/assignment.ts';
import { type Context, defineCommand, dryRunParameter, Preview } from '../../cli/app/command.ts';
import { readJsonBody } from '../../cli/app/files/data-file.ts';
import {
  argument,
  choice,
  flag,
  type Input,
  optionalArgument,
  reading,
  repeated,
  suggesting,
  type Suggestion,
  value,
} from '../../cli/app/parameter.ts';
import { batches, formatOf, listPrinter, oneBatch, recordPrinter, withDefaultFormat } from '../../cli/app/print.ts';
import { refuseTypedCardNumbers } from '../../cli/app/typed-card-number.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import { jsonLine } from '../../cli/output/formats.ts';
import { type Column, columnFor, isObject, leafPaths, type View } from '../../cli/output/view.ts';
import { type AnyRequest, hasMore, itemsIn } from '../../client/api/any-endpoint.ts';
import type { Client } from '../../client/api/client.ts';
import { areaOf, isSamePath, keyTypeOf, queryOf, readEndpointPath } from '../../client/api/endpoint-path.ts';
import type { AnyResponse, JsonBody } from '../../client/http/response.ts';
import { decodedUri } from '../../schema/address.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';

const METHOD_USES = {
  GET: 'read',
  POST: 'create or do something',
  PUT: 'replace',
  PATCH: 'change a part',
  DELETE: 'delete',
} as const;

const METHODS = Object.keys(METHOD_USES) as (keyof typeof METHOD_USES)[];

const parameters = {
  method: suggesting(
    () => METHODS.map((method) => [method, METHOD_USES[method]]),
    argument('<method>', 'GET, POST, PUT, PATCH or DELETE; GET may be left out', text),
  ),
  path: suggesting(knownPaths, optionalArgument('[path]', 'path below the base URL, such as /logs', text)),
  key: choice(
    '--key <kind>',
    'which key to send; known from the path for logs, tenants, applications, 3ds, tokens and account-updater',
    ['management', 'private'],
  ),
  query: suggesting(queryParameters, repeated('--query <name=value>', 'a parameter of the query', nameValue)),
  file: reading(
    value('--file <json|->', 'the body, from a JSON file or - for standard input; // comments are left out', text),
    ['.json'],
  ),
  set: repeated('--set <a.b=text>', 'put a text into the body', textAssignment),
  setJson: repeated('--set-json <a.b=json>', 'put any JSON into the body', jsonAssignment),
  dryRun: dryRunParameter,
  paginate: flag('--paginate', 'follow the pages of a list to its end'),
  include: flag('--include', 'show status and headers on stderr, secrets removed'),
} as const;

/** Returns the documented paths for a typed method, each up to its first id, for completion. */
async function knownPaths([method = '']: readonly string[]): Promise<Suggestion[]> {
  const { wordsOf } = await import('../every-meaning.ts');
  const endpoints = wordsOf('endpoint').filter(([name]) => name.startsWith(`${method.toUpperCase()} /`));
  const paths = endpoints.map(([name, meaning]): Suggestion => [
    name.replace(/^\S+ /, '').replace(/\{.*/, ''),
    meaning,
  ]);
  return paths.filter(([path], at) => paths.findIndex(([other]) => other === path) === at);
}

async function queryParameters(): Promise<Suggestion[]> {
  const { wordsOf } = await import('../every-meaning.ts');
  return wordsOf('query parameter').map(([name, meaning]) => [`${name}=`, meaning]);
}

type ApiInput = Input<typeof parameters>;

export const api = defineCommand({
  description:
    'Prints the response as JSON, on a terminal too; -o table draws it. The response must be JSON or empty. A failed GET is retried; other methods only if they surely had no effect.',
  examples: [
    ['svc api /tenants/self', 'the tenant as the service sends it'],
    ['svc api GET /logs --query size=5', 'one page of logs'],
    ['svc api GET /account-updater/jobs --paginate --fields id,status', 'all jobs, one a line'],
    ['svc api POST /3ds/sessions --set token_id=5f0c… --set type=customer', 'a body made of texts'],
  ],
  permissions: ['those of the endpoint'],
  exitCodes: [[9, 'no response: the request may have taken effect'], 12, 13],
  changes: true,
  paged: true,
  endsWithReader: true,
  fields: ['*'],
  parameters,
  async run(terminalContext, input) {
    // A table would hide the form of a response.
    const context = withDefaultFormat(terminalContext, input.paginate ? 'jsonl' : 'json');
    const request = await toRequest(context, input);
    if (input.dryRun) {
      const lost = await settingsLeftOut(request);
      if (lost.length > 0) context.notices.warn(`the body leaves out ${lost.join(', ')}: the tenant would lose them`);
      return new Preview(request);
    }
    const client = await context.client();
    const lost = await settingsLeftOut(request, client);
    if (lost.length > 0) await context.prompts().confirm(losesText(lost), 'nothing was sent');
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

/** Returns the settings that a request leaves out of the tenant that it replaces: it looks like a change of the others alone. */
async function settingsLeftOut({ method, path, body }: AnyRequest, client?: Client): Promise<readonly string[]> {
  const tenant = objectOrUndefined(body);
  if (method !== 'PUT' || !isSamePath(path, '/tenants/self') || tenant === undefined) return [];
  const settings = objectOrUndefined(tenant['settings']) ?? {};
  const { SETTING_VALUES } = await import('../../tenant/values.ts');
  const names = new Set([...SETTING_VALUES.keys(), ...(client === undefined ? [] : await storedSettings(client))]);
  return [...names].filter((name) => !Object.hasOwn(settings, name));
}

/** Returns the names of the tenant's settings, which may be more than the documented ones; none if they cannot be read. */
async function storedSettings(client: Client): Promise<string[]> {
  const request = { method: 'GET', path: '/tenants/self', key: 'management', attempts: 1 } as const;
  const read = await client.bestEffort(({ any }) => any.send(request));
  const tenant = isSvcError(read) ? undefined : objectOrUndefined(read.body?.json);
  return Object.keys(objectOrUndefined(tenant?.['settings']) ?? {});
}

function losesText(settings: readonly string[]): string {
  return `Replace the tenant by a body without ${settings.join(', ')}, so that it loses them ('svc tenant update' keeps them)?`;
}

function reportHead({ notices }: Context, { status, headers }: AnyResponse): void {
  const lines = headers.map(([name, content]) => `${name}: ${content}`);
  for (const line of [`HTTP ${status}`, ...lines, '']) notices.note(line);
}

/**
 * Writes a response of unknown shape: an array as a list, an object unchanged. Tables and CSV show the items of a list.
 */
async function printResponse(context: Context, body: JsonBody): Promise<void> {
  const items = Array.isArray(body.json) || isTabular(context) ? itemsIn(body) : undefined;
  if (items !== undefined) {
    const isMore = hasMore(body);
    await printItems(context, oneBatch(items), isMore ? 'this page is empty' : undefined);
    if (isMore) context.notices.note('more results: use --paginate for every page');
    return;
  }
  const shown = context.globals.showUrls ? exactItem(body.json, sourceFrom(body.text)) : withoutAddresses(body.text);
  // A single text or number has no columns, so every format shows it as JSON.
  if (!isObject(shown) && !context.query) return context.out.write(`${jsonLine(shown)}\n`);
  await (
    await recordPrinter(context, responseView([shown]))
  )(shown);
}

/** Writes items as they arrive. The first page with items decides the columns of a table. */
async function printItems(
  context: Context,
  batches: AsyncIterable<readonly unknown[]>,
  nothing = 'the list is empty',
): Promise<void> {
  const shown = shownBatches(context, batches);
  const first = await shown.next();
  const sample = first.done === true ? [] : first.value;
  if (sample.length === 0) context.notices.note(nothing);
  // Without items, the columns are unknown, so not even a header is printed.
  if (sample.length === 0 && isTabular(context)) return;
  const print = await listPrinter(context, responseView(sample));
  await print(resumed(sample, shown));
}

async function* shownBatches(context: Context, batches: AsyncIterable<readonly unknown[]>) {
  // In a table or in CSV, every row needs named columns.
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
const MAX_COLUMNS = 12;

/** Hides upload and download addresses, which are secrets, in a response. */
function withoutAddresses(text: string): unknown {
  const shown = replaceMembers(sourceFrom(text).text, (name) => ADDRESS.test(name), '"(hidden)"');
  return exactItem(JSON.parse(shown), sourceFrom(shown));
}

/** Returns a view for sample objects: all their paths are fields, and a narrow terminal drops columns from the right. */
function responseView(samples: readonly unknown[]): View {
  const paths = [...new Set(samples.flatMap((sample) => leafPaths(sample)))];
  const columns = paths.slice(0, MAX_COLUMNS).map((path, at): Column => {
    const { kind } = columnFor(EMPTY_VIEW, path);
    return { path, kind, priority: at === 0 ? undefined : MAX_COLUMNS - at };
  });
  return { name: 'response', fields: [...paths, '*'], columns };
}

const EMPTY_VIEW: View = { name: '', fields: [], columns: [] };

/** Parses and checks the typed request, before anything is sent. */
async function toRequest(context: Context, input: ApiInput): Promise<AnyRequest> {
  const { method, typedPath } = endpointIn(input);
  const { path, query } = inPath(() => readEndpointPath(typedPath));
  refuseCardNumbers(input, [path, ...[...query].flat()]);
  if (method === 'DELETE' && isSamePath(path, '/tenants/self'))
    throw new SvcError('usage', 'deleting the tenant has its own command; nothing was sent', {
      hint: 'It asks for the name of the tenant first:',
      next: ['tenant', 'delete'],
    });
  const key = input.key ?? keyTypeOf(path);
  if (key === undefined)
    throw new SvcError('usage', `cannot tell which key ${path} needs`, {
      hint: 'Give --key management or --key private.',
    });
  checkOptions(method, input);
  return {
    method,
    path,
    key,
    query: queryOf([...query, ...input.query.map((one) => [one.name, one.value] as const)]),
    body: await bodyOf(context, path, input),
    whenUnclear: { hint: 'Check the current state before you run it again.', next: stateWords(path, input) },
  };
}

/** Returns the command that shows whether a change took effect; undefined for new sessions, which the service cannot list. */
function stateWords(path: string, { key }: ApiInput): readonly string[] | undefined {
  const read = path.replace(/(\/3ds\/sessions\/[^/]+)\/authenticate$/, '$1');
  if (isSamePath(read, '/3ds/sessions')) return undefined;
  return ['api', 'GET', read, ...(key === undefined ? [] : ['--key', key])];
}

/** Returns the typed method and path. A path without a method means GET. */
function endpointIn({ method: typed, path }: ApiInput) {
  if (path === undefined && typed.includes('/')) return { method: 'GET', typedPath: typed } as const;
  const method = METHODS.find((known) => known === typed.toUpperCase());
  if (method === undefined)
    throw new SvcError('usage', `<method> must be one of ${METHODS.join(', ')}, not ${typedWord(typed, METHODS)}`, {
      hint: didYouMean(typed.toUpperCase(), METHODS),
      next: ['api', 'GET', '<path>'],
    });
  if (path !== undefined) return { method, typedPath: path };
  throw new SvcError('usage', 'the path is missing, such as /logs', { next: ['api', method, '<path>'] });
}

function inPath<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw error.with({ message: `the path ${error.message}`, next: ['api', 'GET', '<path>'] });
  }
}

/** Whether no request to this path has a place for a card number. Tokens and unknown endpoints may have one. */
function takesNoCardNumber(path: string): boolean {
  return keyTypeOf(path) !== undefined && areaOf(path) !== 'tokens';
}

const NO_PLACE = 'Leave it out: this endpoint has no place for card data.';

/** Refuses card numbers on the command line. `pathParts` are the parts of the typed path, also checked decoded. */
function refuseCardNumbers({ method, path = '', query, set, setJson }: ApiInput, pathParts: readonly string[]): void {
  const hint = takesNoCardNumber(pathParts[0] ?? '')
    ? NO_PLACE
    : 'Command lines are visible to others: put it into the body with --file, from a file or a pipe.';
  const decoded = pathParts.map((part) => decodedUri(part) ?? part);
  const texts = [method, path, ...decoded, ...query.flatMap((one) => [one.name, one.value])];
  refuseTypedCardNumbers(texts, [...set, ...setJson], hint);
}

function checkOptions(method: string, { paginate, file, set, setJson }: ApiInput): void {
  if (paginate && method !== 'GET') throw new SvcError('usage', '--paginate goes with GET only');
  if (method === 'GET' && (file !== undefined || set.length + setJson.length > 0)) {
    throw new SvcError('usage', 'GET takes no body', { hint: 'Give parameters with --query name=value.' });
  }
}

async function bodyOf(context: Context, path: string, { file, set, setJson }: ApiInput): Promise<unknown> {
  const base = file === undefined ? undefined : await readJsonBody(context, file);
  const body = withAssignments(base, [...set, ...setJson]);
  if (takesNoCardNumber(path)) {
    const { requireNoCardNumbers } = await import('../../client/api/body-card-numbers.ts');
    requireNoCardNumbers(body, NO_PLACE);
  }
  return body;
}
