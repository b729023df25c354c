import { sendAnswer } from './answer.ts';
import { readJson } from './body.ts';
import { findKey, type SandboxKey } from './keys.ts';
import { problem, ProblemError } from './problem.ts';
import type { Answer, ApiRoute, AuditNote, Exchange } from './routes/route.ts';
import type { Service } from './service.ts';

/** Serves one request to an endpoint: key, limits, permission, then the endpoint's own work. */
export async function serveApi(
  service: Service,
  route: ApiRoute,
  params: Readonly<Record<string, string>>,
  exchange: Exchange,
): Promise<void> {
  sendAnswer(exchange, await answerTo(service, route, params, exchange));
}

async function answerTo(
  service: Service,
  route: ApiRoute,
  params: Readonly<Record<string, string>>,
  exchange: Exchange,
): Promise<Answer> {
  try {
    const now = service.state.now();
    const key = keyOf(exchange);
    checkLimits(service, key, exchange, now);
    checkPermission(route, key);
    const json = (): Promise<unknown> => readJson(exchange);
    const audit = (note: AuditNote): void => {
      service.state.record({ type: 'audit', at: now, application: key.application, ...note });
    };
    const { query } = exchange;
    const body = await route.handle({ service, params, query, key, now, json, audit });
    return { status: route.status, body };
  } catch (error) {
    if (error instanceof ProblemError) return error.answer;
    return problem(500, 'Internal Server Error', `The sandbox failed: ${String(error)}`);
  }
}

function keyOf({ incoming }: Exchange): SandboxKey {
  const value = incoming.headers['svc-api-key'];
  const key = findKey(value?.toString());
  if (key !== undefined) return key;
  const detail = value === undefined ? 'The header SVC-API-KEY is missing.' : 'The API key is not known.';
  throw new ProblemError(problem(401, 'Unauthorized', detail));
}

function checkLimits({ limits }: Service, key: SandboxKey, { path }: Exchange, now: number): void {
  const limited = limits?.check(key, path, now);
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
