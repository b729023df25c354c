import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, type Input, reading, value } from '../../cli/app/parameter.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { text, trimmedToSend } from '../../cli/app/value-parsers.ts';
import { formatDuration } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorNames } from '../actor-names.ts';
import { entityFilter, filterOf, isBeginning, matches, reportFilters } from '../filter.ts';
import { historyPrinter } from '../history/print-history.ts';
import { ENTITY_PARAMETERS, firstRequest, FULL_PARAMETER, RETENTION_PARAMETERS, STRICT_PARAMETER } from '../options.ts';
import { searchArchive } from '../search/search-archive.ts';
import { logView } from '../view.ts';

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

const parameters = {
  id: argument('<entity-id>', 'the id of the entity', trimmedToSend),
  archive: reading(
    value('--archive <location>', 'the archive to read first: a directory, or s3://bucket/prefix', text),
  ),
  entityType: ENTITY_PARAMETERS.entityType,
  retention: RETENTION_PARAMETERS.retention,
  full: FULL_PARAMETER,
  strict: STRICT_PARAMETER,
} as const;

export const history = defineCommand({
  description:
    'Prints all that is known about one entity, oldest first: the entries of an archive, then what the service has beyond it, without gaps or duplicates. Without --archive, prints only what the service still has. Without a key, only the archive is read. A table begins with a line that sums up the entries.',
  examples: [
    ['svc logs history 3f2c… --archive audit', 'from its creation until now'],
    ['svc logs history 3f2c… --entity-type card', 'what the service still has, faster with the type'],
  ],
  permissions: ['log:read', 'tenant:read'],
  exitCodes: [5, 12, [14, 'the archive has a gap, or ended too early (with --strict)']],
  paged: true,
  endsWithReader: true,
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const { id, archive } = input;
    const about = input.strict ? '--strict' : '--full';
    if ((input.strict || input.full) && archive === undefined)
      throw new SvcError('usage', `${about} is about an archive`, { hint: `Add --archive, or leave ${about} out.` });
    const actors = await namesOf(context, archive);
    const print = await historyPrinter(context, id, actors);
    const read = archive === undefined ? readService : readArchive;
    await read(context, input, { actors, print }).catch((error: unknown) => {
      throw withWholeIds(error, input);
    });
  },
  async request(_context, { id: entityId, entityType }) {
    return firstRequest(entityFilter({ entityType, entityId }));
  },
});

type HistoryInput = Input<typeof parameters>;

interface Reading {
  readonly actors: ActorNames;
  readonly print: Awaited<ReturnType<typeof historyPrinter>>;
}

/** Returns the names of actors for people. Output for programs, and archives read without a key, request none. */
async function namesOf(context: Context, archive: string | undefined): Promise<ActorNames> {
  const [{ ActorNames: Names }, { serviceOf }] = await Promise.all([
    import('../actor-names.ts'),
    import('../../cli/app/service.ts'),
  ]);
  const actors = new Names(context, archive === undefined ? serviceOf(context) : undefined);
  actors.isOffline = !context.out.isTerminal || !isDrawn(context);
  return actors;
}

/** Prints what the service still has of the entity. */
async function readService(
  context: Context,
  { id: entityId, entityType, retention }: HistoryInput,
  { actors, print }: Reading,
): Promise<void> {
  const [{ liveEntries }, { serviceLogs }, { beginNow }, entry] = await Promise.all([
    import('../search/search-segments.ts'),
    import('../read-range.ts'),
    import('../tail/follow-logs.ts'),
    import('../entry.ts'),
  ]);
  const input = await filterOf(context, { ...NO_FILTERS, entityType, entityId });
  const client = await context.client();
  const retentionMs = retention ?? entry.DEFAULT_RETENTION_MS;
  // The retention counts back from the service's time, which a request has to show first.
  const begin = await beginNow(client, entityFilter(input), (now) => now - retentionMs);
  const entries = liveEntries(serviceLogs(client, entityFilter(input)), begin, {
    overlapMs: entry.DEFAULT_OVERLAP_MS,
    retentionMs,
    matches: (log) => matches(log, input),
    onGap: () => undefined,
  });
  const shown = await print(actors.learned(input.entity.only(logsIn(entries.read()))));
  // A mistyped id is an error, and proves nothing about entries.
  await reportFilters(context, input);
  if (shown === 0) context.notices.note('no log entries');
  const source = `from the last ${formatDuration(retentionMs)}`;
  context.notices.note(`${source}; --archive adds what is older`);
}

/** Prints what an archive has of the entity and, if there is a key, what the service has beyond it. */
async function readArchive(
  context: Context,
  { id: entityId, archive: dir = '', entityType, retention, full, strict }: HistoryInput,
  { actors, print }: Reading,
): Promise<void> {
  const typed = { ...NO_FILTERS, entityType, entityId, retention, full, strict, dir };
  try {
    await searchArchive(context, { ...typed, live: true }, print, { actors });
  } catch (error) {
    if (!isWithoutKey(error)) throw error;
    const newer = "newer entries need a key, which 'svc login' stores";
    await searchArchive(context, { ...typed, live: false, newer }, print, { actors });
  }
}

/** Adds a command for each entity with an id that begins as the typed one. */
function withWholeIds(error: unknown, { id: typed, archive, entityType }: HistoryInput): unknown {
  const near = isSvcError(error, 'usage') ? error.facts?.['near'] : undefined;
  if (!isSvcError(error) || !Array.isArray(near)) return error;
  // A history has no time range that could be widened.
  if (near.length === 0 && isBeginning(typed)) return error.with({ hint: unknownBeginning(archive) });
  const filters = [...option('--archive', archive), ...option('--entity-type', entityType)];
  return error.with({ alternatives: near.map((id) => ['logs', 'history', String(id)].concat(filters)) });
}

function unknownBeginning(archive: string | undefined): string {
  const more = archive === undefined ? 'add --archive, or give the whole id' : 'give the whole id';
  return `An id as tables show it stands for an entity among the entries read: ${more}.`;
}

/** Whether a command failed before its first request because no key, or no service, is configured. */
function isWithoutKey(error: unknown): boolean {
  return isSvcError(error, 'key_missing') || (isSvcError(error, 'config') && error.facts?.['missing'] === 'base_url');
}

async function* logsIn(batches: AsyncIterable<readonly { readonly log: Log }[]>): AsyncGenerator<readonly Log[]> {
  for await (const batch of batches) yield batch.map(({ log }) => log);
}
