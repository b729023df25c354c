import { type Context, defineCommand } from '../../app/command.ts';
import {
  flag,
  hostName,
  type Input,
  integer,
  positiveDuration,
  repeated,
  resolvePath,
  text,
  value,
} from '../../app/parameter.ts';
import { listPrinter } from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { isLoopbackHost } from '../../schema/loopback.ts';
import { isLoopback } from '../../security/address.ts';
import { parseTarget } from '../../webhooks/address.ts';
import type { Listener, ListenOptions } from '../../webhooks/listen.ts';
import type { ReceiverOptions } from '../../webhooks/receiver.ts';
import type { ListenedEvent, Unprocessed } from '../../webhooks/sinks.ts';
import { reportEvent, reportUnprocessed } from './print-event.ts';
import { eventRow, type EventRow, eventView } from './view.ts';

/** Options that say where to listen. */
const ADDRESS_PARAMETERS = {
  host: value('--host <address>', 'address to listen on (default 127.0.0.1, this machine only)', text),
  allowRemote: flag(
    '--allow-remote',
    'let --host be an address that other machines reach; nobody is asked for a key',
  ),
  allowHost: repeated(
    '--allow-host <name>',
    'another name that senders may use, such as that of a tunnel; can be given again',
    hostName,
  ),
} as const;

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
    const { Listener: ListenerClass } = await import('../../webhooks/listen.ts');
    const listener = await ListenerClass.open({ ...optionsOf(context, input), ...address });
    try {
      reportStart(context, listener, input);
      await printUntilEnd(context, listener, input.for, () => print(rows(listener)));
    } finally {
      for (const undone of await finish(context, listener))
        reportUnprocessed(context.notices, undone, input.journal);
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
    onHappening: reportEvent(context),
  };
}

function reportStart({ notices }: Context, listener: Listener, { journal }: ListenInput): void {
  const kept = journal === undefined ? '' : `, kept in ${journal}`;
  notices.note(`listening on ${listener.url}${kept}; stop with Ctrl-C`);
}

async function* rows(listener: Listener): AsyncGenerator<readonly EventRow[]> {
  for await (const batch of listener.events()) yield batch.map(rowOf);
}

function rowOf({ delivery, receivedAt, repeated: isRepeated }: ListenedEvent): EventRow {
  return eventRow(delivery, receivedAt, isRepeated);
}

// What is still being forwarded or run: after Ctrl-C a moment, else long enough for every attempt.
const GRACE_MS = { interrupted: 2_000, done: 60_000 };

/** Prints until the listener ends by itself, the time is over, or the command is asked to end. */
async function printUntilEnd(
  { signal, clock }: Context,
  listener: Listener,
  forMs: number | undefined,
  printing: () => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  if (forMs !== undefined) clock.sleep(forMs, ended).then(() => listener.end(), ignore);
  const stop = (): void => listener.end();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([printing(), graceAfter(signal, clock, over.signal)]);
  } finally {
    over.abort();
    signal.removeEventListener('abort', stop);
  }
}

// A reader of stdout that has fallen silent must not hold up the end.
function graceAfter(signal: AbortSignal, clock: Context['clock'], over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = (): void => void clock.sleep(GRACE_MS.interrupted, over).then(resolve, ignore);
    if (signal.aborted) wait();
    signal.addEventListener('abort', wait, { once: true });
  });
}

/** Gives what is still being done with the events its time, and resolves to what was not done. */
async function finish({ signal, clock }: Context, listener: Listener): Promise<readonly Unprocessed[]> {
  const over = new AbortController();
  const late = new AbortController();
  const grace = (ms: number): void => void clock.sleep(ms, over.signal).then(() => late.abort(), ignore);
  const hurry = (): void => grace(GRACE_MS.interrupted);
  grace(signal.aborted ? GRACE_MS.interrupted : GRACE_MS.done);
  signal.addEventListener('abort', hurry, { once: true });
  const undone = await listener.finish(late.signal);
  over.abort();
  signal.removeEventListener('abort', hurry);
  return undone;
}

/** Being interrupted is how a listener ends: no error, but the exit code says what ended it. */
function exitCode({ signal }: Context): number {
  if (!signal.aborted) return 0;
  if (isSvcError(signal.reason, 'hangup', 'interrupted', 'terminated')) return signal.reason.exitCode;
  throw signal.reason;
}

function ignore(): void {
  // The sleep was cut short: nothing is left to wait for.
}

/** Where to listen, and for whom. An address that is not loopback needs its own option, and a warning. */
function listeningAddress(
  { notices }: Context,
  input: Input<typeof ADDRESS_PARAMETERS>,
): Pick<ReceiverOptions, 'host' | 'allowHosts'> {
  const { host, allowHost } = input;
  if (host === undefined || isLoopbackHost(host)) return { host, allowHosts: allowHost };
  if (!input.allowRemote) {
    throw new SvcError('usage', '--host is not an address of this machine alone', {
      hint: 'Leave it out, or add --allow-remote if other machines are to reach the listener.',
    });
  }
  notices.warn('the listener can be reached from other machines: whoever reaches it can make up events');
  return { host, allowHosts: 'any' };
}
