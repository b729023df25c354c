// Reads the entries of a shift from the service.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, typedCommand } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { isoTime, parseTime, SECOND_MS, utcTime, wholeSecond } from '../../cli/output/time.ts';
import { countText, formatPercent } from '../../cli/output/number.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import type { MissingText } from '../archive/archive-text.ts';
import { checkSubject, readManifest } from '../archive/manifest.ts';
import { countEntries, openArchive } from '../archive/open-archive.ts';
import { bucketOf, type Interval, LogCounts } from '../count.ts';
import { DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS, MIN_GAP_MS } from '../entry.ts';
import { filterWords, reportMatchCount } from '../filter-words.ts';
import { entityFilter, type EntryFilter, matches } from '../filter.ts';
import { type IntervalInput, intervalOf, type RetentionInput, retentionWords } from '../options.ts';
import { MalformedEntries } from '../malformed-entries.ts';
import type { OwnReads } from '../own-reads.ts';
import { requireKept } from '../read-list.ts';
import { serviceLogs } from '../read-range.ts';
import { ServiceInterval } from '../service-interval.ts';
import { lastEntries } from '../tail/last-entries.ts';
import { DeletedEntities, type DeletedEntity } from './deleted.ts';
import { countFindings, type Findings } from './findings.ts';
import { ChangeCounts, PAST_DAYS, pastOf, SeenValues } from './review.ts';

/** The actors of an archive in the 30 days before a shift. Other actors in the shift are new. */
interface PastActors {
  readonly seen: SeenValues;
  /** How many of the days are archived, and whether these are enough. */
  readonly days: number;
  readonly isLong: boolean;
  /** Fails if the entries of the shift are of another tenant. @throws SvcError `config` */
  readonly checkTenant: (tenantId: string | undefined) => void;
}

/** Reads who acted before a shift. @throws SvcError as `readManifest`, `config` for an archive of another service */
async function readPastActors(context: Context, dir: string, since: number): Promise<PastActors> {
  const store = await openArchive(context, dir);
  const bounds = { since: since - PAST_DAYS * DAY_MS, until: since };
  const manifest = await readManifest(store, bounds);
  checkSubject(store, manifest, { service: serviceOf(context) });
  const seen = new SeenValues('actor');
  const { segments, coverage } = manifest;
  const reading = { dir, label: 'archive', store, segments, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => seen.add(log, bucket, false) });
  const checkTenant = (tenantId: string | undefined): void => checkSubject(store, manifest, { tenantId });
  return { seen, ...pastOf(coverage.covered(), since), checkTenant };
}

/** What a shift shows beside its counts. No actor is called new without an archive. */
interface ShiftFindings extends Findings {
  /** The first thousand deletions. */
  readonly deleted: readonly DeletedEntity[];
}

/** Counts the entries of a shift, in any order and in constant memory. */
class ShiftCounts {
  readonly all = new LogCounts();
  readonly #past: PastActors | undefined;
  readonly #changes = new ChangeCounts();
  readonly #deleted = new DeletedEntities();

  constructor(past: PastActors | undefined) {
    this.#past = past;
  }

  add(log: Log): void {
    this.all.add(log);
    const at = parseTime(log.created_at);
    this.#changes.add(log, bucketOf(at));
    this.#deleted.add(log);
    if (at !== undefined) this.#past?.seen.add(log, bucketOf(at), true);
  }

