import { setMaxListeners } from 'node:events';
import { operatorOf, operatorText } from '../../base/account.ts';
import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { moment } from '../../cli/app/moment.ts';
import { conflicting, flag, type Input, optionalArgument, rare, value } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { positiveDuration, text } from '../../cli/app/value-parsers.ts';
import { formatDuration, isoTime, utcTime } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { Store } from '../../client/store/store.ts';
import { sumOfMonths } from '../archive/archive-text.ts';
import type { ArchiveRun } from '../archive/archive.ts';
import type { LostFiles } from '../archive/missing.ts';
import { ArchiveNotices } from '../archive/notices.ts';
import { openArchive, wholeMonths } from '../archive/open-archive.ts';
import { checkMargin, isoRange, marginHours, marginMs } from '../archive/records/coverage.ts';
import type { DroppedMonth } from '../archive/records/record.ts';
import type { Dropped, Retention } from '../archive/retention.ts';
import { durationText, OVERLAP_PARAMETER, RETENTION_PARAMETERS, retentionWords } from '../options.ts';
import { gapSentence, rangeText, type Sentence, sentencesText } from '../sentences.ts';

const parameters = {
  dir: optionalArgument('[dir]', 'the directory of the archive; created if it does not exist'),
  to: value('--to <destination>', 'an S3 bucket instead: s3://bucket/prefix', text),
  since: value(
    '--since <time>',
    'start of a new archive, such as 30d (default: all that the service still has)',
    moment,
  ),
  follow: flag('--follow', 'keep running, and keep the archive up to date'),
  every: rare(value('--every <duration>', 'longest time between two commits (default 15m)', positiveDuration)),
  overlap: OVERLAP_PARAMETER,
  retentionMargin: value(
    '--retention-margin <duration>',
    'exit with 10 when less time than this was left before entries were lost',
    positiveDuration,
  ),
  keep: value(
    '--keep <months>',
    'drop whole months that are older than the newest entry by 13M or 2y, so that a quiet log is kept longer (default: keep all)',
    wholeMonths,
  ),
  failOnCardNumber: conflicting(
    ['follow'],
    flag('--fail-on-card-number', 'archive all, exit with 13 for card numbers'),
  ),
  dryRun: flag('--dry-run', 'with --keep: only show what would be dropped'),
  ...RETENTION_PARAMETERS,
} as const;

type ArchiveInput = Input<typeof parameters>;

// Commits are rare, because each stores the hashes of two minutes of entries, which are many on a busy log.
const DEFAULT_EVERY_MS = 900_000;

const SUBJECT = ['archive', 'service', 'tenant_id'] as const;
const COUNTS = ['entries', 'late', 'timeless', 'raw', 'card_numbers', 'segments'] as const;
const HOURS = ['hours_left_before', 'hours_left'] as const;
const DROPPED = ['dropped', 'dropped.before', 'dropped.segments', 'dropped.entries', 'dropped.bytes'] as const;

const LOST = ['missing_files', 'changed_files'] as const;

const archiveView: View<ArchiveSummary> = {
  name: 'archive run',
  fields: [...SUBJECT, ...COUNTS, 'read_from', 'read_to', 'gaps', ...HOURS, 'record', 'sha256', ...LOST, ...DROPPED],
  columns: [
    ...simpleColumns({ archive: 'id', sha256: 'id', read_from: 'time', read_to: 'time' }),
    ...[...COUNTS, ...HOURS, 'record'].map((path) => ({ path, kind: 'number' }) as const),
  ],
};

const droppedView: View<DroppedMonth> = {
  name: 'month to drop',
  fields: ['month', 'segments', 'entries', 'bytes'],
  columns: simpleColumns({ month: 'id', segments: 'number', entries: 'number', bytes: 'number' }),
};

