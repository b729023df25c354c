import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for 3-D Secure. */
export const THREE_DS_HABITS: Habits = {
  commands: [
    ['3ds list', '3ds show <session>', 'The service does not list sessions.'],
    ['3ds result', '3ds challenge-result <session>'],
  ],
  extraWords: [
    ['3ds authenticate', '3ds authenticate <session> --file <file>'],
    ['3ds create', '3ds create --token <id>'],
    ['3ds run', '3ds run --card <name>'],
  ],
};
