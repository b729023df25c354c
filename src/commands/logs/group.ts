import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc logs` */
export const logs: GroupSpec = {
  commands: [
    entry(
      'list',
      'list log entries: the newest page, or more with --limit and --all',
      async () => (await import('./list.ts')).list,
    ),
    entry('tail', 'follow the logs without losing or repeating an entry', async () => (await import('./tail.ts')).tail),
    entry('archive', 'create or update an archive of the logs', async () => (await import('./archive.ts')).archive),
    entry(
      'search',
      'find log entries in an archive, and with --live in the service too',
      async () => (await import('./search.ts')).search,
    ),
    entry(
      'verify',
      'verify that nothing in an archive was changed, removed, reordered, truncated or added',
      async () => (await import('./verify.ts')).verify,
    ),
    entry(
      'stats',
      'count log entries by hour, entity type, operation and actor',
      async () => (await import('./stats.ts')).stats,
    ),
    entry(
      'review',
      'review a day of an archive: deletions, changes, new actors, busy hours',
      async () => (await import('./review.ts')).review,
    ),
    entry(
      'evidence',
      'write a bundle for an auditor, which can be checked without svc',
      async () => (await import('./evidence.ts')).evidence,
    ),
    entry('entity-types', 'list the values of --entity-type', async () => (await import('./list.ts')).entityTypes),
  ],
  defaultCommand: 'list',
};