export const archive = defineCommand({
  description:
    'Adds what is new since the last run, each entry once, and stops. Safe to run from cron, to kill and to run twice. The archive contains all logs of one tenant, one folder per day, as gzip files of JSON lines; a chained manifest reveals any later change.',
  details: 'What --keep drops is recorded in the manifest.',
  examples: [
    ['svc logs archive audit', 'create an archive, or update it, every hour'],
    [
      'svc logs archive audit --retention-margin 12h --strict --quiet > /dev/null',
      'for cron: exit code 10 when less than the margin was left, 14 when entries are missing',
    ],
    [
      'svc logs archive --to s3://audit-logs/vault',
      'in a bucket, with credentials and endpoint from AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL_S3 …',
    ],
    ['svc logs archive audit --keep 13M --dry-run', 'what a retention of thirteen months would drop'],
    ['svc logs archive audit --follow', 'as a service that stops cleanly on a signal'],
  ],
  permissions: ['log:read', 'tenant:read'],
  exitCodes: [
    [6, 'another machine archived at the same time'],
    [10, 'less than --retention-margin was left'],
    [11, 'another process is at work on the archive'],
    12,
    [13, 'entries have card numbers (with --fail-on-card-number)'],
    [14, 'entries are missing, or the clocks are too far apart to archive or drop all (--strict)'],
    130,
    143,
  ],
  fields: archiveView.fields,
  parameters,
  async run(context, input) {
    const location = locationOf(input);
    const print = await recordPrinter(context, archiveView);
    const [{ runArchive }, { rememberArchive }, { Retention }, defaults] = await Promise.all([
      import('../archive/archive.ts'),
      import('../archive/place.ts'),
      import('../archive/retention.ts'),
      import('../entry.ts'),
    ]);
    const grace = graceOf(context);
    const store = await openArchive(context, location, { signal: grace.signal });
    if (input.dryRun) return showOld(context, store, input.keep);
    const service = serviceOf(context);
    const { keep, retention: retentionMs = defaults.DEFAULT_RETENTION_MS } = input;
    const notices = new ArchiveNotices(context);
    const retention = keep === undefined ? undefined : new Retention(keep, byOf(context), ...warningsOf(context));
    const run = await runArchive(store, () => context.client(), {
      service,
      since: input.since,
      follow: input.follow,
      everyMs: input.every ?? DEFAULT_EVERY_MS,
      overlapMs: input.overlap ?? defaults.DEFAULT_OVERLAP_MS,
      retentionMs,
      retention,
      onNew: () => requireNew(context, store, input, retentionMs),
      onBegin: (begin) => {
        grace.begin();
        rememberArchive(context, store);
        notices.begin(begin, input.since?.(begin.now));
      },
      onDamage: ({ message }) => context.notices.warn(message),
      onEvent: (event) => notices.show(event),
      onCommit: (written) => notices.committed(written),
      onRestored: (paths) => notices.restored(paths),
      onLost: input.follow ? (lost) => context.notices.warn(lostText(lost)) : undefined,
    });
    notices.end(run.written);
    if (run.unprovenMs > 0 && run.endedBy === undefined) context.notices.warn(unprovenText(run));
    const marginBeforeMs = marginMs(run.readTo, retentionMs, run.now);
    const hours = {
      hours_left_before: run.isNew ? null : marginHours(marginBeforeMs),
      hours_left: marginHours(marginMs(run.archivedTo, retentionMs, run.endedAt)),
    };
    const summary = summaryOf(run, { archive: store.name, service }, hours, retention?.dropped);
    if (isDrawn(context)) await context.out.write(summaryText(context, run, summary));
    else await print(summary);
    return exitCodeOf(run, input, { archive: store.name, marginBeforeMs, retention });
  },
});

/** Returns what warns of clocks that are apart, and of a failure to drop old segments. */
function warningsOf({ notices }: Context): [apart: (ms: number) => void, failure: (error: SvcError) => void] {
  return [(apartMs) => notices.warn(clocksApart(apartMs)), ({ message }) => notices.warn(`--keep: ${message}`)];
}

function byOf({ system }: Context): string {
  return operatorText(operatorOf(system));
}

/**
 * Checks that a new archive is in no other one, and that no archive of this machine is gone, unless the operator says when a
 * new one begins.
 * @throws SvcError `usage`, `config`
 */
async function requireNew(context: Context, store: Store, input: ArchiveInput, retentionMs: number): Promise<void> {
  const { requireOutsideOthers, requireUnknownArchive } = await import('../archive/place.ts');
  await requireOutsideOthers(context, store);
  if (input.since !== undefined) return;
  const options = [...option('--since', durationText(retentionMs)), ...retentionWords(input)];
  requireUnknownArchive(context, store, ['logs', 'archive', locationOf(input), ...options]);
}

/** Shows the months that retention would drop. Reads only the archive. */
async function showOld(context: Context, store: Store, keep: number | undefined): Promise<number> {
  if (keep === undefined)
    throw new SvcError('usage', '--dry-run shows what --keep would drop', { hint: 'Add --keep, such as --keep 13M.' });
  const [{ findOld }, { findArchive }] = await Promise.all([
    import('../archive/retention.ts'),
    import('../archive/manifest.ts'),
  ]);
  const print = await listPrinter(context, droppedView);
  const found = await findArchive(store);
  if (found === undefined) {
    await print(oneBatch([]));
    context.notices.note('there is no archive yet: nothing would be dropped');
    return 0;
  }
  const end = Math.min(Date.parse(found.last.record.position.read_to), context.clock.now());
  const { before, months } = await findOld(store, { end, months: keep });
  await print(oneBatch(months));
  context.notices.note(months.length === 0 ? `nothing is older than ${utcTime(before)}` : 'nothing was dropped');
  return 0;
}

