import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for the Account Updater. */
export const AU_HABITS: Habits = {
  commands: [
    ['cancel', 'au abandon <run>', 'Jobs cannot be canceled at the service.'],
    ['au cancel', 'au abandon <run>', 'Jobs cannot be canceled at the service.'],
    ['au delete', 'au abandon <run>', 'Jobs cannot be deleted at the service.'],
    ['au jobs list', 'au jobs'],
    ['au list', 'au jobs'],
    ['au show', 'au status <job>'],
    ['au watch', 'au jobs --watch'],
    ['au start', 'au submit <file>'],
    ['au send', 'au submit <file>'],
    ['au run', 'au submit <file>'],
    ['au run list', 'au runs'],
    ['au results', 'au download <job>'],
    ['au runs delete', 'au runs prune --older-than <duration>'],
    ['au runs show', 'au status <run>'],
    ['au runs cancel', 'au abandon <run>'],
  ],
  extraWords: [
    ['au create', 'au submit <file>', 'au submit creates the job, uploads the file and waits.'],
    ['au upload', 'au submit <file>', 'au submit creates the job, uploads the file and waits.'],
    ['au jobs', 'au status <job>'],
    ['au runs list', 'au status <run>'],
    ['au sync', 'au resume <run>', 'sync is about all runs.'],
    ['au submit', 'au submit <file> --cycle <name>', 'Submit each file by itself; a cycle keeps them together.'],
  ],
  options: [
    [
      '--again',
      ['--cycle'],
      'Rows are sent once in a cycle: to send them again, name the next one, such as 2026-12.2.',
    ],
    ['--also', ['--cycle'], 'Rows are sent once in a cycle: to send them again, name the next one, such as 2026-12.2.'],
    ['--only-new', [], 'Every submission leaves out the rows that its cycle has: leave the option out.'],
    ['--adopt', [], 'The ledger knows which rows were sent: leave the option out.'],
    ['--retry-failed', [], "Submit the file again: 'svc au submit <file>' sends what failed in another job."],
    ['--other-job', [], "Say once that a job is of another system: 'svc au ignore <job>'."],
    ['--run-dir', [], "Share a ledger between machines: 'svc profile set ledger <location>'."],
  ],
  choices: { '--status': { completed: 'done success finished', processing: 'running', failed: 'error' } },
};
