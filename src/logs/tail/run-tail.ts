// Runs `svc logs tail` and `svc logs -f`.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { withLock } from '../../base/files/lock.ts';
import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { listPrinter, type ListPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { isoTime, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { isLoopback } from '../../schema/address.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorNames } from '../actor.ts';
import {
  DEFAULT_OVERLAP_MS,
  DEFAULT_RETENTION_MS,
  isBeforeFirst,
  requireShortOverlap,
  type TailPosition,
} from '../entry.ts';
import { entityFilter, filterOf, matches, reportUnmatchedFilters } from '../filter.ts';
import { actorNames, firstRequest, hidesOwnReads } from '../options.ts';
import { openShipping, type Shipping } from '../otlp/ship.ts';
import { type OwnReads, ownReadsToHide } from '../own-reads.ts';
import { viewWith } from '../view.ts';
import { workAlone } from '../work-alone.ts';
import type { Subject } from './checkpoint.ts';
import type { Tail, TailOptions } from './follow.ts';
import type { LastEntries } from './last-entries.ts';
import { TailNotices } from './notices.ts';
import { endsAtPresent, positionBefore, readLast, resumeCommands, type TailFilter, type TailInput } from './start.ts';

/** Returns the first request of a tail, for `--curl`. */
export async function tailRequest(context: Context, input: TailInput): Promise<PreviewRequest> {
  checkInput(context, input);
  const now = context.clock.now();
  if (input.last === undefined)
    return firstRequest({ ...entityFilter(input), startDate: isoTime(input.since?.(now) ?? now) });
  const { firstRange } = await import('./last-entries.ts');
  const { from, to } = firstRange(now);
  return firstRequest({ ...entityFilter(input), startDate: isoTime(from), endDate: isoTime(to) });
}

/** Runs `svc logs tail` and `svc logs -f`. */
export async function runTail(context: Context, typed: TailInput): Promise<number> {
  checkInput(context, typed);
  // Opening the printer checks --fields before the first request.
  const actors = typed.to === undefined ? actorNames(context) : undefined;
  const printNamed = await listPrinter(context, viewWith(context, actors));
  const print: ListPrinter<Log> = (batches) => printNamed(actors?.learned(batches) ?? batches);
  const input = await filterOf(context, typed);
  const subject = { service: serviceOf(context), entityType: input.entityType, entityId: input.entityId };
  const file = input.checkpoint === undefined ? undefined : resolvePath(context, input.checkpoint);
  const work = (): Promise<number> => follow(context, input, { subject, file, actors }, print);
  if (file === undefined) return work();
  const { system, clock, signal } = context;
  const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), clock, signal };
  // A lock from before a restart is taken over: at worst two tails run. They may repeat entries but lose none, because each saves
  // only what it has printed.
  const options = { waitMs: 0, what: `the checkpoint ${file}`, endsAtRestart: true };
  return workAlone((alone) => withLock(`${file}.lock`, host, alone, options), work);
}

interface Followed {
  readonly subject: Subject;
  /** The file of the checkpoint. */
  readonly file: string | undefined;
  readonly actors: ActorNames | undefined;
}

async function follow(
  context: Context,
  input: TailFilter,
  { subject: log, file, actors }: Followed,
  print: ListPrinter<Log>,
): Promise<number> {
  const { openCheckpoint, writeCheckpoint } = await import('./checkpoint.ts');
  const { client, kept, subject } = await openCheckpoint(context, log, file);
  const own = await ownReadsOf(context, input);
  const notices = new TailNotices(context, own && { own, actors, isDefault: !input.hideOwnReads });
  const onEvent = notices.show.bind(notices);
  const shipping = input.to && (await openShipping(context, input.to, input.for));
  const { begin, last } = await beginningOf(context, client, input, { kept, own, onEvent });
  let resumeAt = last === undefined ? begin : positionBefore(last);
  // The checkpoint exists from the start, because the printed resume command names it however soon the tail ends.
  if (file !== undefined && kept === undefined) writeCheckpoint(file, subject, resumeAt);
  const onPosition = (position: TailPosition): void => {
    if (file !== undefined) writeCheckpoint(file, subject, position);
    resumeAt = position;
  };
  const tailing = await openTail(context, client, input, { begin, kept, last, own, shipping, onEvent, onPosition });
  const hasRead = (): boolean => last !== undefined || tailing.hasRead;
  reportStart(context, input, kept);
  try {
    const deliver = shipping?.deliver ?? print;
    await deliver(notices.counted(batchesOf(context, input, { last, tailing, onPosition })));
    onPosition(tailing.position());
  } catch (error) {
    if (!context.signal.aborted) throw error;
  } finally {
    const keep = (path: string): void => writeCheckpoint(path, subject, resumeAt);
    notices.end(resumeAt, hasRead(), () => resumeCommands(context, input, resumeAt, keep));
  }
  if (!context.signal.aborted) await requireProof(context, input, notices, hasRead());
  return exitCode(context, input, notices.gaps, shipping?.rejected() ?? 0);
}

/** Finds where a tail begins: at its checkpoint, after the last entries, which are read then, or at a time. */
async function beginningOf(
  context: Context,
  client: Client,
  input: TailFilter,
  { kept, own, onEvent }: Pick<Opened, 'kept' | 'own' | 'onEvent'>,
): Promise<Pick<Opened, 'begin' | 'last'>> {
  const last = kept === undefined ? await readLast(context, client, input, { own, onEvent }) : undefined;
  const known = kept ?? last?.position;
  if (known !== undefined) return { begin: known, last };
  const { beginNow } = await import('./follow-logs.ts');
  return { begin: await beginNow(client, entityFilter(input), (now) => input.since?.(now) ?? now), last };
}

