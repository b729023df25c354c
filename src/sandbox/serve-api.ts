import { findKey, type SandboxKey } from './keys.ts';
import { problem, ProblemError, readJson, sendResponse } from './problem.ts';
import type { ApiRoute, AuditNote, Exchange, RouteResponse } from './routes/route.ts';
import { recordAudit, refusalMessage, type Service, successMessage } from './service.ts';

/** Serves one request to an endpoint: key, limits, permission, then the endpoint's own work. */
export async function serveApi(
  service: Service,
  route: ApiRoute,
  params: Readonly<Record<string, string>>,
  exchange: Exchange,
): Promise<void> {
  sendResponse(exchange, await responseTo(service, route, params, exchange));
}

async function responseTo(
  service: Service,
  route: ApiRoute,
  params: Readonly<Record<string, string>>,
  exchange: Exchange,
): Promise<RouteResponse> {
  let key: SandboxKey | undefined;
  try {
    const now = service.state.now();
    key = keyOf(service, exchange);
    checkLimits(service, key, exchange, now);
    checkPermission(route, key);
    return await handled(service, route, { params, exchange, key, now });
  } catch (error) {
    // The log comes after the answer was made: a list never holds the request that asks for it.
    if (key !== undefined) recordAudit(service, key, refusalMessage(service, route, params));
    if (error instanceof ProblemError) return error.answer;
    return problem(500, 'Internal Server Error', `The sandbox failed: ${String(error)}`);
  }
}

interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly exchange: Exchange;
  readonly key: SandboxKey;
  readonly now: number;
}

async function handled(service: Service, route: ApiRoute, asked: ApiRequest): Promise<RouteResponse> {
  const { params, exchange, key, now } = asked;
  const notes: AuditNote[] = [];
  const json = (): Promise<unknown> => readJson(exchange);
  const audit = (note: AuditNote): void => void notes.push(note);
  const body = await route.handle({ service, params, query: exchange.query, key, now, json, audit });
  for (const note of notes.length > 0 ? notes : [successMessage(service, route, params)])
    recordAudit(service, key, note);
  return { status: route.status, body };
}

/** The key of a request. Throws a 401 for none, for an unknown one, and for one whose tenant was deleted. */
function keyOf({ state }: Service, { incoming }: Exchange): SandboxKey {
  const value = incoming.headers['svc-api-key'];
  const key = findKey(value?.toString());
  if (value === undefined) throw unauthorized('The header SVC-API-KEY is missing.');
  if (key === undefined) throw unauthorized('The API key is not known.');
  if (state.world.deleted) throw unauthorized('The tenant of the API key was deleted.');
  return key;
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError(problem(401, 'Unauthorized', detail));
}

function checkLimits({ limits, state }: Service, key: SandboxKey, { path }: Exchange, now: number): void {
  const limited = limits?.check(key, path, now, state.world.start.tenantType);
  if (limited === undefined) return;
  const answer = problem(429, 'Too Many Requests', limited.detail);
  const seconds = String(Math.ceil((limited.until - now) / 1000));
  throw new ProblemError({
    ...answer,
    headers: { ...answer.headers, ...(limited.told && { 'retry-after': seconds }) },
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
