import type { Trace, TraceEvent } from '../http/trace.ts';
import { formatDuration } from '../render/time.ts';
import type { Notices } from '../terminal/notices.ts';

// Shorter pauses are nobody's business.
const WORTH_TELLING_MS = 3_000;

/** Tells what the HTTP core does: every exchange with `--debug`, long pauses always. */
export function traceTo(notices: Notices): Trace {
  return (event) => {
    if (event.kind === 'wait') tellPause(notices, event);
    else if (notices.shows('debug')) notices.debug(line(event));
  };
}

function tellPause(notices: Notices, { why, ms }: Extract<TraceEvent, { kind: 'wait' }>): void {
  const reason = {
    retry: 'the service did not answer well',
    'rate limit': 'the service limits requests',
    pacing: 'keeping under the rate limit',
  };
  const text = `${reason[why]}: next request in ${formatDuration(ms)}`;
  if (ms < WORTH_TELLING_MS) notices.verbose(text);
  else notices.note(text);
}

function line(event: Exclude<TraceEvent, { kind: 'wait' }>): string {
  const target = `${event.method} ${event.url.href}`;
  switch (event.kind) {
    case 'request':
      return `> ${target}${event.attempt === 0 ? '' : ` (attempt ${event.attempt + 1})`}`;
    case 'answer':
      return `< ${event.status} ${target} in ${event.ms} ms${event.requestId === undefined ? '' : `, request id ${event.requestId}`}`;
    case 'failure':
      return `x ${target} after ${event.ms} ms: ${event.reason}`;
  }
}