function locationOf({ dir, to }: ArchiveInput): string {
  const location = dir ?? to;
  if (location !== undefined && location !== '' && (dir === undefined || to === undefined)) return location;
  throw new SvcError('usage', 'name one destination for the archive: a directory, or --to', {
    hint: 'Such as ./audit, or --to s3://bucket/prefix.',
  });
}

/** The summary of a run. Times are RFC 3339, UTC. */
export type ArchiveSummary = ReturnType<typeof summaryOf>;

function summaryOf(
  { tenantId, readTo, archivedTo, written, record, sha256, lost }: ArchiveRun,
  names: { readonly archive: string; readonly service: string },
  /** Hours until the service would have deleted unarchived entries; null for a new archive. */
  hours: { readonly hours_left_before: number | null; readonly hours_left: number },
  dropped: Dropped | undefined,
) {
  return {
    ...names,
    tenant_id: tenantId,
    entries: written.entries,
    late: written.late,
    timeless: written.timeless,
    raw: written.raw,
    card_numbers: written.cardNumbers,
    segments: written.segments,
    // The range that this run read, and the gaps in it.
    read_from: isoTime(readTo),
    read_to: isoTime(archivedTo),
    gaps: written.gaps.map(isoRange),
    ...hours,
    // The newest record and its hash, which `svc logs verify --expect` takes.
    record,
    sha256,
    // Recorded files that are missing or have another size; null if a signal ended the run before the search.
    missing_files: lost?.missing.length ?? null,
    changed_files: lost?.changed.length ?? null,
    // The months that --keep dropped, and the time before which they are.
    dropped:
      dropped && dropped.months.length > 0 ? { before: isoTime(dropped.before), ...sumOfMonths(dropped.months) } : null,
  };
}

function summaryText(
  context: Context,
  { archivedTo, endedBy, lost, readTo, unprovenMs, written }: ArchiveRun,
  { archive, service, tenant_id: tenantId, sha256, dropped }: ArchiveSummary,
): string {
  const { entries, late, segments, gaps } = written;
  const stateSentence = (): Sentence => {
    // An archive with lost files is damaged, even if this run succeeded.
    if (lost && isLost(lost)) return `archive damaged: ${archive}`;
    if (endedBy || unprovenMs > 0) return `archive not up to date yet: ${archive}`;
    return ['good', `archive up to date: ${archive}`];
  };
  const added = `added ${countText(entries, 'entry')} in ${countText(segments, 'segment')}`;
  return sentencesText(context, [
    `tenant ${tenantId} of ${service}`,
    entries === 0 ? 'no new entries' : `${added}${late > 0 ? `, ${formatNumber(late)} of them late` : ''}`,
    `read: ${rangeText(context, { from: readTo, to: archivedTo })}`,
    ...gaps.map((gap) => gapSentence(context, gap)),
    ...(dropped ? [`dropped: ${countText(dropped.entries, 'entry')} from before ${dropped.before}`] : []),
    `newest hash: ${sha256}`,
    ...(lost && isLost(lost) ? [['bad', lostText(lost)] as const] : []),
    stateSentence(),
  ]);
}

function exitCodeOf(
  run: ArchiveRun,
  input: ArchiveInput,
  {
    archive: name,
    marginBeforeMs,
    retention,
  }: { readonly archive: string; readonly marginBeforeMs: number; readonly retention: Retention | undefined },
): number {
  const { failure, apartMs = 0 } = retention ?? {};
  if (run.endedBy) return run.endedBy.exitCode;
  if (run.lost && isLost(run.lost)) throw filesLost(name, run.lost);
  if (input.strict && run.written.gaps.length > 0) throw entriesMissing(run.written.gaps.length);
  if (failure) throw retentionFailed(name, failure);
  if (input.strict && apartMs > 0) throw nothingDropped(apartMs);
  if (input.strict && run.unprovenMs > 0) throw endUnproven(run);
  if (input.failOnCardNumber && run.written.cardNumbers > 0) throw cardNumbersArchived(name, run.written.cardNumbers);
  if (input.retentionMargin === undefined || run.isNew) return 0;
  checkMargin(marginBeforeMs, input.retentionMargin, run.unprovenMs === 0);
  return 0;
}

