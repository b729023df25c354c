import { once } from 'node:events';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { exactMembers, exactText } from '../../base/json/exact.ts';
import { keepSource, sourceFrom } from '../../base/json/source.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { type Input, extending, flag, repeated, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { hostName, integer, positiveDuration, text } from '../../cli/app/value-parsers.ts';
import { parseTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { type View, fieldPaths } from '../../cli/output/view.ts';
import type { ReceiverOptions } from '../../client/webhooks/receiver.ts';
import type { ListenOptions, Listener } from '../listener.ts';
import { Refusals, type Resend, reportForwarded, reportUnprocessed } from '../report.ts';
import type { AcceptedEvent, Unprocessed } from '../sinks.ts';
import { displayTarget, parseTarget } from '../target.ts';
import { shortId } from '../unsent.ts';
import { isLoopback, isLoopbackHost } from '../../schema/address.ts';

type EventRow = ReturnType<typeof eventRow>;

// An older delivery may be a copy that somebody sends again.
const OLD_SECONDS = 300;

const eventView: View<EventRow> = {
  name: 'event',
  fields: fieldPaths(`
    received_at repeated age_seconds event.id event.type event.timestamp event.tenant_id
    event.trace_id event.data.job.id event.data.job.status event.data.actor delivered_at event.*
  `),
  columns: [
    { path: 'received_at', header: 'received', kind: 'time', priority: 4 },
    { path: 'event.type', header: 'type', kind: 'text' },
    { path: 'event.data.job.id', header: 'job', kind: 'id', priority: 6 },
    { path: 'event.data.job.status', header: 'job status', kind: 'status', priority: 5 },
    { path: 'event.id', header: 'event', kind: 'id', priority: 1 },
    {
      path: 'age_seconds',
      header: 'age s',
      kind: 'number',
      priority: 2,
      paint: (age) => (typeof age === 'number' && Math.abs(age) > OLD_SECONDS ? 'warn' : undefined),
    },
    { path: 'repeated', kind: 'text', priority: 3, paint: (repeated) => (repeated === true ? 'warn' : 'quiet') },
  ],
};

const ADDRESS_PARAMETERS = {
  host: value('--host <address>', 'address to listen on (default 127.0.0.1, this machine only)', text),
  allowRemote: flag('--allow-remote', 'allow a --host that other machines can reach; no key is required'),
  allowHost: repeated('--allow-host <name>', 'another host name that senders use, such as that of a tunnel', hostName),
} as const;

const parameters = {
  port: value('--port <n>', 'port to listen on; 0 takes a free one (default 4020)', integer(0, 65_535)),
  ...ADDRESS_PARAMETERS,
  forwardTo: repeated('--forward-to <url>', 'post each event there too: https, or loopback', parseTarget),
  journal: extending(value('--journal <file>', 'append each event to this file before it is acknowledged', text)),
  for: value('--for <duration>', 'end after this time', positiveDuration),
  max: value('--max <n>', 'end after this many events; with 11 if --for comes first', integer(1)),
} as const;

const DEFAULT_PORT = 4020;

type ListenInput = Input<typeof parameters>;

export const listen = defineCommand({
  description:
    'An event is acknowledged as soon as it is in the journal, and then printed and forwarded: neither can delay or lose it. An event whose id was received before is marked as repeated. Signatures are kept and forwarded, not checked.',
  examples: [
    ['svc events listen', 'events posted to http://127.0.0.1:4020 are printed'],
    [
      'svc events listen --journal events.jsonl --forward-to http://localhost:3000/webhooks',
      'store them, and forward them to an application in development',
    ],
    ['svc events listen | while read -r event; do svc au resume; done', 'run a command for each event'],
    [
      'svc events listen --max 1 --for 10m -o json',
      'wait for one event, ten minutes at most, and end with 11 if none came',
    ],
  ],
  exitCodes: [
    1,
    [8, 'an event did not reach a target'],
    [11, 'the time was over before --max events came'],
    13,
    130,
    143,
  ],
  endsWithReader: true,
  fields: eventView.fields,
  parameters,
  async run(context, input) {
    refuseLoop(input);
    const address = listeningAddress(context, input);
    const print = await listPrinter(context, eventView);
    const { Listener: ListenerClass } = await import('../listener.ts');
    const refusals = new Refusals(context.notices);
    const listener = await ListenerClass.open({ ...optionsOf(context, input, refusals), ...address });
    let unprocessed: readonly Unprocessed[] = [];
    let resends: readonly Resend[] = [];
    let received = 0;
    let isPrinted = false;
    const count = (batch: readonly EventRow[]): void => void (received += batch.length);
    try {
      reportStart(context, listener, input);
      await printUntilEnd(context, listener, input.for, () => print(rows(listener, count)));
      isPrinted = true;
    } finally {
      unprocessed = await finish(context, listener);
      resends = unprocessed.flatMap((each) => reportUnprocessed(context, each, input.journal) ?? []);
      // If the listener ended by itself, its error suggests these commands.
      if (!isPrinted || context.signal.aborted)
        for (const { advice, words } of resends) noteNext(context, `to send them again${advice}`, words);
      refusals.end();
    }
    const code = exitCode(context, unprocessed, resends);
    if (code === 0 && received < (input.max ?? 0)) throw tooFew(received, input.max);
    return code;
  },
});

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

// Forwarding to the listener itself would repeat each event forever.
function refuseLoop({ forwardTo, port = DEFAULT_PORT }: ListenInput): void {
  if (!forwardTo.some((target) => isLoopback(target) && portOf(target) === port)) return;
  throw new SvcError('usage', '--forward-to is the address of the listener itself', {
    hint: 'Give the listener another --port, or name another target.',
  });
}

function optionsOf(context: Context, input: ListenInput, refusals: Refusals): ListenOptions {
  const { system, clock, out } = context;
  const { journal, max, forwardTo } = input;
  return {
    port: input.port ?? DEFAULT_PORT,
    clock,
    forwardTo,
    limit: max,
    environment: system.env,
    journal: journal === undefined ? undefined : resolvePath(context, journal),
    redact: (line) => out.redact(line),
    onRefused: (refusal) => refusals.add(refusal),
    onForwarded: (event, target, result) => reportForwarded(context, event, target, result),
  };
}

function reportStart({ notices }: Context, listener: Listener, { journal }: ListenInput): void {
  const kept = journal === undefined ? '' : `, storing events in ${journal}`;
  notices.note(`listening on ${listener.url}${kept}; stop with Ctrl-C`);
}

async function* rows(
  listener: Listener,
  onBatch: (batch: readonly EventRow[]) => void,
): AsyncGenerator<readonly EventRow[]> {
  for await (const batch of listener.events()) {
    const shown = batch.map(eventRow);
    onBatch(shown);
    yield shown;
  }
}

function eventRow({ delivery, bytes, receivedAt, repeated }: AcceptedEvent) {
  const known = {
    received_at: new Date(receivedAt).toISOString(),
    repeated,
    age_seconds: ageOf(delivery.delivered_at, receivedAt),
  };
  // A member of the delivery must not replace one of these. The journal keeps the delivery as sent.
  const row = { ...known, ...delivery, ...known };
  const sent = exactMembers(keepSource({ ...delivery }, sourceFrom(new TextDecoder().decode(bytes))));
  // Numbers keep the digits that were sent, which JavaScript numbers may lose.
  return keepSource(row, sourceFrom(exactText({ ...known, ...sent, ...known })));
}

/** Returns the seconds from `delivered_at` to the receipt, by this machine's clock. */
function ageOf(deliveredAt: unknown, receivedAt: number): number | undefined {
  const at = typeof deliveredAt === 'string' ? parseTime(deliveredAt) : undefined;
  return at === undefined ? undefined : Math.round((receivedAt - at) / 100) / 10;
}

// The time to finish open events: a moment after Ctrl-C, otherwise enough for every attempt.
const GRACE_MS = { interrupted: 2_000, done: 60_000 };

/** Prints until the listener ends by itself, the time is up, or a signal ends the command. */
async function printUntilEnd(
  { signal, clock }: Context,
  listener: Listener,
  limitMs: number | undefined,
  printing: () => Promise<unknown>,
): Promise<void> {
  const printed = new AbortController();
  const ended = AbortSignal.any([signal, printed.signal]);
  if (limitMs !== undefined) clock.sleep(limitMs, ended).then(() => listener.end(), ignore);
  const interrupted = aborted(signal).then(() => listener.end());
  // A reader of stdout that stops reading must not delay the end.
  const graceOver = interrupted.then(() => clock.sleep(GRACE_MS.interrupted, printed.signal)).catch(ignore);
  await Promise.race([printing(), graceOver]).finally(() => printed.abort());
}

/** Waits for open events, and returns the events that did not reach a target. */
async function finish({ signal, clock }: Context, listener: Listener): Promise<readonly Unprocessed[]> {
  const finished = new AbortController();
  const late = new AbortController();
  const grace = (ms: number): void => void clock.sleep(ms, finished.signal).then(() => late.abort(), ignore);
  grace(GRACE_MS.done);
  void aborted(signal).then(() => grace(GRACE_MS.interrupted));
  return listener.finish(late.signal).finally(() => finished.abort());
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/**
 * Returns the exit code. Ending a listener by a signal is no error, but has the exit code of the signal.
 * @throws SvcError `network` if an event did not reach a target
 */
function exitCode({ signal }: Context, unprocessed: readonly Unprocessed[], resends: readonly Resend[]): number {
  if (!signal.aborted) {
    if (unprocessed.length === 0) return 0;
    throw notProcessed(unprocessed, resends);
  }
  if (isSvcError(signal.reason, 'hangup', 'interrupted', 'terminated')) return signal.reason.exitCode;
  throw signal.reason;
}

function notProcessed(unprocessed: readonly Unprocessed[], resends: readonly Resend[]): SvcError {
  const advice = resends.find((one) => one.advice !== '')?.advice ?? '';
  const [next, ...alternatives] = resends.map(({ words }) => words);
  return new SvcError('network', 'not every event was forwarded', {
    retryable: false,
    hint: next && `Send them again${advice}:`,
    next,
    alternatives,
    facts: {
      unprocessed: unprocessed.map(({ target, events: { count, ids } }) => ({
        target: displayTarget(target),
        count,
        ids: ids.map(shortId),
      })),
    },
  });
}

/** Returns the error for fewer events than `--max`, so that a script does not continue without them. */
function tooFew(received: number, max = 0): SvcError {
  return new SvcError('pending', `the time was over after ${received} of ${countText(max, 'event')}`, {
    hint: 'Run the command again to wait longer.',
    facts: { received, expected: max },
  });
}

function ignore(): void {
  // The sleep was aborted because the wait is over.
}

/** Returns the address to listen on. An address that other machines can reach requires an option, and causes a warning. */
function listeningAddress(
  { notices }: Context,
  input: Input<typeof ADDRESS_PARAMETERS>,
): Pick<ReceiverOptions, 'host' | 'allowHosts'> {
  const { host, allowHost } = input;
  if (host === undefined || isLoopbackHost(host)) return { host, allowHosts: allowHost };
  if (!input.allowRemote) {
    throw new SvcError('usage', 'other machines can reach the address given with --host', {
      hint: 'Leave it out, or add --allow-remote if other machines are to send events.',
    });
  }
  notices.warn('other machines can reach the listener: anyone who can reach it can send forged events');
  return { host, allowHosts: 'any' };
}
