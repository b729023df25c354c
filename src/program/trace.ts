import type { Clock } from '../clock.ts';
import type { Trace, TraceEvent } from '../http/trace.ts';
import { formatDuration } from '../render/time.ts';
import type { Notices } from '../terminal/notices.ts';

// Shorter pauses are nobody's business.
const WORTH_TELLING_MS = 3_000;
// Long work at the rate limit pauses again and again, and that is as it should be.
const PACING_AGAIN_MS = 60_000;

type Pause = Extract<TraceEvent, { kind: 'wait' }>;

/** Tells what the HTTP core does: every exchange with `--debug`, long pauses always, but one that many share once. */
export function traceTo(notices: Notices, clock: Pick<Clock, 'now'>): Trace {
  const quietUntil = new Map<Pause['why'], number>();
  const isNews = ({ why, ms }: Pause): boolean => {
    const now = clock.now();
    if (now < (quietUntil.get(why) ?? -Infinity)) return false;
    if (why !== 'retry' && why !== 'store')
      quietUntil.set(why, now + Math.max(ms, why === 'pacing' ? PACING_AGAIN_MS : 0));
    return true;
  };
  return (event) => {
    if (event.kind === 'wait') tellPause(notices, event, isNews);
    else if (notices.shows('debug')) notices.debug(line(event));
  };
}

function tellPause(notices: Notices, pause: Pause, isNews: (pause: Pause) => boolean): void {
  const { why, ms } = pause;
  const reason = {
    retry: 'the service did not answer well',
    'rate limit': 'the service limits requests',
    pacing: 'keeping under the rate limit',
    store: 'the store did not answer well',
  };
  const text = `${reason[why]}: next request in ${formatDuration(ms)}`;
  if (ms < WORTH_TELLING_MS || !isNews(pause)) notices.verbose(text);
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
