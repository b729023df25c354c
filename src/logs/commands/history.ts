import { isSvcError, SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { formatDuration, wholeSecond } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { searchArchive } from '../archive/search-archive.ts';
import { filterOf } from '../entry-filter.ts';
import { matches } from '../filter.ts';
import { actorNames, ENTITY_PARAMETERS, entityFilter, RETENTION_PARAMETERS, firstRequest } from '../options.ts';
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

export const history = defineCommand({
  description:
    'Prints all that is known about one entity, oldest first: the entries of an archive, then what the service has beyond it, without gaps or duplicates. Without --archive, prints only what the service still has.',
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
    const actors = await actorNames(context, archive === undefined ? 'service' : 'archive');
    const print = await listPrinter(context, actors?.view ?? logView);
    if (archive !== undefined)
      return searchArchive(context, { ...typed, dir: archive, live: true }, print, { actors }).catch(
        (error: unknown) => {
          const filters = [...option('--entity-id', entityId), ...option('--entity-type', entityType)];
          throw orWithoutKey(error, ['logs', 'search', archive, ...filters]);
        },
      );
    const [{ liveEntries }, { serviceLogs }, entry] = await Promise.all([
      import('../archive/search-segments.ts'),
      import('../read-range.ts'),
      import('../entry.ts'),
    ]);
    const input = await filterOf(context, typed);
    const client = await context.client();
    const retentionMs = retention ?? entry.DEFAULT_RETENTION_MS;
    const entries = liveEntries(
      serviceLogs(client, entityFilter(input)),
      entry.beginAt(wholeSecond(client.now() - retentionMs)),
      {
        overlapMs: entry.DEFAULT_OVERLAP_MS,
        retentionMs,
        matches: (log) => matches(log, input),
        onGap: () => undefined,
      },
    );
    const logs = logsIn(entries.read());
    const shown = await print(actors?.learned(logs) ?? logs);
    if (shown === 0) context.notices.note('no log entries');
    context.notices.note(`from the last ${formatDuration(retentionMs)}; --archive adds what is older`);
    input.near.report(context);
  },
  async request(_context, { id: entityId, entityType }) {
    return firstRequest(entityFilter({ entityType, entityId }));
  },
});

/** Adds the command that needs no key to an error that suggests to log in. */
function orWithoutKey(error: unknown, words: readonly string[]): unknown {
  if (!isSvcError(error) || error.next?.[0] !== 'login') return error;
  const { code, message, next, facts } = error;
  const hint = `${error.hint ?? ''} To read the archive alone, no key is needed.`;
  return new SvcError(code, message, { hint, next, facts, alternatives: [words] });
}

async function* logsIn(batches: AsyncIterable<readonly { readonly log: Log }[]>): AsyncGenerator<readonly Log[]> {
  for await (const batch of batches) yield batch.map(({ log }) => log);
}
