import type { Context, Env, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { findKey, type SandboxKey } from '../keys.ts';
import { invalid, jsonResponse, problem, ProblemError } from '../problem.ts';
import {
  type ApiRoute,
  type AuditNote,
  recordAudit,
  refusalMessage,
  type Service,
  successMessage,
} from '../service.ts';
import { ACCOUNT_UPDATER_ROUTES } from './account-updater.ts';
import { LOG_ROUTES } from './logs.ts';
import { APPLICATION_ROUTES, TENANT_ROUTES } from './tenant.ts';
import { THREE_DS_ROUTES } from './three-ds.ts';
import { TOKEN_ROUTES } from './tokens.ts';

/** Every endpoint of the API that the sandbox has. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...LOG_ROUTES,
  ...TENANT_ROUTES,
  ...APPLICATION_ROUTES,
  ...TOKEN_ROUTES,
  ...THREE_DS_ROUTES,
  ...ACCOUNT_UPDATER_ROUTES,
];

/** The API: for each endpoint key, limits and permission, then the endpoint's own work. */
export function apiRoutes(service: Service): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>();
  for (const route of API_ROUTES)
    api.on(route.method, route.path, checkAccess(service, route), LIMIT_BODY, (c) =>
      handle(service, route, c),
    );
  api.onError((error, c) => {
    const { key, refusal } = c.var;
    // The log comes after the response was made: a list never holds the request that asks for it.
    if (key !== undefined && refusal !== undefined) recordAudit(service, key, refusal);
    if (error instanceof ProblemError) return jsonResponse(error.response);
    return jsonResponse(problem(500, 'Internal Server Error', `The sandbox failed: ${String(error)}`));
  });
  return api;
}

/** What is known of a request whose key is good. */
interface ApiEnv extends Env {
  readonly Variables: {
    key?: SandboxKey;
    /** What the request leaves in the logs if it is refused. */
    refusal?: AuditNote;
  };
}

const LIMIT_BODY = bodyLimit({
  maxSize: 1_000_000,
  onError: () => {
    throw new ProblemError(problem(413, 'Content Too Large', 'The body is too large.'));
  },
});

function checkAccess(service: Service, route: ApiRoute): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = keyOf(service, c.req.header('svc-api-key'));
    c.set('key', key);
    c.set('refusal', refusalMessage(service, route, c.req.param()));
    checkLimits(service, key, c.req.path);
    checkPermission(route, key);
    await next();
  };
}

async function handle(service: Service, route: ApiRoute, c: Context<ApiEnv>): Promise<Response> {
  const { key } = c.var;
  if (key === undefined) throw new Error('a handler without a key');
  const params = c.req.param();
  const notes: AuditNote[] = [];
  const body = await route.handle({
    service,
    params,
    query: new URL(c.req.url).searchParams,
    key,
    now: service.state.now(),
    json: async () => parseJson(await c.req.text()),
    audit: (note) => void notes.push(note),
  });
  for (const note of notes.length > 0 ? notes : [successMessage(service, route, params)])
    recordAudit(service, key, note);
  return jsonResponse({ status: route.status, body });
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('body', 'Must be JSON.');
  }
}

/** The key of a request. Throws a 401 for none, for an unknown one, and for one whose tenant was deleted. */
function keyOf({ state }: Service, value: string | undefined): SandboxKey {
  const key = findKey(value);
  if (value === undefined) throw unauthorized('The header SVC-API-KEY is missing.');
  if (key === undefined) throw unauthorized('The API key is not known.');
  if (state.world.deleted) throw unauthorized('The tenant of the API key was deleted.');
  return key;
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError(problem(401, 'Unauthorized', detail));
}

function checkLimits({ limits, state }: Service, key: SandboxKey, path: string): void {
  const now = state.now();
  const limited = limits?.check(key, path, now, state.world.start.tenantType);
  if (limited === undefined) return;
  const response = problem(429, 'Too Many Requests', limited.detail);
  const seconds = String(Math.ceil((limited.until - now) / 1000));
  throw new ProblemError({
    ...response,
    headers: { ...response.headers, ...(limited.told && { 'retry-after': seconds }) },
  });
}

function checkPermission({ kind, permission }: ApiRoute, key: SandboxKey): void {
  if (key.kind !== kind)
    throw new ProblemError(
      problem(403, 'Forbidden', `A ${kind} key with the permission ${permission} is needed here.`),
    );
  if (!key.permissions.includes(permission))
    throw new ProblemError(problem(403, 'Forbidden', `The key lacks the permission ${permission}.`));
}
