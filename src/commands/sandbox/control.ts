import { defineCommand } from '../../app/command.ts';
import { sandboxDirectory } from '../../app/context.ts';
import {
  flag,
  type Moment,
  moment,
  optionalArgument,
  resolvePath,
  text,
  value,
} from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { parseDuration } from '../../config/values.ts';
import { SvcError } from '../../errors.ts';
import type { ClockMove } from '../../sandbox/state/state.ts';
import { directoryFrom, directoryParameter } from './server-options.ts';
import { sandboxClockView } from './view.ts';

/** `svc sandbox clock` */
export const clock = defineCommand({
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
    const { moveClock } = await import('../../sandbox/state/state.ts');
    const directory = directoryFrom(context, input.directory);
    const { before, after, ahead: offset } = moveClock(directory, () => context.clock.now(), move);
    await print({
      before: new Date(before).toISOString(),
      after: new Date(after).toISOString(),
      ahead_seconds: Math.round(offset / 1000),
    });
  },
});

interface ClockInput {
  readonly by: string | undefined;
  readonly at: Moment | undefined;
  readonly reset: boolean;
}

function moveFrom({ by, at, reset }: ClockInput, now: number): ClockMove | undefined {
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

/** `svc sandbox reset` */
export const reset = defineCommand({
  examples: [['svc sandbox reset --yes', 'delete its jobs, files and logs']],
  parameters: {
    directory: value('--directory <dir>', 'where its state is; by default the one that --sandbox uses', text),
  },
  async run(context, input) {
    const directory =
      input.directory === undefined ? sandboxDirectory(context) : resolvePath(context, input.directory);
    const agreed = await context.prompts.confirm(
      'Reset the sandbox? Its jobs, files and logs are deleted.',
      'Pass --yes.',
    );
    if (!agreed) return context.notices.note('canceled: nothing was reset');
    const { resetSandbox } = await import('../../sandbox/state/journal.ts');
    resetSandbox(directory);
    context.notices.success('sandbox reset');
  },
});
