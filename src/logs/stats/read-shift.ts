import type { Context } from '../../cli/app/command.ts';
import { countText, parseTime, SECOND_MS, utcTime, wholeSecond } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Client } from '../../client/api/client.ts';
import type { Log } from '../../schema/log.ts';
import type { EntryFilter } from '../entry-filter.ts';
import { DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS } from '../entry.ts';
import { matches, reportFiltered } from '../filter.ts';
import { beginNow } from '../follow/follow-logs.ts';
import { lastEntries } from '../follow/last-entries.ts';
import type { OwnReads } from '../follow/own-reads.ts';
import { entityFilter, intervalOf, type IntervalInput, type RetentionInput } from '../options.ts';
import { type LogSource, serviceLogs } from '../read-range.ts';
import { ServiceInterval } from '../service-interval.ts';
import { readPastActors } from './past-actors.ts';
import { type Shift, ShiftCounts } from './shift-counts.ts';

/** A page of entries, the least that a shift can read. */
const LEAST_READ = 100;
/** The most entries to read without --max: a minute at the rate of the key. */
const MOST_READ = 20_000;
export type ShiftFilter = EntryFilter &
  IntervalInput &
  RetentionInput & { readonly max: number | undefined } & ShiftOptions;

interface ShiftOptions {
  readonly hideOwnReads: boolean | undefined;
  /** The archive with whose actors those of the shift are compared. */
  readonly archive: string | undefined;
  /** The file that a page of the shift is written to. */
  readonly html: string | undefined;
}

/**
 * Reads the service's entries of a time backwards, the newest first, because the service cannot filter by operation and may
 * have too many. Each is counted once even if pages shift meanwhile. `own` are the reads to count apart or to hide.
 */
export async function readShift(context: Context, input: ShiftFilter, own: OwnReads | undefined): Promise<Shift> {
  const { client, times, begin, past } = await openShift(context, input);
  const counts = new ShiftCounts({ own, hidesOwn: input.hideOwnReads === true, past });
  const seen = { read: 0, oldest: Infinity, tenantId: undefined as string | undefined };
  const live = context.progress.watching('logs');
  const count = (log: Log, at: number | undefined): void => {
    if (at !== undefined && (at < begin() || at >= (times.value.until ?? Infinity))) return;
    seen.read += 1;
    seen.oldest = Math.min(seen.oldest, at ?? Infinity);
    seen.tenantId ??= log.tenant_id ?? undefined;
    if (matches(log, input)) counts.add(log);
  };
  const source = settling(times, serviceLogs(client, entityFilter(input)));
  const reading = lastEntries(source, {
    count: Infinity,
    // A range may end in the middle of a page.
    mostRead: (input.max ?? MOST_READ) - LEAST_READ + 1,
    // The first response may show other times than this machine's clock.
    get since() {
      return wholeSecond(begin());
    },
    get until() {
      const { until } = times.value;
      return until === undefined ? undefined : wholeSecond(until + SECOND_MS - 1);
    },
    overlapMs: DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    keep: (log) => {
      const at = parseTime(log.created_at);
      count(log, at);
      live?.update({ state: `${countText(seen.read, 'entry')} read${at === undefined ? '' : `, ${utcTime(at)}`}` });
      return false;
    },
    onTimeless: (log) => count(log, undefined),
  }).finally(() => live?.fail());
  const back = await ifBegun(reading, times, () => settleAgain(times, client, input));
  past?.checkTenant(seen.tenantId);
  reportFiltered(context, input, { shown: counts.all.entries, read: seen.read });
  return {
    counts: counts.all,
    findings: counts.findings(),
    own: counts.share(),
    hasPast: past !== undefined,
    ...rangesOf(begin(), times.value.until, { now: client.now(), readFrom: back.readFrom }),
    oldest: seen.oldest,
    tenantId: seen.tenantId,
  };
}

/** Returns the range that was requested, and the one that was read. */
function rangesOf(
  since: number,
  until: number | undefined,
  { now, readFrom }: Readonly<Record<'now' | 'readFrom', number>>,
): Pick<Shift, 'requested' | 'interval' | 'now'> {
  const to = until ?? now;
  return { requested: { since, until: to }, interval: { since: Math.max(since, readFrom), until: to }, now };
}

/** Opens what a shift is read from, and its times. `begin` returns its beginning. */
async function openShift(context: Context, input: ShiftFilter) {
  // Times that contradict each other end the command before it needs a key.
  intervalOf(input, context.clock.now());
  const client = await context.client();
  const times = new ServiceInterval(client, input);
  const begin = (): number => times.value.since ?? (times.value.until ?? times.now) - DAY_MS;
  // The archive is read up to the shift, and a shift that seems to be in the future is not read at all.
  if (input.archive !== undefined || begin() > client.now()) {
    await settleAgain(times, client, input);
  }
  const past = input.archive === undefined ? undefined : await readPastActors(context, input.archive, begin());
  return { client, times, begin, past };
}

/** Awaits the reading of a shift. Where the range begins after the service's time, every other error is a consequence of that. */
async function ifBegun<T>(reading: Promise<T>, times: ServiceInterval, settle: () => Promise<void>): Promise<T> {
  try {
    return await reading;
  } finally {
    if (times.isInDoubt) await settle();
    times.requireBegun();
  }
}

/** Resolves the times of a shift by a request that only learns the service's time. */
async function settleAgain(times: ServiceInterval, client: Client, input: ShiftFilter): Promise<void> {
  await beginNow(client, entityFilter(input), (now) => now);
  times.settle();
}

/** Resolves the times of a shift when the first pages show the service's time. */
function settling(times: ServiceInterval, source: LogSource): LogSource {
  return {
    ...source,
    async *pages(range, pageSize) {
      for await (const page of source.pages(range, pageSize)) {
        times.settle();
        yield page;
      }
    },
  };
}
