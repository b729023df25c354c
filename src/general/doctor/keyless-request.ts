import type { Clock, Environment } from '../../base/system.ts';
import { exchange } from '../../client/http/exchange.ts';
import { machineAhead, TOLERATED_CLOCK_MS } from '../../client/http/service-clock.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import { createTransport } from '../../client/http/transport.ts';
import { hintToServer, TransportFailure } from '../../client/http/transport-failure.ts';
import { displayHost } from '../../schema/address.ts';
import { type CheckOutcome, fail, skip, warn } from './check.ts';

/** The time limit for each step on the path to the service, in milliseconds. */
export const STEP_MS = 3_000;

/** The service to check, and how this machine reaches it. */
export interface NetworkPath {
  readonly baseUrl: URL;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** The client certificate for the service. */
  readonly certificate: ClientCertificate | undefined;
}

const LIMITS = { connect: STEP_MS, headers: STEP_MS, idle: STEP_MS, body: STEP_MS };

/** The response to a request without a key. */
export interface KeylessResponse {
  readonly url: URL;
  readonly status: number;
  readonly location: string | undefined;
  /** Milliseconds by which this machine's clock is ahead of the service's; undefined if the service sends no date. */
  readonly aheadMs: number | undefined;
}

/** Sends a request without a key: any response proves that the service is reachable, and shows its clock. */
export async function requestWithoutKey(path: NetworkPath): Promise<KeylessResponse> {
  const { baseUrl, env, clock, signal, userAgent, certificate } = path;
  const transport = createTransport(env, {}, certificate && { origin: baseUrl.origin, certificate });
  try {
    const url = new URL(baseUrl);
    url.pathname = `${baseUrl.pathname.replace(/\/+$/, '')}/tenants/self`;
    const headers = { accept: 'application/json', 'user-agent': userAgent };
    const sentAt = clock.now();
    const response = await exchange(transport, { method: 'GET', url, headers, limits: LIMITS, signal });
    const receivedAt = clock.now();
    response.discard();
    const date = Date.parse(response.header('date') ?? '');
    const aheadMs = Number.isNaN(date) ? undefined : machineAhead(date, sentAt, receivedAt);
    return { url, status: response.status, location: response.header('location'), aheadMs };
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const hint = hintToServer('Check your network, then run the command again.', error, baseUrl);
    throw error.toError('a request without a key', { hint });
  } finally {
    await transport.close();
  }
}

export function serviceOutcome({ status, location, url }: KeylessResponse): CheckOutcome | string {
  if (status === 401 || status === 403) return `responds and requires a key (${status})`;
  if (status === 429) return warn('responds, but limits requests (429)', 'Wait a minute.');
  if (status >= 500)
    return fail('server', `responds with ${status}`, 'Try again later; the problem is with the service.');
  if (status < 300 || status >= 400) return warn(`responds with ${status} without a key; expected 401`);
  const isUrl = location !== undefined && URL.canParse(location, url.href);
  const to = isUrl ? ` to ${displayHost(new URL(location, url))}` : '';
  return fail('bad_response', `redirects${to} (${status}); redirects are not followed`);
}

export function clockOutcome({ aheadMs }: KeylessResponse): CheckOutcome | string {
  if (aheadMs === undefined) return skip('the service sends no date');
  if (Math.abs(aheadMs) <= TOLERATED_CLOCK_MS) return "matches the service's";
  return warn(`${roughly(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's`);
}

function roughly(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
