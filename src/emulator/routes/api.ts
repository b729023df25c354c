import type { Context, Env, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { Hono } from 'hono/tiny';
import { type AuditNote, auditNote, recordAudit } from '../audit.ts';
import type { ApiRoute } from '../endpoint.ts';
import { type SandboxKey, findKey, keyTypeOf } from '../keys.ts';
import type { Feature } from '../options.ts';
import { invalid, problem } from '../problem.ts';
import { jsonResponse } from '../response.ts';
import { ACCOUNT_UPDATER_ROUTES } from './account-updater.ts';
import { LOG_ROUTES } from './logs.ts';
import { TENANT_ROUTES } from './tenant.ts';
import { THREE_DS_ROUTES } from './three-ds.ts';
import { TOKEN_ROUTES } from './tokens.ts';
import type { Service } from '../service.ts';
import { parsedJson } from '../../schema/json-value.ts';

export const API_ROUTES: readonly ApiRoute[] = [
  ...LOG_ROUTES,
  ...TENANT_ROUTES,
  ...TOKEN_ROUTES,
  ...THREE_DS_ROUTES,
  ...ACCOUNT_UPDATER_ROUTES,
];

/** Routes the API. Every endpoint checks key, limits and permission before its own work. */
export function apiRoutes(service: Service): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>();
  for (const route of API_ROUTES)
    api.on(route.method, route.path, checkAccess(service, route), LIMIT_BODY, (c) => handle(service, route, c));
  api.onError((error, c) => {
    const { key, refusal } = c.var;
    // Recorded last, so that a list of logs never contains its own request.
    if (key !== undefined && refusal !== undefined) recordAudit(service, key, refusal);
    return (
      error instanceof HTTPException ? error : problem(500, `The sandbox failed: ${String(error)}`)
    ).getResponse();
  });
  return api;
}

/** Facts about a request with a valid key. */
interface ApiEnv extends Env {
  readonly Variables: {
    key?: SandboxKey;
    /** The log that the request creates if it is refused. */
    refusal?: AuditNote;
  };
}

const LIMIT_BODY = bodyLimit({
  maxSize: 1_000_000,
  onError: () => {
    throw problem(413, 'The body is too large.');
  },
});

function checkAccess(service: Service, route: ApiRoute): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const key = keyOf(service, c.req.header('svc-api-key'));
    c.set('key', key);
    c.set('refusal', auditNote(service, route.audit, true, c.req.param('id')));
    checkLimits(service, key, c.req.path);
    checkAccessTo(service, route.path);
    checkPermission(route, key);
    await next();
  };
}

async function handle(service: Service, route: ApiRoute, c: Context<ApiEnv>): Promise<Response> {
  const { key } = c.var;
  if (key === undefined) throw new Error('a handler without a key');
  const params = c.req.param();
  let { id } = params;
  const body = await route.handle({
    service,
    params,
    query: new URL(c.req.url).searchParams,
    key,
    now: service.state.now(),
    json: async () => parseJson(await c.req.text()),
    created: (newId) => {
      id = newId;
    },
  });
  if (service.options.auditReads !== false || route.audit.entityType !== 'log')
    recordAudit(service, key, auditNote(service, route.audit, false, id));
  return jsonResponse(route.status ?? 200, body);
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  const value = parsedJson(text);
  if (value === undefined) throw invalid('body', 'Must be JSON.');
  return value;
}

/** Finds the key of a request. Throws a 401 if the key is missing, unknown or expired, or if its tenant was deleted. */
function keyOf({ state, tenant }: Service, value: string | undefined): SandboxKey {
  const key = findKey(value, tenant);
  if (value === undefined) throw problem(401, 'The header SVC-API-KEY is missing.');
  if (key === undefined) throw problem(401, 'The API key is not known.');
  if (key.expired) throw problem(401, 'The API key has expired.');
  if (state.world.deleted) throw problem(401, 'The tenant of the API key was deleted.');
  return key;
}

function checkLimits({ limits, state }: Service, key: SandboxKey, path: string): void {
  const now = state.now();
  const limited = limits?.check(key, path, now, state.world.start.tenantType);
  if (limited === undefined) return;
  throw problem(429, limited.detail, { headers: { 'retry-after': String(Math.ceil((limited.until - now) / 1000)) } });
}

// Checked before the permissions of the key, as at the service.
function checkAccessTo({ options: { without = [] } }: Service, path: string): void {
  for (const feature of without)
    if (path.startsWith(`/${feature}/`))
      throw problem(403, `${FEATURE_NAMES[feature]} is an enterprise feature that needs access to be enabled.`);
}

const FEATURE_NAMES: Readonly<Record<Feature, string>> = { '3ds': '3DS', 'account-updater': 'Account Updater' };

function checkPermission({ permission }: ApiRoute, key: SandboxKey): void {
  const kind = keyTypeOf(permission);
  if (key.kind !== kind) throw problem(403, `A ${kind} key with the permission ${permission} is needed here.`);
  if (!key.permissions.includes(permission)) throw problem(403, `The key lacks the permission ${permission}.`);
}
