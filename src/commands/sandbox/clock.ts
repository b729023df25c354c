import { defineCommand } from '../../cli/command.ts';
import { type Moment, moment } from '../../cli/moment.ts';
import { flag, optionalArgument, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { parseDuration } from '../../duration.ts';
import { SvcError } from '../../errors.ts';
import type { ClockMove } from '../../sandbox/clock.ts';
import { sandboxClockView } from '../../views/sandbox.ts';
import { directoryFrom, directoryParameter } from './server-options.ts';

/** `svc sandbox clock` */
export const clock = defineCommand({
  name: 'clock',
  summary: "move the sandbox's time, or show it",
  description:
    'Moves every sandbox on the directory, running ones too: uploads expire, jobs finish, logs age out of retention, sessions expire. Times are those of the sandbox, before and after.',
  examples: [
    ['svc sandbox clock +6d23h', 'as if almost a week had passed'],
    ['svc sandbox clock --at 2027-01-31T23:59:00Z', 'to a time'],
    ['svc sandbox clock --reset', "back to this machine's time"],
  ],
  fields: sandboxClockView.fields,
  parameters: {
    by: optionalArgument('[+duration]', 'how far to go on, such as +6d23h', ahead),
    at: value('--at <time>', 'the time that it is to be', moment),
    reset: flag('--reset', "back to this machine's time"),
    directory: directoryParameter,
  },
  async run(context, input) {
    const print = await recordPrinter(context, sandboxClockView);
    const move = moveFrom(input, context.clock.now());
    const { moveClock } = await import('../../sandbox/clock.ts');
    const directory = directoryFrom(context, input.directory);
    const { before, after, ahead: offset } = moveClock(directory, () => context.clock.now(), move);
    await print({
      before: new Date(before).toISOString(),
      after: new Date(after).toISOString(),
      ahead_seconds: Math.round(offset / 1000),
    });
  },
});

interface Asked {
  readonly by: string | undefined;
  readonly at: Moment | undefined;
  readonly reset: boolean;
}

function moveFrom({ by, at, reset }: Asked, now: number): ClockMove | undefined {
  if ([by !== undefined, at !== undefined, reset].filter(Boolean).length > 1)
    throw new SvcError('usage', 'a duration, --at and --reset exclude each other', {
      hint: 'Give one of them.',
    });
  if (reset) return 'reset';
  if (at !== undefined) return checked({ to: at(now) }, at(now));
  const ms = by === undefined ? undefined : parseDuration(by.slice(1));
  return ms === undefined ? undefined : checked({ by: ms }, now + ms);
}

// ISO 8601 has no more than four digits for a year.
const LATEST = Date.UTC(9999, 0);

function checked(move: ClockMove, time: number): ClockMove {
  if (time < 0 || time > LATEST)
    throw new SvcError('usage', 'the time must lie between the years 1970 and 9998');
  return move;
}

function ahead(text: string): string {
  if (text.startsWith('+') && parseDuration(text.slice(1)) !== undefined) return text;
  throw new SvcError('usage', 'must be a plus and a duration, such as +90s, +15m, +1h30m or +7d');
}
