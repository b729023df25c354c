// Shows the request that a command would send: `--dry-run` and `--curl`.

import { SvcError } from '../../base/errors.ts';
import { exactText, readExact } from '../../base/json/exact.ts';
import { buildUrl } from '../../client/http/request.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { KEY_TYPES, keyOrigin, keyVariable } from '../config/keys.ts';
import { simpleColumns, type View } from '../output/view.ts';
import type { Context, DirectRequest, PreviewRequest } from './command.ts';
import { noteNext } from './hint.ts';
import { type Shell, shellFor } from './shell.ts';
import { recordPrinter } from './print.ts';
import { isEmbeddedSandbox } from './service.ts';

/** The address of `svc sandbox start`. The embedded sandbox ends with its command, so its address would be useless. */
const SANDBOX_ADDRESS = 'http://127.0.0.1:4010';

/**
 * Shows a request without sending it: as a curl command with `--curl`, otherwise as data. `hasMore` is set for a command that
 * sends further requests after a read.
 */
export async function showPreview(
  context: Context,
  request: PreviewRequest,
  { dryRun, hasMore }: { readonly dryRun: boolean; readonly hasMore: boolean },
): Promise<void> {
  const planned = toPlanned(context, request);
  // A dry run reports a missing key; a curl command reads the key from its variable.
  if (dryRun && planned.key !== undefined) await context.key(planned.key);
  await hideKeys(context);
  await (context.globals.curl ? showCurl(context, planned) : showPlan(context, planned));
  reportNotSent(context, planned, hasMore);
}

interface PlannedRequest extends Pick<DirectRequest, 'body' | 'file' | 'addressShownBy'> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeyType | undefined;
  /** Whether the address alone grants access. */
  readonly isSecret: boolean;
}

function toPlanned({ settings, globals }: Context, request: PreviewRequest): PlannedRequest {
  if ('url' in request) {
    const isSecret = request.addressShownBy !== undefined && !globals.showUrls;
    return { ...request, url: request.url.href, key: undefined, isSecret };
  }
  const { method, path, query, key } = request;
  const isEmbedded = isEmbeddedSandbox({ settings });
  const base = isEmbedded ? new URL(SANDBOX_ADDRESS) : settings.requireBaseUrl();
  const body = request.body === undefined ? undefined : exactText(request.body);
  const headers = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  return { method, url: buildUrl(base, path, query).href, headers, key, body, isSecret: false };
}

async function showPlan(context: Context, { method, url, key, body, file, isSecret }: PlannedRequest): Promise<void> {
  if (context.globals.fields !== undefined)
    throw new SvcError('usage', '--fields is about the response, and a dry run has none', {
      hint: 'Leave --fields out, or choose from the request with --jq.',
    });
  const print = await recordPrinter(context, plannedRequestView);
  await print({
    method,
    url: isSecret ? '(hidden)' : url,
    key: key ?? null,
    ...(file === undefined ? {} : { bytes: file.bytes }),
    ...(body === undefined ? {} : { body: readExact(body).value }),
  });
}

async function showCurl(context: Context, planned: PlannedRequest): Promise<void> {
  const { method, url, headers, key, body, file, isSecret, addressShownBy = [] } = planned;
  const { system, out, notices } = context;
  const request = {
    method,
    url: isSecret ? { variable: 'STORE_URL' } : url,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-length')),
    keyVariable: key && keyVariable(system, key),
    body,
    upload: file?.name,
    // A store gets neither the key nor the client certificate of the service.
    certificate: key && ([context.settings.clientCert.value, context.settings.clientKey.value] as const),
  };
  const command = curlCommand(request, shellFor(system));
  await out.write(command);
  if (out.redact(command) !== command)
    notices.warn('secrets and what looks like a card number are hidden: put them back before you run this');
  if (isSecret) noteNext(context, 'the address is a secret; to get it', addressShownBy);
}

function reportNotSent(context: Context, { method, key }: PlannedRequest, hasMore: boolean): void {
  const { notices, globals, settings } = context;
  const more = hasMore && method === 'GET' ? '; later requests depend on its response' : '';
  notices.note(globals.curl ? `not sent${more}` : 'dry run: this request was not sent');
  if (settings.sandbox && globals.curl && key !== undefined)
    noteNext(context, 'to run this, start a sandbox (it prints the keys)', ['sandbox', 'start']);
}

// A body may contain a key. Finds only keys that need no key command, since running a command would be a side effect.
async function hideKeys({ system, settings, key }: Context): Promise<void> {
  for (const kind of KEY_TYPES) {
    const isAtHand =
      keyOrigin(system, settings, kind)?.kind === 'environment' || settings.stored?.keys?.[kind]?.value !== undefined;
    if (isAtHand) await key(kind).catch(() => undefined);
  }
}

/** `key` is null for pre-signed addresses and webhooks. `bytes` is the size of a file that is sent as the body. */
const plannedRequestView: View = {
  name: 'request that was not sent',
  fields: ['method', 'url', 'key', 'bytes', 'body.*'],
  columns: simpleColumns({ method: 'status', url: 'id', key: 'text' }),
};

export interface CurlRequest {
  readonly method: string;
  /** The address, or the shell variable that contains a secret address. */
  readonly url: string | { readonly variable: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly keyVariable?: string | undefined;
  readonly body?: string | undefined;
  readonly upload?: string | undefined;
  /** The files of a client certificate and of its key. */
  readonly certificate?: readonly [cert: string | undefined, key: string | undefined] | undefined;
}

/** Returns a curl command with one option per line and a final newline. Keys and secret addresses are variables. */
export function curlCommand(
  {
    method,
    url,
    headers,
    keyVariable,
    body,
    upload,
    certificate: [cert, certKey] = [undefined, undefined],
  }: CurlRequest,
  { literal, variable, continues }: Shell,
): string {
  const options = [
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `--header ${literal(`${name}: ${value}`)}`),
    // The shell inserts the key, so that it appears in no file and no history.
    ...(keyVariable === undefined ? [] : [`-H "SVC-API-KEY: ${variable(keyVariable)}"`]),
    ...(cert === undefined ? [] : [`--cert ${literal(cert)}`]),
    ...(certKey === undefined ? [] : [`--key ${literal(certKey)}`]),
    ...(body === undefined ? [] : [`--data-raw ${literal(withVisibleCharacters(body))}`]),
    ...(upload === undefined ? [] : [`--upload-file ${literal(upload)}`]),
    // Without --globoff curl reads brackets and braces as patterns.
    ...([url, upload].some((text) => typeof text === 'string' && /[[\]{}]/.test(text)) ? ['--globoff'] : []),
    typeof url === 'string' ? literal(url) : `"${variable(url.variable)}"`,
  ];
  return `curl ${options.join(` ${continues}\n  `)}\n`;
}

/** Writes control and invisible characters as JSON escapes. */
function withVisibleCharacters(body: string): string {
  return body.replace(/[\p{Cf}\u007F-\u009F\u2028\u2029]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}
