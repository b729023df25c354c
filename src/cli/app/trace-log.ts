import type { Clock, Environment } from '../../base/system.ts';
import type { Trace, TraceEvent } from '../../client/http/exchange.ts';
import type { Messages } from '../output/messages.ts';

/** Whether stderr is for a collector of logs: every line of it is a JSON object. */
export function isJsonLog(env: Environment): boolean {
  return env['SVC_DEBUG'] === 'json';
}

/** Reports the activity of the HTTP client to a collector of logs: each request, response, failure and pause as a JSON object. */
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
