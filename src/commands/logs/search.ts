import { type Context, defineCommand } from '../../app/command.ts';
import { flag, type Input, integer, value } from '../../app/parameter.ts';
import { listPrinter } from '../../app/print.ts';
import type { Manifest } from '../../logs/archive/manifest.ts';
import type { Lane } from '../../logs/archive/merge.ts';
import type { ArchiveStore } from '../../logs/archive/store.ts';
import { formatNumber } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';
import { ByteProgress } from '../au/options.ts';
import { archiveLocation, openArchive } from './archive-location.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS_HERE,
  INTERVAL_PARAMETERS,
  intervalOf,
  isAbout,
  logView,
  matches,
} from './entry-filter.ts';
import { reportGaps } from './odd-entries.ts';

const parameters = {
  dir: archiveLocation,
  ...INTERVAL_PARAMETERS,
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS_HERE,
  limit: value('-n, --limit <n>', 'stop after this many', integer(1)),
  live: flag('--live', 'add what the service has and the archive does not, up to now'),
} as const;

type SearchInput = Input<typeof parameters>;
type Bounds = ReturnType<typeof intervalOf>;

const OVERLAP_MS = 120_000;
const RETENTION_MS = 86_400_000;

/** `svc logs search` */
export const search = defineCommand({
  description:
    'Entries come in order of time, the oldest first; those whose time cannot be read come last, and only without --since and --until. Files that hold nothing of the interval are not read; those that are read are checked against the manifest. Works offline unless --live is given.',
  examples: [
    ['svc logs search audit --since 90d --entity-type card --operation delete', 'deletions of a quarter'],
    [
      'svc logs search audit --since 2026-01-31 --until 2026-02-01 --live -o csv --excel-safe',
      'a day, for a spreadsheet',
    ],
    ['svc logs search audit --actor 3f2c… --grep "token .* read"', 'what an actor read, at any time'],
  ],
  exitCodes: [4, 5, 7, 8, 12],
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const bounds = intervalOf(input, context.clock.now());
    const print = await listPrinter(context, logView);
    const [{ readManifest }, { searchSegments }] = await Promise.all([
      import('../../logs/archive/manifest.ts'),
      import('../../logs/archive/search.ts'),
    ]);
    const store = await openArchive(context, input.dir);
    const manifest = await readManifest(store, bounds);
    const isWanted = (log: Log): boolean => isAbout(log, input) && matches(log, input);
    const more = input.live ? await liveOf(context, input, { store, manifest, bounds }) : undefined;
    reportGaps(context, manifest, bounds, input.live ? undefined : '--live adds what is newer');
    const { segments } = manifest;
    const progress = new ByteProgress(context, 'search');
    const total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
    let [done, read] = [0, 0];
    const found = searchSegments(store, {
      ...bounds,
      segments,
      matches: isWanted,
      most: input.limit,
      more,
      signal: context.signal,
      onBytes: (bytes) => progress.update((done += bytes), total),
      onRead: (entries) => (read += entries),
    });
    let shown: number;
    try {
      shown = await print(found);
      progress.done();
    } finally {
      progress.stop();
    }
    reportEnd(context, input, { shown, read, manifest });
  },
});

/** What the service has beyond the archive; asks nothing yet but which tenant the key is of. */
async function liveOf(
  context: Context,
  input: SearchInput,
  { store, manifest, bounds }: { store: ArchiveStore; manifest: Manifest; bounds: Bounds },
): Promise<Lane> {
  const [{ liveLane }, { checkSubject }, { fromStored }, { learnTenant }, { serviceLogs }, { serviceOf }] =
    await Promise.all([
      import('../../logs/archive/search.ts'),
      import('../../logs/archive/manifest.ts'),
      import('../../logs/archive/position.ts'),
      import('../../logs/archive/record.ts'),
      import('../../logs/entry.ts'),
      import('../au/runs.ts'),
    ]);
  const { last } = manifest;
  checkSubject(store, manifest, { service: serviceOf(context) });
  const client = await context.client();
  checkSubject(store, manifest, { tenantId: await learnTenant(client, manifest.first.tenant_id) });
  return liveLane(serviceLogs(client, entityFilter(input)), fromStored(last.record.standing), {
    ...bounds,
    overlapMs: OVERLAP_MS,
    retentionMs: RETENTION_MS,
    matches: (log) => matches(log, input),
    onEvent: (event) => {
      if (event.kind !== 'gap') return;
      const [from, to] = [event.from, event.to].map((at) => new Date(at).toISOString());
      context.notices.warn(
        `entries may be missing from ${from ?? ''} to ${to ?? ''}: the archive was not brought up to date within the retention of the logs`,
      );
    },
  });
}

function reportEnd(
  { notices }: Context,
  { limit }: SearchInput,
  { shown, read, manifest }: { shown: number; read: number; manifest: Manifest },
): void {
  const { segments, allSegments } = manifest;
  notices.note(
    `${formatNumber(shown)} entries found; ${formatNumber(read)} read, in ${segments.length} of ${allSegments} segments`,
  );
  if (limit !== undefined && shown >= limit) notices.note('there may be more: a larger --limit shows them');
}
