import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, flag, type Input, integer, text, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { countText, formatDuration, formatNumber, wholeSecond } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import type { Manifest } from '../archive/manifest.ts';
import { archiveLocation, gapText, openArchive, reportGaps, withByteProgress } from '../archive/open-archive.ts';
import type { Lane } from '../archive/search.ts';
import type { ArchiveStore } from '../archive/store.ts';
import type { TailPosition } from '../entry.ts';
import { logView } from '../view.ts';
import {
  INTERVAL_PARAMETERS,
  ENTITY_PARAMETERS,
  UNMARKED_ENTRY_PARAMETERS,
  intervalOf,
  filterOf,
  idsAmong,
  isAbout,
  matches,
  valuesAmong,
  type EntryFilter,
  entityFilter,
  RETENTION_PARAMETERS,
  firstRequest,
} from './entries.ts';

const parameters = {
  dir: archiveLocation,
  ...INTERVAL_PARAMETERS,
  ...ENTITY_PARAMETERS,
  ...UNMARKED_ENTRY_PARAMETERS,
  limit: value('-n, --limit <n>', 'stop after this many', integer(1)),
  live: flag('--live', 'add what the service has and the archive does not, up to now'),
} as const;

export type SearchInput = Input<typeof parameters> & { readonly retention?: number | undefined };
type Bounds = ReturnType<typeof intervalOf>;

export const search = defineCommand({
  description:
    'Entries come in order of time, oldest first; those without a readable time come last, and only without --since and --until. Files outside the time range are not read; those that are read are checked against the manifest. Works offline unless --live is given.',
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
    const print = await listPrinter(context, logView);
    await searchArchive(context, input, print);
  },
});

/** Prints what an archive has, and with `live` the service beyond it. */
export async function searchArchive(
  context: Context,
  typed: SearchInput,
  print: (batches: AsyncIterable<readonly Log[]>) => Promise<number>,
): Promise<void> {
  const input = await filterOf(context, typed);
  const bounds = intervalOf(input, context.clock.now());
  const [{ readManifest, readManifestAndPosition }, { searchSegments }, { lookUp, partToRead }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../archive/search.ts'),
    import('../archive/index/lookup.ts'),
  ]);
  const store = await openArchive(context, input.dir);
  const { position, ...manifest } = input.live
    ? await readManifestAndPosition(store, bounds)
    : { ...(await readManifest(store, bounds)), position: undefined };
  const more = position && (await liveOf(context, input, { store, manifest, bounds, position }));
  reportGaps(context, manifest, bounds, input.live ? undefined : '--live adds what is newer');
  const index = await lookUp(store, manifest.index, idsAmong(input));
  if (index.damaged > 0)
    context.notices.note(`${countText(index.damaged, 'file')} of the index could not be used: more was read`);
  const segments = manifest.segments.filter(({ sha256 }) => index.bySegment.get(sha256)?.wanted.length !== 0);
  let read = 0;
  const parts = segments.map((segment) => partToRead(index, segment));
  const shown = await withByteProgress(context, { dir: input.dir, label: 'search', segments: parts }, (onBytes) =>
    print(
      searchSegments(store, {
        ...bounds,
        segments,
        index,
        matches: (log) => isAbout(log, input) && matches(log, input),
        among: valuesAmong(input),
        limit: input.limit,
        more,
        signal: context.signal,
        onBytes,
        onRead: (entries) => (read += entries),
      }),
    ),
  );
  const where = `${segments.length} of ${countText(manifest.allSegments, 'segment')}`;
  context.notices.note(`${countText(shown, 'entry')} found; ${formatNumber(read)} read, in ${where}`);
  if (input.limit !== undefined && shown >= input.limit)
    context.notices.note('there may be more: use a larger --limit');
  input.near.report(context);
}

