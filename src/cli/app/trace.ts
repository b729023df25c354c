import type { Clock, Environment } from '../../base/system.ts';
import type { Trace, TraceEvent } from '../../client/http/trace.ts';
import type { Messages } from '../output/messages.ts';
import { formatDuration } from '../output/time.ts';

const MIN_REPORTED_PAUSE_MS = 3_000;
// Long work at the rate limit pauses often, so pauses are reported at most once per minute.
const PACING_REPORT_INTERVAL_MS = 60_000;

const PAUSE_REASONS = {
  retry: 'the service returned an error, retrying',
  'rate limit': 'rate limited, retrying',
  pacing: 'staying under the rate limit, next request',
  store: 'the object store returned an error, retrying',
};

type Pause = Extract<TraceEvent, { kind: 'wait' }>;

/**
 * Reports the activity of the HTTP client: every exchange with `--debug`, and long pauses always. A pause shared by
 * several requests is reported once.
 */
export function traceTo(notices: Messages, clock: Pick<Clock, 'now'>): Trace {
  const quietUntil = new Map<Pause['why'], number>();
  const isNews = ({ why, ms }: Pause): boolean => {
    const now = clock.now();
    if (now < (quietUntil.get(why) ?? -Infinity)) return false;
    if (why !== 'retry' && why !== 'store')
      quietUntil.set(why, now + Math.max(ms, why === 'pacing' ? PACING_REPORT_INTERVAL_MS : 0));
    return true;
  };
  return (event) => {
    if (event.kind !== 'wait') {
      if (notices.shows('debug')) notices.debug(describeEvent(event));
      return;
    }
    const reason = event.noResponse === undefined ? PAUSE_REASONS[event.why] : `${event.noResponse}, retrying`;
    const text = `${reason} in ${formatDuration(event.ms)}`;
    if (event.ms < MIN_REPORTED_PAUSE_MS || !isNews(event)) notices.debug(text);
    else notices.note(text);
  };
}

function describeEvent(event: Exclude<TraceEvent, { kind: 'wait' }>): string {
  if (event.kind === 'done without') return `not needed, and left out: ${event.reason}`;
  const target = `${event.method} ${event.url.href}`;
  switch (event.kind) {
    case 'request':
      return `> ${target}${event.attempt === 0 ? '' : ` (attempt ${event.attempt + 1})`}`;
    case 'response':
      return `< ${event.status} ${target} in ${event.ms} ms${event.requestId === undefined ? '' : `, request id ${event.requestId}`}`;
    case 'failure':
      return `x ${target} after ${event.ms} ms: ${event.reason}`;
  }
}

/** Whether stderr is for a log collector, so that every line must be a JSON object. */
export function isJsonLog(env: Environment): boolean {
  return env['SVC_DEBUG'] === 'json';
}

/** Reports each request, response, failure and pause of the HTTP client as a JSON object, for a log collector. */
export function traceAsJson(notices: Messages, clock: Pick<Clock, 'now'>): Trace {
  return (event) => notices.log({ time: new Date(clock.now()).toISOString(), level: 'debug', ...membersOf(event) });
}

function membersOf(event: TraceEvent): Readonly<Record<string, unknown>> {
  switch (event.kind) {
    case 'request':
      return { event: 'request', method: event.method, url: event.url.href, attempt: event.attempt + 1 };
    case 'response': {
      const { method, url, status, ms, requestId } = event;
      return { event: 'response', method, url: url.href, status, ms, request_id: requestId };
    }
    case 'failure':
      return { event: 'failure', method: event.method, url: event.url.href, ms: event.ms, reason: event.reason };
    case 'wait':
      return { event: 'wait', why: event.why, ms: event.ms, no_response: event.noResponse };
    case 'done without':
      return { event: 'done without', reason: event.reason };
  }
}
