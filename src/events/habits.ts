import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for webhook events. */
export const EVENTS_HABITS: Habits = {
  commands: [
    ['webhooks', 'events listen'],
    ['forward', 'events listen --forward-to <url>'],
    ['events forward', 'events listen --forward-to <url>'],
    ['events list', 'events listen'],
    ['events tail', 'events listen'],
    ['events send', 'events trigger <type>'],
  ],
  extraWords: [['events listen', 'events listen --port <n>']],
};
