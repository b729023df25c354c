import type { IncomingMessage, ServerResponse } from 'node:http';
import { PatternRouter } from 'hono/router/pattern-router';
import { isCrossSite, isForThisMachine } from '../schema/loopback.ts';
import { serveBuckets } from './buckets/serve.ts';
import { isSigned } from './buckets/signature.ts';
import { findKey } from './keys.ts';
import { problem, sendResponse } from './problem.ts';
import { PAGE_ROUTES } from './routes/pages.ts';
import type { ApiRoute, Exchange, RouteResponse } from './routes/route.ts';
import { API_ROUTES, STORE_ROUTES } from './routes/table.ts';
import { serveApi } from './serve-api.ts';
import { recordAudit, type Service, unknownMessage } from './service.ts';
import { serveStore, STORE_PATH, unsigned } from './store/serve.ts';
import { servePage } from './three-ds/pages/serve.ts';

type Params = Readonly<Record<string, string>>;
type Serve = (exchange: Exchange, params: Params) => Promise<void>;

interface Endpoint {
  readonly serve: Serve;
  /** Pages of other sites may lead here: its address carries what cannot be guessed, and it takes no key. */
  readonly isOpen: boolean;
}

/** Answers one request. */
export type App = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * The service as a function of Node's request and response, made from the tables of routes. Of hono only the
 * router is used: its Request and Response would load fetch, which costs each embedded start 20 ms on Node 20.
 */
export function createApp(service: Service, allowHosts: readonly string[] = []): App {
  const router = new PatternRouter<Endpoint>();
  for (const route of API_ROUTES)
    router.add(route.method, route.path, { serve: apiHandler(service, route), isOpen: false });
  for (const { method, path, handle } of PAGE_ROUTES)
    router.add(method, path, {
      serve: (exchange, { id = '', token = '' }) =>
        servePage({ service, exchange, id, token, now: service.state.now() }, handle),
      isOpen: true,
    });
  for (const route of STORE_ROUTES)
    router.add(route.method, route.path, {
      serve: (exchange) => serveStore(service, exchange, () => route.handle(service, exchange)),
      isOpen: true,
    });
  router.add('ALL', `${STORE_PATH}*`, {
    serve: (exchange) => serveStore(service, exchange, unsigned),
    isOpen: true,
  });
  const find = (method: string, path: string) => router.match(method, path)[0][0];
  return async (incoming, outgoing) => {
    const exchange = exchangeOf(incoming, outgoing);
    if (!isForThisMachine(incoming.headers, allowHosts)) return sendResponse(exchange, FOREIGN_HOST);
    const isForeign = isCrossSite(incoming.headers, allowHosts);
    if (isSigned(incoming) && !exchange.path.startsWith(STORE_PATH))
      return isForeign ? sendResponse(exchange, CROSS_SITE) : serveBuckets(service, exchange);
    const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? '');
    const [endpoint, params] = find(method, exchange.path) ?? [];
    if (isForeign && endpoint?.isOpen !== true) return sendResponse(exchange, CROSS_SITE);
    if (endpoint !== undefined) return endpoint.serve(exchange, decoded(params));
    const allowed = METHODS.filter((other) => find(other, exchange.path) !== undefined);
    const key = findKey(incoming.headers['svc-api-key']?.toString());
    if (key !== undefined && !service.state.world.deleted)
      recordAudit(service, key, unknownMessage(service, incoming.method ?? ''));
    return sendResponse(exchange, allowed.length === 0 ? NO_SUCH_PATH : methodNotAllowed(allowed));
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

// The keys of a sandbox are published: a page in a browser must not be able to use them.
const FOREIGN_HOST = problem(
  403,
  'Forbidden',
  'The Host header names another machine. Start the sandbox with --allow-host to allow a name.',
);
const CROSS_SITE = problem(403, 'Forbidden', 'The request comes from a page of another site.');

const NO_SUCH_PATH = problem(404, 'Not Found', 'There is no such path.');

function apiHandler(service: Service, route: ApiRoute): Serve {
  return (exchange, params) => serveApi(service, route, params, exchange);
}

function methodNotAllowed(allowed: readonly string[]): RouteResponse {
  const allow = allowed.join(', ');
  const answer = problem(405, 'Method Not Allowed', `Allowed here: ${allow}.`);
  return { ...answer, headers: { ...answer.headers, allow } };
}

// Cut by hand: a URL parser takes a path such as //x for a host.
function exchangeOf(incoming: IncomingMessage, outgoing: ServerResponse): Exchange {
  const target = (incoming.url ?? '').replace(/^https?:\/\/[^/?]*/i, '');
  const [path = ''] = target.split('?', 1);
  const query = new URLSearchParams(target.slice(path.length));
  return { incoming, outgoing, path, query, requestId: String(outgoing.getHeader('x-request-id')) };
}

function decoded(params: unknown): Params {
  return Object.fromEntries(
    Object.entries(params ?? {}).map(([name, text]) => [name, decodedPart(String(text))]),
  );
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
