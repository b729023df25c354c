// Finds what responds to a request.

import type { ServiceRequest } from './request.ts';
import type { ServiceResponse } from './response.ts';

/** The variable segments of a path by name, decoded. */
export type Params = Readonly<Record<string, string>>;

export interface Route {
  readonly method: string;
  /** The path; variable segments are written `:name`. */
  readonly path: string;
  readonly respond: (request: ServiceRequest, params: Params) => ServiceResponse | Promise<ServiceResponse>;
}

/** Responds with the first route of this method and path; undefined without one. A HEAD request is a GET without its body. */
export function respondBy(
  routes: readonly Route[],
  request: ServiceRequest,
): ServiceResponse | Promise<ServiceResponse> | undefined {
  const wanted = request.method === 'HEAD' ? 'GET' : request.method;
  for (const { method, path, respond } of routes) {
    const params = method === wanted ? paramsIn(path, request.url) : undefined;
    if (params !== undefined) return respond(request, params);
  }
  return undefined;
}

/** Returns the methods that a path has routes for. */
export function methodsOf(routes: readonly Route[], url: URL): string[] {
  return routes.filter(({ path }) => paramsIn(path, url) !== undefined).map(({ method }) => method);
}

/** Returns the variable segments of an address; undefined for another path. */
function paramsIn(path: string, { pathname }: URL): Params | undefined {
  const names = path.split('/');
  const segments = pathname.split('/').map(decodedSegment);
  const isSame = (name: string, at: number): boolean =>
    name.startsWith(':') ? segments[at] !== '' : name === segments[at];
  if (names.length !== segments.length || !names.every(isSame)) return undefined;
  return Object.fromEntries(
    names.flatMap((name, at) => (name.startsWith(':') ? [[name.slice(1), segments[at] ?? '']] : [])),
  );
}

function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
