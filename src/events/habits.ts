import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for webhook events. */
export const EVENTS_HABITS: Habits = {
  commands: [
    ['webhooks', 'events listen'],
    ['events list', 'events listen'],
    ['events tail', 'events listen'],
  ],
  extraWords: [['events listen', 'events listen --port <n>']],
};
