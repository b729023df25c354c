import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for audit logs. */
export const LOGS_HABITS: Habits = {
  commands: [
    ['get logs', 'logs'],
    ['follow', 'logs tail'],
    ['logs get', 'logs --entity-id <id>', 'A log entry has no id.'],
    ['logs show', 'logs --entity-id <id>', 'A log entry has no id.'],
    ['logs view', 'logs --entity-id <id>', 'A log entry has no id.'],
    ['logs query', 'logs'],
    ['logs filter-log-events', 'logs'],
    ['logs count', 'logs stats'],
    ['logs export', 'logs archive <dir>'],
    ['logs download', 'logs archive <dir>'],
    ['logs backup', 'logs archive <dir>'],
    ['logs delete', 'logs archive <dir> --keep <months>', 'Logs cannot be deleted at the service, only in an archive.'],
  ],
  options: [
    ['--entity', ['--entity-type']],
    ['--type', ['--entity-type']],
    ['--resource', ['--entity-type']],
    ['--actor-id', ['--actor']],
    ['--user', ['--actor']],
    ['--event', ['--operation']],
    ['--id', ['--entity-id']],
    ['--entity-id', [], 'The id stands alone: svc logs history <id>.'],
    ['--by', [], 'Every count is shown; choose one with --jq.'],
  ],
  extraWords: [['logs tail', 'logs search <dir>', 'tail reads the service; search reads an archive.']],
};
