import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { positiveDuration } from '../../cli/duration.ts';
import { resolvePath } from '../../cli/files.ts';
import { type Input, repeated, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { integer, text } from '../../cli/values.ts';
import { isLoopback } from '../../address.ts';
import { SvcError } from '../../errors.ts';
import type { ListenedEvent } from '../../events/followers.ts';
import type { Listener, ListenOptions } from '../../events/listen.ts';
import { parseTarget } from '../../events/target.ts';
import { eventRow, type EventRow, eventView } from '../../views/event.ts';
import { ADDRESS_PARAMETERS, listeningAddress } from './address.ts';
import { exitCode, finish, printUntilEnd } from './listen-end.ts';
import { tellHappening, tellUndone } from './tell.ts';

const parameters = {
  port: value('--port <n>', 'port to listen on; 0 takes a free one (default 4020)', integer(0, 65_535)),
  ...ADDRESS_PARAMETERS,
  forwardTo: repeated(
    '--forward-to <url>',
    'post each event there too; https, or loopback; may be repeated',
    parseTarget,
  ),
  exec: value(
    '--exec <command>',
    'run this shell command for each event, one at a time: the event on its input, its fields in SVC_EVENT_ID, SVC_EVENT_TYPE, SVC_JOB_ID, SVC_JOB_STATUS …',
    text,
  ),
  execLimit: value('--exec-limit <duration>', 'longest run of that command (default 5m)', positiveDuration),
  journal: value('--journal <file>', 'add each event to this file before it is acknowledged', text),
  for: value('--for <duration>', 'end after this time', positiveDuration),
  max: value('-n, --max <n>', 'end after this many events', integer(1)),
} as const;

const DEFAULT_PORT = 4020;

type ListenInput = Input<typeof parameters>;

/** `svc events listen` */
export const listen = defineCommand({
  name: 'listen',
  summary: 'receive webhook events on this machine and print them as they come',
  description:
    'An event is acknowledged as soon as the journal has it, and printed, forwarded and handed to the command after that: none of these can delay or lose it. The command is one line for the shell (sh -c), like a git hook; nothing of an event becomes part of it, and keys are not in its environment; what it writes goes to stderr. An event whose id came before is marked as repeated. Signatures are kept in the journal and passed on, not checked.',
  examples: [
    ['svc events listen', 'events posted to http://127.0.0.1:4020 are printed'],
    [
      'svc events listen --journal events.jsonl --forward-to http://localhost:3000/webhooks',
      'kept, and passed on to an application in development',
    ],
    [`svc events listen --exec 'notify-send "$SVC_EVENT_TYPE" "$SVC_JOB_ID"'`, 'a command for each event'],
    ['svc events listen --max 1 --for 10m -o json', 'wait for one event, ten minutes at most'],
  ],
  exitCodes: [130, 143],
  fields: eventView.fields,
  parameters,
  async run(context, input) {
    refuseLoop(input);
    const address = listeningAddress(context, input);
    const print = await listPrinter(context, eventView);
    const { Listener: ListenerClass } = await import('../../events/listen.ts');
    const listener = await ListenerClass.open({ ...optionsOf(context, input), ...address });
    try {
      tellStart(context, listener, input);
      await printUntilEnd(context, listener, input.for, () => print(rows(listener)));
    } finally {
      for (const undone of await finish(context, listener))
        tellUndone(context.notices, undone, input.journal);
    }
    return exitCode(context);
  },
});

// Each event would come back for ever.
function refuseLoop({ forwardTo, port = DEFAULT_PORT }: ListenInput): void {
  if (!forwardTo.some((target) => isLoopback(target) && Number(target.port || 80) === port)) return;
  throw new SvcError('usage', '--forward-to is the address of the listener itself', {
    hint: 'Give the listener another --port, or name another target.',
  });
}

function optionsOf(context: Context, input: ListenInput): ListenOptions {
  const { system, clock, out } = context;
  const { exec, execLimit = 300_000, journal, max, forwardTo } = input;
  return {
    port: input.port ?? DEFAULT_PORT,
    clock,
    forwardTo,
    max,
    environment: system.env,
    journal: journal === undefined ? undefined : resolvePath(context, journal),
    command:
      exec === undefined
        ? undefined
        : {
            line: exec,
            environment: system.env,
            platform: system.platform,
            cwd: system.cwd,
            limitMs: execLimit,
          },
    redact: (line) => out.redact(line),
    onHappening: tellHappening(context),
  };
}

function tellStart({ notices }: Context, listener: Listener, { journal }: ListenInput): void {
  const kept = journal === undefined ? '' : `, kept in ${journal}`;
  notices.note(`listening on ${listener.url}${kept}; stop with Ctrl-C`);
}

async function* rows(listener: Listener): AsyncGenerator<readonly EventRow[]> {
  for await (const batch of listener.events()) yield batch.map(rowOf);
}

function rowOf({ delivery, receivedAt, repeated: isRepeated }: ListenedEvent): EventRow {
  return eventRow(delivery, receivedAt, isRepeated);
}