  findings(): ShiftFindings {
    const past = this.#past;
    const rows = {
      ...this.#changes.rows(),
      new_actors: past?.isLong ? past.seen.news() : null,
      new_operations: null,
      past_days: past?.days ?? 0,
    };
    return { ...rows, ...countFindings(rows), deleted: this.#deleted.list() };
  }
}

/** The entries of the service in a time, as far as they were read. */
export interface Shift {
  readonly counts: LogCounts;
  readonly findings: ShiftFindings;
  /** Whether the actors of the shift were compared with an archive. */
  readonly hasPast: boolean;
  /** The requested time, and the part of it that was read: the newest one. */
  readonly requested: Interval;
  readonly interval: Interval;
  /** The time of the oldest entry that was read; infinite without any. */
  readonly oldest: number;
  /** The service's time at the end. */
  readonly now: number;
  readonly tenantId: string | undefined;
}

/** A page of entries, the least that a shift can read. */
const MIN_READ = 100;
/** The most entries to read without --max: a minute at the rate of the key. */
const MAX_READ = 20_000;
export type ShiftFilter = EntryFilter &
  IntervalInput &
  RetentionInput & { readonly max: number | undefined } & ShiftOptions;

interface ShiftOptions {
  readonly hideOwnReads: boolean | undefined;
  /** The archive whose actors are not new. */
  readonly archive: string | undefined;
  /** The file that a page of the shift is written to. */
  readonly html: string | undefined;
}

/**
 * Reads the service's entries of a time backwards, the newest first, because the service cannot filter by operation and may
 * have too many. Each is counted once even if pages shift meanwhile. `own` are the reads to hide.
 */
export async function readShift(context: Context, input: ShiftFilter, own: OwnReads | undefined): Promise<Shift> {
  // Times that contradict each other end the command before it needs a key.
  intervalOf(input, context.clock.now());
  const client = await context.client();
  const times = new ServiceInterval(client, input);
  await times.learn(client, entityFilter(input));
  const { until = Infinity, since = Math.min(until, times.now) - DAY_MS } = times.value;
  // The second in which the reading begins is not over: all of its entries are left to the next shift.
  const to = Math.max(since, Math.min(until, wholeSecond(Math.min(times.now, client.now()))));
  const past = input.archive === undefined ? undefined : await readPastActors(context, input.archive, since);
  const counts = new ShiftCounts(past);
  const malformed = new MalformedEntries();
  const seen = { read: 0, oldest: Infinity, tenantId: undefined as string | undefined };
  const live = context.progress.watching('logs');
  const count = (log: Log, at: number | undefined): void => {
    if (at !== undefined && (at < since || at >= to)) return;
    seen.read += 1;
    seen.oldest = Math.min(seen.oldest, at ?? Infinity);
    seen.tenantId ??= log.tenant_id ?? undefined;
    if (!matches(log, input) || own?.shows(log) === false) return;
    malformed.add(log);
    counts.add(log);
  };
  const back = await lastEntries(serviceLogs(client, entityFilter(input)), {
    count: Infinity,
    // A range may end in the middle of a page.
    mostRead: (input.max ?? MAX_READ) - MIN_READ + 1,
    ...wholeSeconds({ since, until: to }),
    overlapMs: DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    keep: (log) => {
      const at = parseTime(log.created_at);
      count(log, at);
      live?.update({ state: `${countText(seen.read, 'entry')} read${at === undefined ? '' : `, ${utcTime(at)}`}` });
      return false;
    },
    onTimeless: (log) => count(log, undefined),
  }).finally(() => live?.done());
  past?.checkTenant(seen.tenantId);
  malformed.warn(context);
  reportMatchCount(context, input, { shown: counts.all.entries, read: seen.read });
  return {
    counts: counts.all,
    findings: counts.findings(),
    hasPast: past !== undefined,
    requested: { since, until: to },
    interval: { since: Math.max(since, back.readFrom), until: to },
    oldest: seen.oldest,
    now: client.now(),
    tenantId: seen.tenantId,
  };
}

/** Returns a time in whole seconds, as the service takes it. */
export function wholeSeconds({ since, until }: Interval): Interval {
  return { since: wholeSecond(since), until: wholeSecond(until + SECOND_MS - 1) };
}

/** Returns which part of a shift was read, and its share of the time: undefined if all of it was. */
export function partText({ requested, interval }: Pick<Shift, 'requested' | 'interval'>): string | undefined {
  if (interval.since <= requested.since) return undefined;
  const share = formatPercent((interval.until - interval.since) / (requested.until - requested.since));
  return `read only ${intervalText(interval)} of ${intervalText(requested)} (${share})`;
}

/** Returns an interval in words, in UTC. */
export function intervalText({ since, until }: Interval): string {
  return `${utcTime(since)} to ${utcTime(until)}`;
}

/** Returns the part of a shift that was not read, or that the service no longer kept, and why. */
export function missingOf(shift: Shift, { retention }: RetentionInput): MissingText[] {
  const { requested, interval, oldest, now } = shift;
  const from = isoTime(requested.since);
  if (partText(shift) !== undefined) return [{ from, to: isoTime(interval.since), reason: 'not read' }];
  const edge = Math.min(now - (retention ?? DEFAULT_RETENTION_MS), oldest, requested.until);
  if (edge - requested.since < MIN_GAP_MS) return [];
  return [{ from, to: isoTime(edge), reason: 'older than the service keeps them' }];
}

/**
 * Reports what of a shift was not read, or is no longer kept, and the command for the rest.
 * @throws SvcError `entries_missing` with --strict
 */
export async function requireShift(context: Context, input: ShiftFilter, shift: Shift): Promise<void> {
  const { requested, interval, oldest, now } = shift;
  const part = partText(shift);
  if (part === undefined) {
    if (missingOf(shift, input).length === 0) return;
    return requireKept(context, requested, input, { more: false, oldest }, now);
  }
  const next = [
    'logs',
    'stats',
    ...option('--since', isoTime(requested.since)),
    ...option('--until', isoTime(interval.since)),
    ...filterWords(input),
    ...(input.hideOwnReads ? ['--hide-own-reads'] : []),
    ...option('--archive', input.archive),
    ...option('--max', input.max?.toString()),
    ...retentionWords(input),
    // The command for the rest must not replace the page of this part.
    ...option('--html', input.html === undefined ? undefined : '<file>'),
  ];
  if (input.strict)
    throw new SvcError('entries_missing', part, { hint: 'The rest is older, and was not counted. To read it:', next });
  const { notices, globals, system } = context;
  notices.warn(part);
  notices.note('for the rest');
  notices.command(typedCommand(next, globals, system));
}
