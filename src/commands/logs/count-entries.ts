import type { Context } from '../../app/command.ts';
import type { Input } from '../../app/parameter.ts';
import { readManifest } from '../../logs/archive/manifest.ts';
import { readSegment } from '../../logs/archive/segment.ts';
import { sideBySide } from '../../logs/archive/store.ts';
import { beginAt } from '../../logs/checkpoint.ts';
import { type Interval, LogCounts, type Notes, StatsBackfill } from '../../logs/count.ts';
import { serviceLogs, type TailEvent, wholeSecond } from '../../logs/entry.ts';
import { Tail } from '../../logs/follow.ts';
import { formatNumber, isoTime, parseTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import { ByteProgress } from '../au/options.ts';
import { openArchive } from './archive-location.ts';
import {
  type ENTITY_PARAMETERS,
  entityFilter,
  type ENTRY_PARAMETERS,
  type INTERVAL_PARAMETERS,
  intervalOf,
  isAbout,
  matches,
  reportFiltered,
} from './entry-filter.ts';
import { reportGaps } from './odd-entries.ts';

const DAY_MS = 86_400_000;
const OVERLAP_MS = 120_000;
const SIDE_BY_SIDE = 3;
/** What retention takes away while the first entries are read is no news. */
const LEAST_GAP_MS = 60_000;

type CountInput = Input<typeof ENTITY_PARAMETERS & typeof ENTRY_PARAMETERS & typeof INTERVAL_PARAMETERS>;

/** What was counted, of which stretch of time, and what an archive's past says of it. */
export interface Counted {
  readonly counts: LogCounts;
  readonly interval: Interval;
  readonly notes?: Notes | undefined;
}

/** Counts what the service has, each entry once however the log moves meanwhile, and says what it no longer had. */
export async function countService(context: Context, input: CountInput): Promise<Counted> {
  const now = context.clock.now();
  const { since: asked, until } = intervalOf(input, now);
  const since = asked ?? (until ?? now) - DAY_MS;
  const client = await context.client();
  const counts = new LogCounts();
  const tail = new Tail(serviceLogs(client, entityFilter(input)), {
    begin: beginAt(wholeSecond(since)),
    overlapMs: OVERLAP_MS,
    retentionMs: DAY_MS,
    untilPresent: true,
    onEvent: (event) => reportLost(context, event),
  });
  const live = context.system.stderr.isTTY === true ? context.progress.waiting('logs') : undefined;
  const isWithin = (at: number | undefined): boolean =>
    at === undefined || (at >= since && at < (until ?? Infinity));
  let read = 0;
  try {
    for await (const logs of tail.batches()) {
      for (const log of logs) {
        if (!isWithin(parseTime(log.created_at))) continue;
        read += 1;
        if (matches(log, input)) counts.add(log);
      }
      live?.update({ state: `${formatNumber(read)} entries read` });
      if (until !== undefined && tail.standing().settled >= until) break;
    }
  } finally {
    live?.fail();
  }
  reportFiltered(context, input, { shown: counts.entries, read });
  return { counts, interval: { since, until: until ?? client.now() } };
}

function reportLost({ notices }: Context, event: TailEvent): void {
  if (event.kind !== 'gap' || event.to - event.from < LEAST_GAP_MS) return;
  notices.warn(
    `entries may be missing from ${isoTime(event.from) ?? ''} to ${isoTime(event.to) ?? ''}: older than the service keeps them`,
  );
}

/** Counts what an archive has, and holds it against what it has from before. @throws SvcError as `readManifest` */
export async function countArchive(context: Context, input: CountInput, dir: string): Promise<Counted> {
  const now = context.clock.now();
  const asked = intervalOf(input, now);
  const store = await openArchive(context, dir);
  const manifest = await readManifest(store, { until: asked.until });
  const covered = manifest.coverage.covered();
  const end = covered.at(-1)?.to ?? now;
  const until = asked.until ?? (end > (asked.since ?? -Infinity) ? end : now);
  const interval = { since: asked.since ?? until - DAY_MS, until };
  reportGaps(context, manifest, interval, "'svc logs archive' brings it up to date");
  const counts = new LogCounts();
  const past = new StatsBackfill(interval, covered);
  if (!past.isLong) {
    context.notices.note(
      `the archive holds less than 7 days before ${isoTime(interval.since) ?? ''}: too little to tell what is new or unusual`,
    );
  }
  const isCounted = (log: Log): boolean => isAbout(log, input) && matches(log, input);
  const progress = new ByteProgress(context, 'stats');
  const total = manifest.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const options = {
    signal: context.signal,
    onBytes: (bytes: number) => progress.update((done += bytes), total),
  };
  try {
    const reading = sideBySide(manifest.segments, SIDE_BY_SIDE, async (segment) => {
      for await (const batch of readSegment(store, segment, options))
        for (const log of batch) take(log, isCounted(log), { counts, past, interval });
      return segment.entries;
    });
    let read = 0;
    for await (const entries of reading) read += entries;
    progress.done();
    context.notices.debug(`read ${formatNumber(read)} entries of the archive`);
  } finally {
    progress.stop();
  }
  return { counts, interval, notes: past };
}

function take(
  log: Log,
  isCounted: boolean,
  { counts, past, interval }: { counts: LogCounts; past: StatsBackfill; interval: Interval },
): void {
  const at = parseTime(log.created_at);
  if (at === undefined || at >= interval.until) return;
  past.add(log, at, isCounted);
  if (isCounted && at >= interval.since) counts.add(log);
}