/** What the service has beyond the archive; only learns which tenant the key is of. */
async function liveOf(
  context: Context,
  input: SearchInput & EntryFilter,
  {
    store,
    manifest,
    bounds,
    position,
  }: { store: ArchiveStore; manifest: Manifest; bounds: Bounds; position: TailPosition },
): Promise<Lane> {
  const [{ liveLane }, { checkSubject }, { learnTenant }, { serviceLogs }, { serviceOf }, defaults] = await Promise.all(
    [
      import('../archive/search.ts'),
      import('../archive/manifest.ts'),
      import('../archive/record.ts'),
      import('../read-range.ts'),
      import('../../au/run/run-view.ts'),
      import('../entry.ts'),
    ],
  );
  checkSubject(store, manifest, { service: serviceOf(context) });
  const client = await context.client();
  checkSubject(store, manifest, { tenantId: await learnTenant(client, manifest.first.tenant_id) });
  return liveLane(serviceLogs(client, entityFilter(input)), position, {
    ...bounds,
    overlapMs: defaults.DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? defaults.DEFAULT_RETENTION_MS,
    matches: (log) => matches(log, input),
    onGap: (gap) =>
      context.notices.warn(`${gapText(gap)}: the archive was not updated within the retention of the logs`),
  });
}

const NO_FILTERS = {
  since: undefined,
  until: undefined,
  limit: undefined,
  operation: [],
  actor: [],
  actorType: [],
  grep: undefined,
  excludeOperation: [],
  excludeEntityType: [],
};

export const history = defineCommand({
  description:
    'Everything that is known about one entity, oldest first: what an archive has, and what the service has beyond it, without gaps or duplicates where they meet. Without --archive, only what the service still has.',
  examples: [
    ['svc logs history 3f2c… --archive audit', 'from its creation until now'],
    ['svc logs history 3f2c… --entity-type card', 'what the service still has; the type makes it faster'],
  ],
  permissions: ['log:read', 'tenant:read'],
  exitCodes: [5, 12],
  fields: logView.fields,
  parameters: {
    id: argument('<entity-id>', 'the id of the entity', text),
    archive: value('--archive <location>', 'the archive to read first: a directory, or s3://bucket/prefix', text),
    entityType: ENTITY_PARAMETERS.entityType,
    retention: RETENTION_PARAMETERS.retention,
  },
  async run(context, { id: entityId, archive, entityType, retention }) {
    const typed = { ...NO_FILTERS, entityType, entityId, retention };
    const print = await listPrinter(context, logView);
    if (archive !== undefined)
      return searchArchive(context, { ...typed, dir: archive, live: true }, print).catch((error: unknown) => {
        const filters = [...option('--entity-id', entityId), ...option('--entity-type', entityType)];
        throw orWithoutKey(error, ['logs', 'search', archive, ...filters]);
      });
    const [{ liveLane }, { serviceLogs }, entry] = await Promise.all([
      import('../archive/search.ts'),
      import('../read-range.ts'),
      import('../entry.ts'),
    ]);
    const input = await filterOf(context, typed);
    const client = await context.client();
    const retentionMs = retention ?? entry.DEFAULT_RETENTION_MS;
    const lane = liveLane(
      serviceLogs(client, entityFilter(input)),
      entry.beginAt(wholeSecond(client.now() - retentionMs)),
      {
        overlapMs: entry.DEFAULT_OVERLAP_MS,
        retentionMs,
        matches: (log) => matches(log, input),
        onGap: () => undefined,
      },
    );
    const shown = await print(logsIn(lane.read()));
    if (shown === 0) context.notices.note('no log entries');
    context.notices.note(`from the last ${formatDuration(retentionMs)}; --archive adds what is older`);
    input.near.report(context);
  },
  async request(_context, { id: entityId, entityType }) {
    return firstRequest(entityFilter({ entityType, entityId }));
  },
});

/** An error that asks to log in names this command, too. */
function orWithoutKey(error: unknown, words: readonly string[]): unknown {
  if (!isSvcError(error) || error.next?.[0] !== 'login') return error;
  const { code, message, next, facts } = error;
  const hint = `${error.hint ?? ''} To read the archive alone, no key is needed.`;
  return new SvcError(code, message, { hint, next, facts, alternatives: [words] });
}

async function* logsIn(batches: AsyncIterable<readonly { readonly log: Log }[]>): AsyncGenerator<readonly Log[]> {
  for await (const batch of batches) yield batch.map(({ log }) => log);
}
