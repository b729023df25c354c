import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for audit logs. */
export const LOGS_HABITS: Habits = {
  commands: [
    ['logs show', 'logs --entity-id <id>', 'A log entry has no id.'],
    ['logs delete', 'logs archive <dir> --keep <months>', 'Logs cannot be deleted at the service, only in an archive.'],
  ],
  options: [
    ['--entity --type --resource', ['--entity-type']],
    ['--actor-id --user', ['--actor']],
    ['--event', ['--operation']],
    ['--id', ['--entity-id']],
    ['--entity-id', [], 'The id stands alone: svc logs history <id>.'],
    ['--by', [], 'Every count is shown; choose one with --jq.'],
  ],
  extraWords: [['logs tail', 'logs search <dir>', 'tail reads the service; search reads an archive.']],
};
