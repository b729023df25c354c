import { auditNote, recordAudit } from '../audit.ts';
import type { ApiRoute } from '../endpoint.ts';
import { type SandboxKey, findKey, keyTypeOf } from '../keys.ts';
import type { Feature } from '../options.ts';
import { invalid, Problem, problem } from '../problem.ts';
import { readText, type ServiceRequest } from '../request.ts';
import { jsonResponse, type ServiceResponse } from '../response.ts';
import type { Params, Route } from '../router.ts';
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
export function apiRoutes(service: Service): readonly Route[] {
  return API_ROUTES.map((route) => ({
    method: route.method,
    path: route.path,
    respond: (request, params) => respondAsApi(service, route, request, params),
  }));
}

const MAX_BODY_BYTES = 1_000_000;

async function respondAsApi(
  service: Service,
  route: ApiRoute,
  request: ServiceRequest,
  params: Params,
): Promise<ServiceResponse> {
  const { url, headers } = request;
  let key: SandboxKey | undefined;
  let { id } = params;
  try {
    key = keyOf(service, headers['svc-api-key']);
    checkLimits(service, key, url.pathname);
    checkAccessTo(service, route.path);
    checkPermission(route, key);
    const body = await route.handle({
      service,
      params,
      query: url.searchParams,
      key,
      now: service.state.now(),
      json: async () => parseJson(await readText(request, MAX_BODY_BYTES)),
      created: (newId) => {
        id = newId;
      },
    });
    if (service.options.auditReads !== false || route.audit.entityType !== 'log')
      recordAudit(service, key, auditNote(service, route.audit, false, id));
    return jsonResponse(route.status ?? 200, body);
  } catch (error) {
    // Recorded last, so that a list of logs never contains its own request.
    if (key !== undefined) recordAudit(service, key, auditNote(service, route.audit, true, params['id']));
    return (error instanceof Problem ? error : problem(500, `The sandbox failed: ${String(error)}`)).response;
  }
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
