import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { flag, type Input, integer, moment, optionalArgument, value } from '../../cli/app/parameter.ts';
import { listPrinter, once, recordPrinter } from '../../cli/app/print.ts';
import { parseDuration } from '../../cli/config/values.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { ClockMove } from '../../emulator/state/state.ts';
import { directoryFrom, directoryParameter } from '../server-options.ts';

/** The sandbox's time before and after it was moved, and how far it is ahead of the machine's clock. */
const sandboxClockView: View = {
  name: 'clock',
  fields: ['before', 'after', 'ahead_seconds'],
  columns: simpleColumns({ before: 'time', after: 'time', ahead_seconds: 'number' }),
};

const clockParameters = {
  by: optionalArgument('[+duration]', 'how far to move it, such as +6d23h', ahead),
  at: value('--at <time>', 'the time to set', moment),
  reset: flag('--reset', "back to this machine's time"),
  directory: directoryParameter,
} as const;

export const clock = defineCommand({
  description:
    'Moves every sandbox on the directory, running ones too: uploads expire, jobs finish, logs age out of retention, sessions expire. Times are those of the sandbox, before and after.',
  examples: [
    ['svc sandbox clock +6d23h', 'as if almost a week had passed'],
    ['svc sandbox clock --at 2027-01-31T23:59:00Z', 'to a time'],
    ['svc sandbox clock --reset', "back to this machine's time"],
  ],
  fields: sandboxClockView.fields,
  parameters: clockParameters,
  async run(context, input) {
    const print = await recordPrinter(context, sandboxClockView);
    const move = moveFrom(input, context.clock.now());
    const { moveClock } = await import('../../emulator/state/state.ts');
    const directory = directoryFrom(context, input.directory);
    const { before, after, ahead: offset } = moveClock(directory, () => context.clock.now(), move);
    await print({
      before: new Date(before).toISOString(),
      after: new Date(after).toISOString(),
      ahead_seconds: Math.round(offset / 1000),
    });
  },
});

function moveFrom({ by, at, reset }: Input<typeof clockParameters>, now: number): ClockMove | undefined {
  if ([by !== undefined, at !== undefined, reset].filter(Boolean).length > 1)
    throw new SvcError('usage', 'a duration, --at and --reset cannot be combined', { hint: 'Give one of them.' });
  if (reset) return 'reset';
  if (at !== undefined) return checked({ to: at(now) }, at(now));
  const ms = by === undefined ? undefined : parseDuration(by.slice(1));
  return ms === undefined ? undefined : checked({ by: ms }, now + ms);
}

// ISO 8601 has no more than four digits for a year.
const LATEST = Date.UTC(9999, 0);

function checked(move: ClockMove, time: number): ClockMove {
  if (time < 0 || time > LATEST) throw new SvcError('usage', 'the time must lie between the years 1970 and 9998');
  return move;
}

function ahead(text: string): string {
  if (text.startsWith('+') && parseDuration(text.slice(1)) !== undefined) return text;
  throw new SvcError('usage', 'must be a plus and a duration, such as +90s, +15m, +1h30m or +7d');
}

export const reset = defineCommand({
  examples: [['svc sandbox reset --yes', 'delete its jobs, files and logs']],
  parameters: { directory: directoryParameter },
  async run(context, input) {
    const directory = directoryFrom(context, input.directory);
    const question = 'Reset the sandbox? Its jobs, files and logs are deleted.';
    if (!(await context.prompts().confirm(question, 'Pass --yes.')))
      return context.notices.note('canceled: nothing was reset');
    const { resetSandbox } = await import('../../emulator/state/journal.ts');
    resetSandbox(directory);
    context.notices.success('sandbox reset');
  },
});

/** Requests that the sandbox received, and events that it delivered. */
const requestView: View = {
  name: 'request',
  fields: ['at', 'method', 'path', 'status', 'received', 'sent', 'key', 'application', 'event', 'aborted'],
  columns: [
    { path: 'at', kind: 'time', priority: 3 },
    { path: 'method', kind: 'text' },
    { path: 'path', kind: 'text', least: 32 },
    { path: 'status', kind: 'number', paint: (status) => (isRefusal(status) ? 'bad' : undefined) },
    { path: 'sent', header: 'bytes', kind: 'number', priority: 2 },
    { path: 'key', kind: 'text', priority: 1 },
    { path: 'application', kind: 'number', priority: 0 },
    { path: 'event', kind: 'text', priority: 0 },
  ],
};

// 0 stands for no response.
function isRefusal(status: unknown): boolean {
  return typeof status === 'number' && (status >= 400 || status === 0);
}

export const requests = defineCommand({
  examples: [
    ['svc sandbox requests -n 20', 'the last twenty'],
    [
      'svc sandbox requests -o csv --excel-safe --fields at,path,status',
      'requests and when they were received, for a spreadsheet',
    ],
  ],
  paged: true,
  fields: requestView.fields,
  parameters: { limit: value('-n, --limit <n>', 'only the last so many', integer(1)), directory: directoryParameter },
  async run(context, { limit, directory }) {
    const print = await listPrinter(context, requestView);
    const { listRequests } = await import('../../emulator/ledger.ts');
    const found = listRequests(directoryFrom(context, directory), limit);
    if (found.length === 0) context.notices.note('the sandbox has received no requests yet');
    await print(once(found));
  },
});

const documentView: View = { name: 'document', fields: ['*'], columns: [] };

export const openapi = defineCommand({
  description: 'Generated from the routes and schemas of the sandbox. JSON, or YAML with -o yaml.',
  examples: [
    ['svc sandbox openapi > openapi.json', 'for other tools'],
    ['svc sandbox openapi -o yaml', 'to read'],
  ],
  paged: true,
  fields: documentView.fields,
  parameters: {},
  async run(context) {
    const format = context.settings.output.value ?? 'json';
    if (format !== 'json' && format !== 'yaml')
      throw new SvcError('usage', 'the document is written as json or yaml', { hint: 'Choose -o json or -o yaml.' });
    const { openApiDocument } = await import('../../emulator/openapi/document.ts');
    const document = openApiDocument();
    if (context.query) {
      const print = await recordPrinter(context, documentView);
      return print(document);
    }
    if (format === 'json') return context.out.write(`${JSON.stringify(document, undefined, 2)}\n`);
    const { stringify } = await import('yaml');
    return context.out.write(stringify(document, { aliasDuplicateObjects: false }));
  },
});
