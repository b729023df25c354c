import { isCrossSite, isForThisMachine } from '../schema/address.ts';
import { Problem, problem } from './problem.ts';
import type { ServiceRequest } from './request.ts';
import type { ServiceResponse } from './response.ts';
import { methodsOf, respondBy } from './router.ts';
import { apiRoutes } from './routes/api.ts';
import { controlRoutes } from './routes/control.ts';
import { isOfStore, respondAsStore } from './routes/store.ts';
import type { Service } from './service.ts';
import { pageRoutes } from './three-ds/pages/challenge.ts';

/** The emulated service. */
export type App = (request: ServiceRequest) => Promise<ServiceResponse>;

/** The system's error codes for a full disk. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The emulated service, as a function from request to response. */
export function createApp(service: Service, allowHosts: readonly string[] = []): App {
  const pages = pageRoutes(service);
  const routes = [...apiRoutes(service), ...controlRoutes(service)];
  const respond = (request: ServiceRequest) => {
    const { headers, url } = request;
    // The sandbox's keys are public, so a web page in a browser must not be able to use them.
    if (!isForThisMachine(headers, allowHosts))
      throw problem(403, 'The Host header names another machine. Start the sandbox with --allow-host to allow a name.');
    // Other sites may link to these addresses, which cannot be guessed and need no key.
    const opened = isOfStore(url) ? respondAsStore(service, request) : respondBy(pages, request);
    if (opened !== undefined) return opened;
    if (isCrossSite(headers, allowHosts)) throw problem(403, 'The request comes from a page of another site.');
    return respondBy(routes, request) ?? refuseUnknown(methodsOf([...pages, ...routes], url));
  };
  return async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      return (error instanceof Problem ? error : failure(error)).response;
    }
  };
}

function failure(error: unknown): Problem {
  const { code = '', message } = error as Error & { readonly code?: string };
  if (NO_ROOM.has(code)) return problem(507, `The state of the sandbox cannot be written (${code}).`);
  return problem(500, `A bug of the sandbox: ${message}`);
}

/** Refuses a path without a route for the method. */
function refuseUnknown(allowed: readonly string[]): ServiceResponse {
  if (allowed.length === 0) return problem(404, 'There is no such path.').response;
  const allow = METHODS.filter((each) => allowed.includes(each)).join(', ');
  return problem(405, `Allowed here: ${allow}.`, { headers: { allow } }).response;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];
