import { shownHost } from '../address.ts';
import { exchange } from '../http/exchange.ts';
import { createTransport } from '../http/transport.ts';
import { failed, type Finding, ok, skipped, warning } from './finding.ts';
import type { Way } from './network.ts';

// One request of a few hundred bytes.
const LIMITS = { connect: 5_000, headers: 5_000, idle: 5_000, body: 5_000 };

// A difference that nobody would notice, and the time that the request itself takes.
const TOLERATED_MS = 30_000;

/** Asks the service for something without a key: whatever it answers tells that it is there, and its time. */
export async function askWithoutKey({ baseUrl, env, clock, signal, userAgent }: Way): Promise<Finding[]> {
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
  const mend = 'Check the base URL: it should be the address of the API itself.';
  if (status === 401 || status === 403) return ok('service', `answers, and asks for a key (${status})`);
  if (status === 429) return warning('service', 'answers, but limits requests (429)', 'Wait a minute.');
  if (status >= 500)
    return failed(
      'service',
      `answers ${status}`,
      'Try again later; the fault is not on this side.',
      'server',
    );
  if (status >= 300 && status < 400) {
    const target =
      location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    const to = target === undefined ? '' : ` to ${shownHost(target)}`;
    return failed('service', `redirects${to} (${status}), which is not followed`, mend, 'bad_answer');
  }
  return warning('service', `answers ${status} without a key, where 401 was to be expected`, mend);
}

function clockFinding(date: string | undefined, now: number): Finding {
  const service = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(service)) return skipped('clock', 'the service does not tell its time');
  const ahead = now - service;
  if (Math.abs(ahead) <= TOLERATED_MS) return ok('clock', "agrees with the service's");
  const found = `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} the service's`;
  return warning(
    'clock',
    found,
    "Set this machine's clock. svc goes by the service's, but certificates go by yours.",
  );
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
