import { keyVariable } from '../config/keys.ts';
import type { ExchangeRequest } from '../http/exchange.ts';
import type { Admit } from '../http/transport.ts';
import { curlCommand } from '../render/curl.ts';
import { plannedRequestView } from '../views/planned-request.ts';
import type { Context } from './context.ts';
import { NotSent } from './not-sent.ts';
import { recordPrinter } from './print.ts';

/** Where `svc sandbox start` listens: a sandbox inside a command is gone with it, and its address with that. */
export const SANDBOX_ADDRESS = 'http://127.0.0.1:4010';

/** What stands in the way of requests. */
export interface Holding {
  readonly dryRun: boolean;
  /** The file that would be uploaded, as the operator called it. */
  readonly file?: string | undefined;
}

/**
 * What a transport asks before it sends: with `--dry-run` the first request that could change something, with
 * `--curl` the first of all, is shown and ends the command. Undefined where requests just go out.
 */
export function admission(context: Context, { dryRun, file }: Holding): Admit | undefined {
  const { curl } = context.globals;
  if (!dryRun && !curl) return undefined;
  let shown = false;
  return async (request) => {
    if (dryRun && request.method === 'GET') return;
    if (!shown) {
      shown = true;
      await (curl ? showCurl(context, request, file) : showPlan(context, request));
      tellNotSent(context, request);
    }
    throw new NotSent();
  };
}

async function showPlan(context: Context, request: ExchangeRequest): Promise<void> {
  const { globals } = context;
  // The fields that were chosen are those of the answer.
  const print = await recordPrinter(
    { ...context, globals: { ...globals, fields: undefined }, query: undefined },
    plannedRequestView,
  );
  const length = request.headers['content-length'];
  await print({
    method: request.method,
    url: isStoreAddress(request) && !globals.showUrls ? '(hidden)' : addressOf(context, request),
    key: request.keyKind ?? null,
    ...(typeof request.body === 'object' && length !== undefined ? { bytes: Number(length) } : {}),
    ...(typeof request.body === 'string' ? { body: parsed(request.body) } : {}),
  });
}

async function showCurl(context: Context, request: ExchangeRequest, file = 'FILE'): Promise<void> {
  const { system, globals, out, notices } = context;
  const hidden = isStoreAddress(request) && !globals.showUrls;
  const command = curlCommand({
    method: request.method,
    url: hidden ? { variable: 'STORE_URL' } : addressOf(context, request),
    headers: headersFor(request),
    keyVariable: request.keyKind && keyVariable(system, request.keyKind),
    body: typeof request.body === 'string' ? request.body : undefined,
    upload: typeof request.body === 'object' ? file : undefined,
  });
  await out.write(command);
  if (out.redact(command) !== command)
    notices.warn('what is secret or looks like a card number was hidden: put it back before you run this');
  if (hidden) notices.note("the address is a secret: take it from 'svc au status <job> --show-urls'");
}

function tellNotSent({ notices, globals, settings }: Context, { method, keyKind }: ExchangeRequest): void {
  const more = globals.curl && method === 'GET' ? '; what would follow depends on its answer' : '';
  notices.note(
    globals.curl ? `nothing was sent: this is the next request${more}` : 'dry run: this was not sent',
  );
  if (settings.sandbox && globals.curl && keyKind !== undefined)
    notices.note("for a sandbox that listens: start one with 'svc sandbox start', which tells its keys");
}

// No key goes to the store, and the address alone lets anybody in. Webhook targets get POST.
function isStoreAddress({ keyKind, method }: ExchangeRequest): boolean {
  return keyKind === undefined && method !== 'POST';
}

function addressOf({ settings }: Context, { url, keyKind }: ExchangeRequest): string {
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined && keyKind !== undefined;
  return isEmbedded ? url.href.replace(url.origin, SANDBOX_ADDRESS) : url.href;
}

function headersFor({ headers }: ExchangeRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:svc-api-key|user-agent|content-length)$/i.test(name)),
  );
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}
