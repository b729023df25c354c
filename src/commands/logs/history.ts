import { defineCommand } from '../../app/command.ts';
import { argument, text, value } from '../../app/parameter.ts';
import { listPrinter } from '../../app/print.ts';
import type { Log } from '../../schema/log.ts';
import { formatDuration } from '../../output/time.ts';
import { ENTITY_PARAMETERS, entityFilter, firstRequest, matches, RETENTION_PARAMETERS } from './entries.ts';
import { searchArchive } from './search.ts';
import { logView } from './views.ts';

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

/** `svc logs history` */
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
    const input = { ...NO_FILTERS, entityType, entityId, retention };
    const print = await listPrinter(context, logView);
    if (archive !== undefined) return searchArchive(context, { ...input, dir: archive, live: true }, print);
    const [{ liveLane }, { beginAt }, { serviceLogs }, entry] = await Promise.all([
      import('../../logs/archive/search.ts'),
      import('../../logs/position.ts'),
      import('../../logs/read-range.ts'),
      import('../../logs/entry.ts'),
    ]);
    const client = await context.client();
    const retentionMs = retention ?? entry.DEFAULT_RETENTION_MS;
    const lane = liveLane(
      serviceLogs(client, entityFilter(input)),
      beginAt(entry.wholeSecond(client.now() - retentionMs)),
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
  },
  async request(_context, { id: entityId, entityType }) {
    return firstRequest(entityFilter({ entityType, entityId }));
  },
});

async function* logsIn(batches: AsyncIterable<readonly { readonly log: Log }[]>): AsyncGenerator<readonly Log[]> {
  for await (const batch of batches) yield batch.map(({ log }) => log);
}
