import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for the sandbox. */
export const SANDBOX_HABITS: Habits = {
  commands: [
    ['sandbox stop', '', "Press Ctrl-C where 'svc sandbox start' runs."],
    ['sandbox status', 'sandbox requests'],
    ['sandbox logs', 'sandbox requests'],
    ['sandbox run', 'sandbox exec -- <command>'],
  ],
  extraWords: [['sandbox start', 'sandbox start --port <n>']],
  choices: { '--limits': { on: 'true', off: 'false' } },
};
