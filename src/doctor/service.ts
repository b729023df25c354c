import { exchange } from '../http/exchange.ts';
import { createTransport } from '../http/transport.ts';
import { displayHost } from '../security/address.ts';
import { failed, type Finding, ok, skipped, warning } from './finding.ts';
import type { NetworkPath } from './network.ts';

// One request of a few hundred bytes.
const LIMITS = { connect: 5_000, headers: 5_000, idle: 5_000, body: 5_000 };

// Too small to matter, and includes the duration of the request itself.
const TOLERATED_MS = 30_000;

/** Sends a request without a key: any response shows that the service is reachable, and its clock. */
export async function requestWithoutKey({
  baseUrl,
  env,
  clock,
  signal,
  userAgent,
}: NetworkPath): Promise<Finding[]> {
  const transport = createTransport(env);
  try {
    const url = new URL(baseUrl);
    url.pathname = `${baseUrl.pathname.replace(/\/+$/, '')}/tenants/self`;
    const headers = { accept: 'application/json', 'user-agent': userAgent };
    const answer = await exchange(transport, { method: 'GET', url, headers, limits: LIMITS, signal });
    const now = clock.now();
    answer.discard();
    return [
      serviceFinding(answer.status, answer.header('location'), url),
      clockFinding(answer.header('date'), now),
    ];
  } finally {
    await transport.close();
  }
}

function serviceFinding(status: number, location: string | undefined, url: URL): Finding {
  const fix = 'Check the base URL: it should be the address of the API itself.';
  if (status === 401 || status === 403) return ok('service', `responds and requires a key (${status})`);
  if (status === 429) return warning('service', 'responds, but limits requests (429)', 'Wait a minute.');
  if (status >= 500)
    return failed(
      'service',
      `responds with ${status}`,
      'Try again later; the problem is with the service.',
      'server',
    );
  if (status >= 300 && status < 400) {
    const target =
      location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    const to = target === undefined ? '' : ` to ${displayHost(target)}`;
    return failed('service', `redirects${to} (${status}); redirects are not followed`, fix, 'bad_response');
  }
  return warning('service', `responds with ${status} without a key; expected 401`, fix);
}

function clockFinding(date: string | undefined, now: number): Finding {
  const service = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(service)) return skipped('clock', 'the service sends no date');
  const ahead = now - service;
  if (Math.abs(ahead) <= TOLERATED_MS) return ok('clock', "matches the service's");
  const found = `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} the service's`;
  return warning(
    'clock',
    found,
    "Set this machine's clock: svc uses the service's, but certificates are checked against yours.",
  );
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
