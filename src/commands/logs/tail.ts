import { type Context, defineCommand } from '../../app/command.ts';
import {
  flag,
  type Input,
  integer,
  moment,
  positiveDuration,
  resolvePath,
  suggesting,
  text,
  value,
} from '../../app/parameter.ts';
import { listPrinter } from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { withLock } from '../../files/lock.ts';
import type { Subject, TailPosition } from '../../logs/checkpoint.ts';
import { parseDestination } from '../../logs/otlp/settings.ts';
import { isoTime } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import { isLoopback } from '../../security/address.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS,
  firstRequest,
  isFiltered,
  logView,
  matches,
} from './entry-filter.ts';
import { TailNotices } from './notices.ts';
import { resumeTail } from './resume-tail.ts';
import { ENTRIES_AT_ONCE, openShipping } from './ship.ts';

const parameters = {
  since: value(
    '--since <time>',
    'begin at this time: 2h, 2026-01-31T09:00:00Z, yesterday (default now); a checkpoint goes before',
    moment,
  ),
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
  checkpoint: value(
    '--checkpoint <file>',
    'keep in this file how far the output is, and resume exactly there when run again',
    text,
  ),
  to: suggesting(
    () => [['otlp+http://127.0.0.1:4318', 'a collector on this machine']],
    value(
      '--to <address>',
      'send entries to an OpenTelemetry collector in place of stdout: otlp+https://…, otlp+http://… on this machine',
      parseDestination,
    ),
  ),
  overlap: value('--overlap <duration>', 'how late an entry may come (default 2m)', positiveDuration),
  interval: value(
    '--interval <duration>',
    'always this pause between two looks, 1s or longer (default 1s to 15s)',
    positiveDuration,
  ),
  retention: value(
    '--retention <duration>',
    'how long the service keeps entries (default 24h)',
    positiveDuration,
  ),
  for: value('--for <duration>', 'end after this time', positiveDuration),
  max: value('-n, --max <n>', 'end after this many entries', integer(1)),
  idleExit: value('--idle-exit <duration>', 'end when nothing came for this long', positiveDuration),
  strict: flag('--strict', 'end with exit code 14 when entries may be missing'),
} as const;

/** What was given to `svc logs tail`. */
export type TailInput = Input<typeof parameters>;

/** `svc logs tail` */
export const tail = defineCommand({
  description:
    'Entries are read with an overlap, because they can come late; equal entries are counted, not merged. Outages do not end it; a refused key does. Options marked * are applied here, the others by the service. A checkpoint is written after the output, or the collector, has taken the entries: what was sent since then comes again after a crash. However it ends, the command that resumes it is printed; without --checkpoint its position is kept for seven days.',
  examples: [
    ['svc logs tail --since 2h', 'two hours back, then follow'],
    [
      'svc logs tail --checkpoint tail.json >> logs.jsonl',
      'into a file; run again, it goes on where it stopped',
    ],
    [
      'svc logs tail --to otlp+https://collector.example:4318 --checkpoint tail.json',
      'to an OpenTelemetry collector; headers as in OTEL_EXPORTER_OTLP_HEADERS',
    ],
    ['svc logs tail --since 1h --idle-exit 30s -o csv', 'the last hour, until nothing more comes'],
  ],
  permissions: ['log:read'],
  exitCodes: [8, 14, 130, 143],
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const filter = entityFilter(input);
    checkInterval(context, input.interval);
    // Only the printer knows the fields: they are checked before anything is asked of anyone.
    const print = await listPrinter(context, logView);
    const { serviceOf } = await import('../au/runs.ts');
    const subject = { service: serviceOf(context), entityType: undefined, entityId: undefined, ...filter };
    const file = input.checkpoint === undefined ? undefined : resolvePath(context, input.checkpoint);
    const work = (): Promise<number> => follow(context, input, { subject, file, print });
    if (file === undefined) return work();
    const { system, clock, signal } = context;
    const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), clock, signal };
    return withLock(`${file}.lock`, host, work, { waitMs: 0, what: 'the checkpoint' });
  },
  async request(context, input) {
    checkInterval(context, input.interval);
    const now = context.clock.now();
    return firstRequest({ ...entityFilter(input), startDate: isoTime(input.since?.(now) ?? now) });
  },
});

