import type { Context } from '../cli/context.ts';
import type { DirectRequest, PreviewRequest } from '../cli/preview.ts';
import { recordPrinter } from '../cli/print.ts';
import { KEY_KINDS } from '../config/document.ts';
import { keyOrigin, keyVariable } from '../config/keys.ts';
import { buildUrl, type KeyKind } from '../http/request.ts';
import { curlCommand } from '../render/curl.ts';
import { plannedRequestView } from '../views/planned-request.ts';

/** Where `svc sandbox start` listens: a sandbox inside a command ends with it, and so does its address. */
const SANDBOX_ADDRESS = 'http://127.0.0.1:4010';

/** Shows a request that is not sent: as a curl command with `--curl`, else as data. */
export async function showPreview(context: Context, request: PreviewRequest, dryRun: boolean): Promise<void> {
  const planned = toPlanned(context, request);
  // A missing key is found by a dry run; a curl command reads it from its variable.
  if (dryRun && planned.key !== undefined) await context.key(planned.key);
  await hideKeys(context);
  await (context.globals.curl ? showCurl(context, planned) : showPlan(context, planned));
  reportNotSent(context, planned);
}

/** A request of either type in one form. */
interface Planned extends Pick<DirectRequest, 'body' | 'file'> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeyKind | undefined;
  /** Whether the address alone lets anybody in. */
  readonly isSecret: boolean;
}

function toPlanned({ settings, globals }: Context, request: PreviewRequest): Planned {
  if ('url' in request) {
    const isSecret = request.file !== undefined && !globals.showUrls;
    return { ...request, url: request.url.href, key: undefined, isSecret };
  }
  const { method, path, query, key } = request;
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined;
  const base = isEmbedded ? new URL(SANDBOX_ADDRESS) : settings.requireBaseUrl();
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const headers = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return { method, url: buildUrl(base, path, query).href, headers, key, body, isSecret: false };
}

async function showPlan(
  context: Context,
  { method, url, key, body, file, isSecret }: Planned,
): Promise<void> {
  // --fields and --jq are about the response.
  const globals = { ...context.globals, fields: undefined };
  const print = await recordPrinter({ ...context, globals, query: undefined }, plannedRequestView);
  await print({
    method,
    url: isSecret ? '(hidden)' : url,
    key: key ?? null,
    ...(file === undefined ? {} : { bytes: file.bytes }),
    ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
  });
}

async function showCurl(
  context: Context,
  { method, url, headers, key, body, file, isSecret }: Planned,
): Promise<void> {
  const { system, out, notices } = context;
  const command = curlCommand({
    method,
    url: isSecret ? { variable: 'STORE_URL' } : url,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-length')),
    keyVariable: key && keyVariable(system, key),
    body,
    upload: file?.name,
  });
  await out.write(command);
  if (out.redact(command) !== command)
    notices.warn('secrets and what looks like a card number are hidden: put them back before you run this');
  if (isSecret) notices.note("the address is a secret: take it from 'svc au status <job> --show-urls'");
}

function reportNotSent({ notices, globals, settings }: Context, { method, key }: Planned): void {
  const more = method === 'GET' ? '; later requests depend on its response' : '';
  notices.note(globals.curl ? `not sent${more}` : 'dry run: this request was not sent');
  if (settings.sandbox && globals.curl && key !== undefined)
    notices.note("to run this, start a sandbox with 'svc sandbox start' (it prints the keys)");
}

// What is shown may hold a key. Only those at hand are looked for; no key command is run for it.
async function hideKeys({ system, settings, key }: Context): Promise<void> {
  for (const kind of KEY_KINDS) {
    const isAtHand =
      keyOrigin(system, settings, kind)?.kind === 'environment' ||
      settings.stored?.keys?.[kind]?.value !== undefined;
    if (isAtHand) await key(kind).catch(() => undefined);
  }
}