function isLost({ missing, changed }: LostFiles): boolean {
  return missing.length + changed.length > 0;
}

/** The time for the last commit after a signal, enough for a reachable bucket. */
const GRACE_MS = 10_000;

/** Returns a signal that follows the command's signal: at once, or after `begin` with a delay to finish the commit. */
function graceOf(context: Pick<Context, 'signal' | 'clock' | 'onClose'>): { signal: AbortSignal; begin: () => void } {
  const ended = new AbortController();
  const over = new AbortController();
  let hasBegun = false;
  setMaxListeners(0, ended.signal);
  context.onClose(() => over.abort());
  const end = (): void => ended.abort(context.signal.reason);
  const follow = (): void => {
    if (hasBegun) context.clock.sleep(GRACE_MS, over.signal).then(end, () => undefined);
    else end();
  };
  if (context.signal.aborted) end();
  else context.signal.addEventListener('abort', follow, { once: true });
  const begin = (): void => {
    hasBegun = true;
  };
  return { signal: ended.signal, begin };
}

/** The error for times whose entries the service no longer had. */
function entriesMissing(gaps: number): SvcError {
  return new SvcError('entries_missing', 'entries may be missing: the service no longer had them', {
    hint: 'The gaps are recorded in the archive. Run the command at least once within the retention of the logs.',
    facts: { gaps },
  });
}

/** Says that an archive ends before the time of the service, because nothing proves that time. */
function unprovenText({ archivedTo, unprovenMs }: ArchiveRun): string {
  return `the archive ends at ${utcTime(archivedTo)}: nothing but the Date header shows that it is ${formatDuration(unprovenMs)} later for the service`;
}

/** The error for an archive that ends before the time of the service. */
function endUnproven(run: ArchiveRun): SvcError {
  return new SvcError('entries_missing', unprovenText(run), {
    hint: 'Correct the clock of this machine: a run after that, or one that finds a newer entry, covers what the service still keeps of this time.',
    next: ['doctor'],
  });
}

/** The error for archived card numbers. The service deletes its logs after a day, so an entry left out would be lost. */
function cardNumbersArchived(archive: string, count: number): SvcError {
  const were = count === 1 ? 'was archived as the service sent it' : 'were archived as the service sent them';
  return new SvcError('refused_input', `${countText(count, 'entry')} with what looks like a card number ${were}`, {
    hint: 'Nothing was left out. Find the application that writes them, and protect the archive as a store of card numbers. Which entries and members:',
    next: ['logs', 'search', archive, '--card-numbers'],
    facts: { card_numbers: count },
  });
}

/** Why `--keep` dropped nothing. */
function clocksApart(apartMs: number): string {
  return `--keep dropped nothing: the clocks of this machine and of the service are ${formatDuration(apartMs)} apart`;
}

/** The error for a retention that could not tell which months are old. */
function nothingDropped(apartMs: number): SvcError {
  return new SvcError('entries_missing', clocksApart(apartMs), {
    hint: 'What is new was archived. Correct the clock that is wrong; the next run drops the old months.',
    next: ['doctor'],
  });
}

/** The error of a run whose retention failed. */
function retentionFailed(archive: string, failure: SvcError): SvcError {
  const hint = `What is new was archived. ${failure.hint ?? ''}`.trimEnd();
  return failure.with({ hint, next: ['logs', 'verify', archive] });
}

const MAX_NAMED = 10;

/** The error for recorded files that are missing or have another size. */
export function filesLost(archive: string, lost: LostFiles): SvcError {
  const { missing, changed } = lost;
  return new SvcError('checksum_mismatch', `${archive}: ${lostText(lost)}`, {
    hint: 'What is new was archived. Restore the files from a backup; other files may be damaged, too.',
    next: ['logs', 'verify', archive],
    facts: { missing_files: missing.slice(0, MAX_NAMED), changed_files: changed.slice(0, MAX_NAMED) },
  });
}

/** Returns how many files are lost, and the first of them. */
function lostText({ missing, changed }: LostFiles): string {
  const path = missing[0] ?? changed[0];
  if (path === undefined) return 'all files of the archive are there';
  const parts = [
    ...(missing.length === 0 ? [] : [`${countText(missing.length, 'file')} ${beVerb(missing)} missing`]),
    ...(changed.length === 0 ? [] : [`${countText(changed.length, 'file')} ${beVerb(changed)} changed`]),
  ];
  return `${parts.join(', ')}: ${path}${missing.length + changed.length > 1 ? ' …' : ''}`;
}

function beVerb(files: readonly string[]): string {
  return files.length === 1 ? 'is' : 'are';
}
