import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { Hono } from 'hono/tiny';
import { isCrossSite, isForThisMachine, type RequestHeaders } from '../schema/address.ts';
import { ownMember } from '../schema/own-member.ts';
import { findKey } from './keys.ts';
import { problem } from './problem.ts';
import { apiRoutes } from './routes/api.ts';
import { controlRoutes } from './routes/control.ts';
import { recordAudit } from './audit.ts';
import type { SandboxEnv, Service } from './service.ts';
import { storeRoutes } from './routes/store.ts';
import { collectMethod, notifyMethod, showChallenge, showMethod, submitChallenge } from './three-ds/pages/challenge.ts';
import { errorPage, failurePage, type Visit } from './three-ds/pages/page.ts';

/** The system's error codes for a full disk. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The emulated service, as a function from request to response. */
export function createApp(service: Service, allowHosts: readonly string[] = []): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();
  // The sandbox's keys are public, so a web page in a browser must not be able to use them.
  app.use((c, next) => {
    if (isForThisMachine(originHeaders(c), allowHosts)) return next();
    throw problem(403, 'The Host header names another machine. Start the sandbox with --allow-host to allow a name.');
  });
  // Other sites may link to these addresses, which cannot be guessed and need no key.
  app.route('/', pageRoutes(service)).route('/', storeRoutes(service));
  app.use((c, next) => {
    if (!isCrossSite(originHeaders(c), allowHosts)) return next();
    throw problem(403, 'The request comes from a page of another site.');
  });
  app.route('/', apiRoutes(service)).route('/', controlRoutes(service));
  for (const [path, methods] of methodsByPath(app))
    app.all(path, (c) => refuseUnknown(service, c, methodNotAllowed(methods)));
  app.notFound((c) => refuseUnknown(service, c, problem(404, 'There is no such path.')));
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    const code = 'code' in error ? String(error.code) : '';
    const isFull = NO_ROOM.has(code);
    const detail = isFull
      ? `The state of the sandbox cannot be written (${code}).`
      : `A bug of the sandbox: ${error.message}`;
    return problem(isFull ? 507 : 500, detail).getResponse();
  });
  return app;
}

function refuseUnknown(service: Service, { req }: Context, refusal: HTTPException): Response {
  const key = findKey(req.header('svc-api-key'), service.tenant);
  const { tenantId, deleted } = service.state.world;
  if (key !== undefined && !key.expired && !deleted)
    recordAudit(service, key, {
      entityType: 'tenant',
      entityId: tenantId,
      operation: ownMember(OPERATIONS, req.method) ?? 'read',
      message: 'Unknown endpoint refused',
    });
  return refusal.getResponse();
}

const OPERATIONS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

function methodNotAllowed(allowed: readonly string[]): HTTPException {
  const allow = METHODS.filter((method) => allowed.includes(method)).join(', ');
  return problem(405, `Allowed here: ${allow}.`, { headers: { allow } });
}

function methodsByPath({ routes }: Hono<SandboxEnv>): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes)
    if (METHODS.includes(method)) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}

function originHeaders({ req }: Context): RequestHeaders {
  return {
    host: req.header('host') ?? new URL(req.url).host,
    origin: req.header('origin'),
    'sec-fetch-site': req.header('sec-fetch-site'),
  };
}

/** Routes the pages of the card issuer's access control server, and the notification of a completed method. */
function pageRoutes(service: Service): Hono<SandboxEnv> {
  const pages = new Hono<SandboxEnv>();
  const page = (handle: (visit: Visit) => Response | Promise<Response>) => (c: Context<SandboxEnv>) => {
    const { id = '', token = '' } = c.req.param();
    const { remoteAddress = '' } = c.env;
    return handle({ service, request: c.req.raw, remoteAddress, id, token, now: service.state.now() });
  };
  const limitBody = bodyLimit({ maxSize: 1_000_000, onError: () => failurePage(413) });
  pages.get('/acs/challenge/:id/:token', page(showChallenge));
  pages.post('/acs/challenge/:id/:token', limitBody, page(submitChallenge));
  pages.get('/acs/method/:id/:token', page(showMethod));
  pages.post('/acs/method/:id/:token', limitBody, page(collectMethod));
  pages.post('/3ds/sessions/:id/method-notification', limitBody, page(notifyMethod));
  pages.onError(errorPage);
  return pages;
}
