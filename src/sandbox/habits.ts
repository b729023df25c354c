import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for the sandbox. */
export const SANDBOX_HABITS: Habits = {
  commands: [
    ['mock', 'sandbox start'],
    ['serve', 'sandbox start'],
    ['fixtures', 'sandbox cards'],
    ['sandbox stop', '', "Press Ctrl-C where 'svc sandbox start' runs."],
    ['sandbox status', 'sandbox requests'],
    ['sandbox logs', 'sandbox requests'],
    ['sandbox run', 'sandbox exec -- <command>'],
    ['sandbox time', 'sandbox clock +6d'],
    ['sandbox advance', 'sandbox clock +6d'],
    ['sandbox tokens', 'sandbox cards'],
  ],
  extraWords: [['sandbox start', 'sandbox start --port <n>']],
  choices: { '--limits': { on: 'true', off: 'false' } },
};
