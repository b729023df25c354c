import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc logs` */
export const logs: GroupSpec = {
  commands: [
    entry('list', 'list log entries: the newest page, or more with --limit and --all', () => import('./list.ts')),
    entry('tail', 'follow the logs without losing or repeating an entry', () => import('./tail.ts')),
    entry('archive', 'create or update an archive of the logs', () => import('./archive.ts')),
    entry('search', 'find log entries in an archive, and with --live in the service too', () => import('./search.ts')),
    entry(
      'history',
      'show everything known about one entity, from an archive and the service',
      () => import('./search.ts'),
    ),
    entry(
      'verify',
      'verify that nothing in an archive was changed, removed, reordered, truncated or added',
      () => import('./verify.ts'),
    ),
    entry('stats', 'count log entries by hour, entity type, operation and actor', () => import('./stats.ts')),
    entry(
      'review',
      'review a day of an archive: deletions, changes, new actors, busy hours',
      () => import('./review.ts'),
    ),
    entry('evidence', 'write a bundle for an auditor, which can be checked without svc', () => import('./evidence.ts')),
    entry('entity-types', 'list the values of --entity-type', () => import('./list.ts')),
  ],
  defaultCommand: 'list',
};