/** Yields the last entries, if they were read, and then those that follow. */
async function* batchesOf(
  context: Context,
  input: TailInput,
  { last, tailing, onPosition }: Pick<Opened, 'last' | 'onPosition'> & { readonly tailing: Tail },
): AsyncGenerator<readonly Log[]> {
  if (last !== undefined) {
    yield last.logs;
    onPosition?.(last.position);
    if (endsAtPresent(context, input) || last.logs.length === input.max) return;
  }
  yield* tailing.batches();
}

/** Finds the reads to hide, by default on a terminal; undefined if none are hidden. */
async function ownReadsOf(context: Context, input: TailFilter): Promise<OwnReads | undefined> {
  if (!input.hideOwnReads && !hidesOwnReads(context.out.isTerminal, input)) return undefined;
  return ownReadsToHide(context, input.hideOwnReads === true);
}

/** Fails if the tail ended during an outage, or its filter is mistyped: then finding no entries proves nothing. */
async function requireProof(
  context: Context,
  input: TailFilter,
  { outage }: TailNotices,
  hasRead: boolean,
): Promise<void> {
  if (outage === undefined && hasRead) return reportUnmatchedFilters(context, input);
  const words = outage === undefined ? 'before anything was read' : `during an outage: ${outage}`;
  throw new SvcError('timeout', `the tail ended ${words}`, {
    hint: 'The service still has what was not read: a tail that resumes reads it.',
    retryable: true,
  });
}

interface Opened extends Pick<TailOptions, 'begin' | 'onEvent' | 'onPosition'> {
  readonly shipping: Shipping | undefined;
  readonly kept: TailPosition | undefined;
  readonly last: LastEntries | undefined;
  readonly own: OwnReads | undefined;
}

async function openTail(context: Context, client: Client, input: TailFilter, opened: Opened): Promise<Tail> {
  const { shipping, kept, last, own, onEvent, ...options } = opened;
  const [{ Tail: Following }, { serviceLogs }] = await Promise.all([import('./follow.ts'), import('../read-range.ts')]);
  return new Following(serviceLogs(client, entityFilter(input)), {
    ...options,
    onEvent: kept === undefined && last === undefined ? exceptBeforeFirst(options.begin, onEvent) : onEvent,
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    intervalMs: input.interval,
    forMs: input.for,
    idleMs: input.idleExit,
    limit: input.max === undefined ? undefined : input.max - (last?.logs.length ?? 0),
    untilPresent: endsAtPresent(context, input),
    requestsBefore: last?.requests,
    batchSize: shipping?.batchSize,
    onPass: shipping?.identify,
    keep: (log) => matches(log, input) && (own?.shows(log) ?? true),
  });
}

function exceptBeforeFirst(begin: TailPosition, onEvent: TailOptions['onEvent']): TailOptions['onEvent'] {
  return (event) => {
    if (event.kind !== 'gap' || !isBeforeFirst(begin, event)) onEvent?.(event);
  };
}

// A command that runs repeatedly keeps its `--since`, which applies only to the first run.
function reportStart({ notices }: Context, input: TailInput, kept: TailPosition | undefined) {
  if (kept) notices.note(`resuming from the checkpoint: read up to ${utcTime(kept.readTo)}${ignoredText(input)}`);
  if (input.to && input.checkpoint === undefined)
    notices.warn('without --checkpoint a crash loses the position: entries are then sent again or missed');
}

function ignoredText({ since, last }: TailInput): string {
  if (since !== undefined) return ' (--since ignored)';
  return last === undefined ? '' : ' (--last ignored)';
}

// An interruption is the normal end of a tail: it is no error, but the exit code names the signal.
function exitCode({ signal }: Context, { strict }: TailInput, gaps: number, rejected: number): number {
  if (signal.aborted) {
    if (isSvcError(signal.reason, 'hangup', 'interrupted', 'terminated')) return signal.reason.exitCode;
    throw signal.reason;
  }
  if (strict && gaps > 0)
    throw new SvcError('entries_missing', 'entries may be missing: the service no longer had them', {
      hint: 'Run the tail at least once within the retention of the logs.',
    });
  if (rejected > 0)
    throw new SvcError('entries_missing', `the collector permanently rejected ${countText(rejected, 'entry')}`, {
      hint: 'The reasons of the collector are above. To get these entries, read them again with another tail or from an archive.',
    });
  return 0;
}

const MIN_MS = 1_000;

/**
 * Checks --overlap, --max and --interval. A short interval is allowed only for a service on this machine: elsewhere it would use
 * up the key's requests.
 * @throws SvcError `usage`
 */
function checkInput({ settings }: Context, input: TailInput): void {
  const { interval: intervalMs, last = 0, max = Infinity } = input;
  requireShortOverlap(input.overlap ?? DEFAULT_OVERLAP_MS, input.retention ?? DEFAULT_RETENTION_MS);
  if (max < last) throw new SvcError('usage', '--max must not be less than --last', { hint: 'Leave one of them out.' });
  const url = settings.baseUrl?.value;
  if (intervalMs === undefined || intervalMs >= MIN_MS || url === undefined || isLoopback(url)) return;
  throw new SvcError('usage', '--interval must be 1s or longer', {
    hint: 'A key has 200 requests a minute for everything; without --interval the pace adapts.',
  });
}
