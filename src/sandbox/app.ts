import type { Context, Env } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { isCrossSite, isForThisMachine, type RequestHeaders } from '../schema/loopback.ts';
import { serveBuckets } from './buckets/serve.ts';
import { isSigned } from './buckets/signature.ts';
import { findKey } from './keys.ts';
import { jsonResponse, problem } from './problem.ts';
import { apiRoutes } from './routes/api.ts';
import { recordAudit, type RouteResponse, type Service, unknownMessage } from './service.ts';
import { STORE_PATH, storeRoutes } from './store/routes.ts';
import { showChallenge, submitChallenge } from './three-ds/pages/challenge.ts';
import { collectMethod, notifyMethod, showMethod } from './three-ds/pages/method.ts';
import { errorPage, failurePage, type Visit } from './three-ds/pages/page.ts';

/** What the app is told of a connection. */
export interface SandboxEnv extends Env {
  readonly Bindings: { readonly remoteAddress?: string | undefined };
}

/** The emulated service, as a function from request to response. */
export function createApp(service: Service, allowHosts: readonly string[] = []): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();
  const isForeign = (c: Context): boolean => isCrossSite(originHeaders(c), allowHosts);
  const refuse = (c: Context, response: RouteResponse): Response => {
    const key = findKey(c.req.header('svc-api-key'));
    if (key !== undefined && !service.state.world.deleted)
      recordAudit(service, key, unknownMessage(service, c.req.method));
    return jsonResponse(response);
  };

  app.use(async (c, next) =>
    isForThisMachine(originHeaders(c), allowHosts) ? next() : jsonResponse(FOREIGN_HOST),
  );
  // Requests to buckets are told by their signature: their paths begin with the name of any bucket.
  app.use(async (c, next) => {
    if (!isSigned(c.req.header('authorization')) || c.req.path.startsWith(STORE_PATH)) return next();
    return isForeign(c) ? jsonResponse(CROSS_SITE) : serveBuckets(service, c.req.raw);
  });
  // Pages of other sites may lead here: these addresses carry what cannot be guessed, and take no key.
  app.route('/', pageRoutes(service)).route('/', storeRoutes(service));
  app.use(async (c, next) => (isForeign(c) ? jsonResponse(CROSS_SITE) : next()));
  app.route('/', apiRoutes(service));
  for (const [path, methods] of methodsByPath(app))
    app.all(path, (c) => refuse(c, methodNotAllowed(methods)));
  app.notFound((c) => refuse(c, NO_SUCH_PATH));
  return app;
}

// The keys of a sandbox are published: a page in a browser must not be able to use them.
const FOREIGN_HOST = problem(
  403,
  'Forbidden',
  'The Host header names another machine. Start the sandbox with --allow-host to allow a name.',
);
const CROSS_SITE = problem(403, 'Forbidden', 'The request comes from a page of another site.');

const NO_SUCH_PATH = problem(404, 'Not Found', 'There is no such path.');

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

function methodNotAllowed(allowed: readonly string[]): RouteResponse {
  const allow = METHODS.filter((method) => allowed.includes(method)).join(', ');
  const response = problem(405, 'Method Not Allowed', `Allowed here: ${allow}.`);
  return { ...response, headers: { ...response.headers, allow } };
}

function methodsByPath({ routes }: Hono<SandboxEnv>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { method, path } of routes)
    if (METHODS.includes(method)) found.set(path, [...(found.get(path) ?? []), method]);
  return found;
}

function originHeaders({ req }: Context): RequestHeaders {
  return {
    host: req.header('host') ?? new URL(req.url).host,
    origin: req.header('origin'),
    'sec-fetch-site': req.header('sec-fetch-site'),
  };
}

/**
 * The pages of the card issuer's access control server, and the address that is notified of a completed method. They
 * need no key: their addresses carry what cannot be guessed.
 */
function pageRoutes(service: Service): Hono<SandboxEnv> {
  const pages = new Hono<SandboxEnv>();
  const page = (handle: (visit: Visit) => Response | Promise<Response>) => (c: Context<SandboxEnv>) =>
    handle(visitOf(service, c));
  pages.get('/acs/challenge/:id/:token', page(showChallenge));
  pages.post('/acs/challenge/:id/:token', LIMIT_BODY, page(submitChallenge));
  pages.get('/acs/method/:id/:token', page(showMethod));
  pages.post('/acs/method/:id/:token', LIMIT_BODY, page(collectMethod));
  pages.post('/3ds/sessions/:id/method-notification', LIMIT_BODY, page(notifyMethod));
  pages.onError(errorPage);
  return pages;
}

const LIMIT_BODY = bodyLimit({ maxSize: 1_000_000, onError: () => failurePage(413) });

function visitOf(service: Service, c: Context<SandboxEnv>): Visit {
  const { id = '', token = '' } = c.req.param();
  const { remoteAddress = '' } = c.env;
  return { service, request: c.req.raw, remoteAddress, id, token, now: service.state.now() };
}
