import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { flag, type Input, optionalArgument, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { momentAhead } from '../../cli/app/moment.ts';
import { parseDuration } from '../../cli/config/values.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { ClockMove } from '../../emulator/state/state.ts';
import { startedDirectory, directoryParameter } from '../server-options.ts';

/** The sandbox's time before and after a move, and the offset to the machine's clock. */
const sandboxClockView: View = {
  name: 'clock',
  fields: ['before', 'after', 'ahead_seconds'],
  columns: simpleColumns({ before: 'time', after: 'time', ahead_seconds: 'number' }),
};

const clockParameters = {
  by: optionalArgument('[+duration]', 'how far to move it, such as +6d23h', ahead),
  at: value('--at <time>', 'the time to set', momentAhead),
  reset: flag('--reset', 'back to the time of this machine'),
  directory: directoryParameter,
} as const;

export const clock = defineCommand({
  description:
    'Moves all sandboxes that use the directory, running ones too: uploads expire, jobs finish, logs age out of retention, sessions expire. Shows the time of the sandbox before and after.',
  examples: [
    ['svc sandbox clock +6d23h', 'as if almost a week had passed'],
    ['svc sandbox clock --at 2027-01-31T23:59:00Z', 'to a time'],
    ['svc sandbox clock --reset', 'back to the time of this machine'],
  ],
  fields: sandboxClockView.fields,
  parameters: clockParameters,
  async run(context, input) {
    const print = await recordPrinter(context, sandboxClockView);
    const move = moveFrom(input);
    const { moveClock } = await import('../../emulator/state/state.ts');
    const directory = await startedDirectory(context, input.directory);
    const { before, after, ahead: offset } = moveClock(directory, () => context.clock.now(), move);
    if (move !== undefined) context.notices.note(`moved the clock of the sandboxes on ${directory}`);
    await print({
      before: new Date(before).toISOString(),
      after: new Date(after).toISOString(),
      ahead_seconds: Math.round(offset / 1000),
    });
  },
});

function moveFrom({ by, at, reset }: Input<typeof clockParameters>): ClockMove | undefined {
  if ([by !== undefined, at !== undefined, reset].filter(Boolean).length > 1)
    throw new SvcError('usage', 'a duration, --at and --reset cannot be combined', { hint: 'Give one of them.' });
  if (reset) return (_before, real) => real;
  if (at !== undefined) return (_before, real) => checked(at(real));
  const ms = by === undefined ? undefined : parseDuration(by);
  return ms === undefined ? undefined : (before) => checked(before + ms);
}

// ISO 8601 years have four digits.
const LATEST = Date.UTC(9999, 0);

function checked(time: number): number {
  if (time >= 0 && time < LATEST) return time;
  throw new SvcError('usage', 'the time of the sandbox must lie between the years 1970 and 9998', {
    hint: "Nothing was moved; 'svc sandbox clock' shows the time, and --reset sets it back.",
  });
}

function ahead(text: string): string {
  const duration = text.replace(/^\+/, '');
  if (parseDuration(duration) !== undefined) return duration;
  throw new SvcError('usage', 'must be a duration, such as +90s, +15m, +1h30m or +7d');
}