interface Following {
  readonly subject: Subject;
  readonly file: string | undefined;
  readonly print: (batches: AsyncIterable<readonly Log[]>) => Promise<number>;
}

async function follow(
  context: Context,
  input: TailInput,
  { subject, file, print }: Following,
): Promise<number> {
  const [{ Tail: TailClass }, { serviceLogs }, { readCheckpoint, writeCheckpoint }] = await Promise.all([
    import('../../logs/follow.ts'),
    import('../../logs/entry.ts'),
    import('../../logs/checkpoint.ts'),
  ]);
  const { beginNow, DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS } = await import('../../logs/follow-logs.ts');
  const kept = file === undefined ? undefined : readCheckpoint(file, subject);
  const client = await context.client();
  const notices = new TailNotices(context, input);
  const shipping = input.to && (await openShipping(context, input.to, input.for));
  const begin = kept ?? (await beginNow(client, entityFilter(input), (now) => input.since?.(now) ?? now));
  let taken = begin;
  const save = (standing: TailPosition): void => {
    if (file !== undefined) writeCheckpoint(file, subject, standing);
    taken = standing;
  };
  const following = new TailClass(serviceLogs(client, subject), {
    begin,
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    intervalMs: input.interval,
    forMs: input.for,
    idleMs: input.idleExit,
    most: input.max,
    atOnce: shipping && ENTRIES_AT_ONCE,
    onPass: shipping?.identify,
    keep: isFiltered(input) || input.entityId !== undefined ? (log) => matches(log, input) : undefined,
    onEvent: (event) => notices.show(event),
    onStanding: save,
  });
  notices.start(kept);
  try {
    await (shipping?.deliver ?? print)(notices.counted(following.batches()));
    save(following.standing());
  } catch (error) {
    if (!context.signal.aborted) throw error;
  } finally {
    notices.end(taken, () => resumeTail(context, input, subject, taken));
  }
  return exitCode(context, input, { gaps: notices.gaps, rejected: shipping?.rejected() ?? 0 });
}

// Being interrupted is how a tail ends: no error, but the exit code says what ended it.
function exitCode({ signal }: Context, { strict }: TailInput, missing: Missing): number {
  if (signal.aborted) {
    if (isSvcError(signal.reason, 'hangup', 'interrupted', 'terminated')) return signal.reason.exitCode;
    throw signal.reason;
  }
  if (!strict) return 0;
  if (missing.gaps > 0)
    throw new SvcError('entries_missing', 'entries may be missing, as the service no longer had them', {
      hint: 'Run the tail at least once within the retention of the logs.',
    });
  if (missing.rejected > 0)
    throw new SvcError('entries_missing', `the collector rejected ${missing.rejected} entries for good`, {
      hint: 'Its words are above. Read those entries from the service with another tail or an archive.',
    });
  return 0;
}

interface Missing {
  /** Stretches of time that the service no longer had. */
  readonly gaps: number;
  /** Entries that the collector did not take. */
  readonly rejected: number;
}

const SHORTEST_MS = 1_000;

/** Refuses a pause that would use up the key's requests, unless the service is on this machine. @throws SvcError `usage` */
function checkInterval({ settings }: Context, intervalMs: number | undefined): void {
  const url = settings.baseUrl?.value;
  if (intervalMs === undefined || intervalMs >= SHORTEST_MS || url === undefined || isLoopback(url)) return;
  throw new SvcError('usage', '--interval must be 1s or longer', {
    hint: 'A key has 200 requests a minute for everything; without --interval the pace follows what happens.',
  });
}
