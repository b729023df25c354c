import { setMaxListeners } from 'node:events';
import { type Context, defineCommand } from '../../app/command.ts';
import {
  flag,
  type Input,
  moment,
  optionalArgument,
  positiveDuration,
  text,
  value,
} from '../../app/parameter.ts';
import { isForPeople, recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { ArchiveRun } from '../../logs/archive/archive.ts';
import { cleanText, wrapWords } from '../../output/text.ts';
import { formatNumber, isoTime } from '../../output/time.ts';
import { MARKS, type View } from '../../output/view.ts';
import { countText, openArchive, rangeText } from './archive-location.ts';
import { ArchiveNotices } from './notices.ts';

const parameters = {
  dir: optionalArgument('[dir]', 'the directory of the archive; created if it does not exist'),
  to: value('--to <destination>', 'an S3 bucket instead of a directory: s3://bucket/prefix', text),
  since: value(
    '--since <time>',
    'start of a new archive: 30d, 2026-01-31 (default: the oldest entry that the service still has)',
    moment,
  ),
  follow: flag('--follow', 'keep running, and keep the archive up to date'),
  every: value('--every <duration>', 'the longest time between two commits (default 15m)', positiveDuration),
  overlap: value('--overlap <duration>', 'how late an entry may arrive (default 2m)', positiveDuration),
  retention: value(
    '--retention <duration>',
    'how long the service keeps entries (default 24h)',
    positiveDuration,
  ),
  retentionMargin: value(
    '--retention-margin <duration>',
    'exit with 10 when less time than this was left before entries would have been lost',
    positiveDuration,
  ),
  strict: flag('--strict', 'exit with 14 when entries may be missing'),
} as const;

/** What was given to `svc logs archive`. */
export type ArchiveInput = Input<typeof parameters>;

const DEFAULT_OVERLAP_MS = 120_000;
const DEFAULT_RETENTION_MS = 86_400_000;
// Each commit keeps the hashes of two minutes of entries, which a busy log has many of.
const DEFAULT_EVERY_MS = 900_000;

/** How such a summary is shown. */
const archiveView: View<ArchiveSummary> = {
  name: 'archive run',
  fields: [
    'archive',
    'service',
    'tenant_id',
    'entries',
    'late',
    'timeless',
    'raw',
    'card_numbers',
    'segments',
    'read_from',
    'read_to',
    'gaps',
    'hours_left_before',
    'hours_left',
    'record',
    'sha256',
  ],
  columns: [
    { path: 'archive', kind: 'id' },
    { path: 'tenant_id', kind: 'id' },
    { path: 'entries', kind: 'number' },
    { path: 'late', kind: 'number' },
    { path: 'timeless', kind: 'number' },
    { path: 'raw', kind: 'number' },
    { path: 'card_numbers', kind: 'number' },
    { path: 'segments', kind: 'number' },
    { path: 'read_from', kind: 'time' },
    { path: 'read_to', kind: 'time' },
    { path: 'gaps', kind: 'text' },
    { path: 'hours_left_before', kind: 'number' },
    { path: 'hours_left', kind: 'number' },
    { path: 'record', kind: 'number' },
    { path: 'sha256', kind: 'id' },
  ],
};

/** `svc logs archive` */
export const archive = defineCommand({
  description:
    'Adds what is new since the last run, each entry once, and stops. Safe from cron, safe to kill and to run twice. The archive holds all logs of one tenant, one folder a day, as gzip files of JSON lines, with a chained manifest that reveals any later change.',
  examples: [
    ['svc logs archive audit', 'create an archive, or update it; run it every hour'],
    [
      'svc logs archive audit --retention-margin 12h --strict --quiet > /dev/null',
      'for cron: exit code 10 when less than the margin was left, 14 when entries are missing',
    ],
    [
      'svc logs archive --to s3://audit-logs/vault',
      'in a bucket; credentials and endpoint come from AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL_S3 …',
    ],
    ['svc logs archive audit --follow', 'as a service; stops cleanly on a signal'],
  ],
  permissions: ['log:read', 'tenant:read'],
  exitCodes: [10, 12, 14, 130, 143],
  worksElsewhere: true,
  fields: archiveView.fields,
  parameters,
  async run(context, input) {
    const place = locationOf(input);
    const print = await recordPrinter(context, archiveView);
    const [{ runArchive }, { serviceOf }] = await Promise.all([
      import('../../logs/archive/archive.ts'),
      import('../au/runs.ts'),
    ]);
    const grace = new Grace(context);
    const store = await openArchive(context, place, grace.signal);
    const service = serviceOf(context);
    const notices = new ArchiveNotices(context, input);
    const run = await runArchive(store, () => context.client(), {
      service,
      since: input.since,
      follow: input.follow,
      everyMs: input.every ?? DEFAULT_EVERY_MS,
      overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
      retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
      onBegin: (begin) => {
        grace.begin();
        notices.begin(begin);
      },
      onEvent: (event) => notices.show(event),
      onCommit: (written) => notices.committed(written),
    });
    notices.end(run.written);
    const summary = await summaryOf(context, run, { archive: store.name, service }, input);
    if (isForPeople(context) && context.globals.fields === undefined)
      await context.out.write(summaryText(context, run, summary));
    else await print(summary);
    return check(run, input);
  },
});

function locationOf({ dir, to }: ArchiveInput): string {
  const place = dir ?? to;
  if (place !== undefined && place !== '' && (dir === undefined || to === undefined)) return place;
  throw new SvcError('usage', 'name one destination for the archive: a directory, or --to', {
    hint: "Such as 'svc logs archive audit', or --to s3://bucket/prefix.",
  });
}

async function summaryOf(
  context: Context,
  run: ArchiveRun,
  place: Pick<ArchiveSummary, 'archive' | 'service'>,
  input: ArchiveInput,
): Promise<ArchiveSummary> {
  const { marginHours, marginMs } = await import('../../logs/archive/coverage.ts');
  const retentionMs = input.retention ?? DEFAULT_RETENTION_MS;
  const now = (await context.client()).now();
  const { entries, late, timeless, raw, cardNumbers, segments, gaps } = run.written;
  return {
    ...place,
    tenant_id: run.tenantId,
    entries,
    late,
    timeless,
    raw,
    card_numbers: cardNumbers,
    segments,
    read_from: isoTime(run.readTo),
    read_to: isoTime(run.archivedTo),
    gaps: gaps.map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) })),
    hours_left_before: run.isNew ? null : marginHours(marginMs(run.readTo, retentionMs, run.now)),
    hours_left: marginHours(marginMs(run.archivedTo, retentionMs, now)),
    record: run.record,
    sha256: run.sha256,
  };
}

/** The same in words, as `svc logs verify` does. */
function summaryText(
  context: Context,
  { archivedTo, endedBy, readTo, written }: ArchiveRun,
  summary: ArchiveSummary,
): string {
  const { palette, out, marks } = context;
  const columns = out.isTerminal ? out.width : Infinity;
  const wrap = (text: string): string[] => wrapWords(text, columns);
  const { entries, late, segments, gaps } = written;
  const added = `added ${countText(entries, 'entry')} in ${countText(segments, 'segment')}`;
  const lines = [
    ...wrap(`tenant ${cleanText(summary.tenant_id)} of ${cleanText(summary.service)}`),
    ...wrap(
      entries === 0 ? 'no new entries' : `${added}${late > 0 ? `, ${formatNumber(late)} of them late` : ''}`,
    ),
    ...wrap(`read: ${rangeText(context, { from: readTo, to: archivedTo })}`),
    ...gaps.flatMap((gap) =>
      wrap(`gap, entries may be missing: ${rangeText(context, gap)}`).map(palette.warn),
    ),
    ...wrap(`newest hash: ${summary.sha256}`),
    ...(endedBy
      ? wrap(`archive not up to date yet: ${cleanText(summary.archive)}`)
      : wrap(`${marks ? MARKS.good : ''}archive up to date: ${cleanText(summary.archive)}`).map(
          palette.good,
        )),
  ];
  return `${lines.join('\n')}\n`;
}

async function check(run: ArchiveRun, input: ArchiveInput): Promise<number> {
  if (run.endedBy) return run.endedBy.exitCode;
  if (input.strict && run.written.gaps.length > 0) {
    throw new SvcError('entries_missing', 'entries may be missing, as the service no longer had them', {
      hint: 'The gaps are recorded in the archive. Run the command at least once within the retention of the logs.',
      facts: { gaps: run.written.gaps.length },
    });
  }
  if (input.retentionMargin === undefined || run.isNew) return 0;
  const { checkMargin, marginMs } = await import('../../logs/archive/coverage.ts');
  checkMargin(marginMs(run.readTo, input.retention ?? DEFAULT_RETENTION_MS, run.now), input.retentionMargin);
  return 0;
}

/** Longer than a last commit to a bucket takes that can be reached. */
const GRACE_MS = 10_000;

/**
 * A signal for work that is brought to its end when the command is asked to end: it follows the command's own signal at
 * once, or, from `begin` on, a little later.
 */
class Grace {
  readonly #ended = new AbortController();
  #hasBegun = false;

  constructor(context: Pick<Context, 'signal' | 'clock' | 'onClose'>) {
    setMaxListeners(0, this.#ended.signal);
    const over = new AbortController();
    context.onClose(() => over.abort());
    const end = (): void => this.#ended.abort(context.signal.reason);
    const follow = (): void => {
      if (this.#hasBegun) context.clock.sleep(GRACE_MS, over.signal).then(end, () => undefined);
      else end();
    };
    if (context.signal.aborted) end();
    else context.signal.addEventListener('abort', follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** From now on there is something to bring to its end. */
  begin(): void {
    this.#hasBegun = true;
  }
}

/** What a run of the archive came to. Times are RFC 3339, UTC. */
export interface ArchiveSummary {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  /** Added by this run. */
  readonly entries: number;
  /** How many of them came late, and stand in supplementary segments. */
  readonly late: number;
  /** How many have no time that can be read, and stand under `date=unknown`. */
  readonly timeless: number;
  /** How many not every reader of JSON takes: they stand in `.raw.gz` files. */
  readonly raw: number;
  /** How many hold what looks like a card number. */
  readonly card_numbers: number;
  readonly segments: number;
  /** The stretch of time that this run brought the archive over. */
  readonly read_from: string;
  readonly read_to: string;
  /** Stretches found by this run of which entries may be missing. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
  /** Hours until entries not yet archived would have been forgotten; null for an archive that has just begun. */
  readonly hours_left_before: number | null;
  readonly hours_left: number;
  /** The newest record and its hash, which `svc logs verify --expect` takes. */
  readonly record: number;
  readonly sha256: string;
}
