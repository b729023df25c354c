import { type Context, defineCommand, dryRunParameter } from '../../app/command.ts';
import { argument, type Input, moment, repeated, resolvePath, text, value } from '../../app/parameter.ts';
import { listPrinter } from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { isUnsafe } from '../../output/text.ts';
import { displayTarget, parseTarget } from '../../webhooks/address.ts';
import type { Replayed } from '../../webhooks/forward.ts';
import type { JournalEntry } from '../../webhooks/journal.ts';
import { replayCommand } from './print-event.ts';
import { type ReplayRow, replayView } from './view.ts';

const parameters = {
  journal: argument('<journal>', "a file that 'svc events listen --journal' wrote", text),
  forwardTo: value('--forward-to <url>', 'where the events go; https, or loopback', parseTarget),
  id: repeated('--id <id>', 'only the event with this id; may be repeated', text),
  type: repeated('--type <type>', 'only events of this type; may be repeated', text),
  dryRun: dryRunParameter,
  since: value('--since <time>', 'only events received from this time on', moment),
} as const;

/** `svc events replay` */
export const replay = defineCommand({
  description:
    'Each event goes out with the body and the headers with which it came, keys aside, and with a header svc-replayed that says when that was. Without --id, --type and --since all are sent. Exit code 8 when any did not reach the target.',
  examples: [
    [
      'svc events replay events.jsonl --forward-to http://localhost:3000/webhooks --since 1h',
      'the last hour',
    ],
    [
      'svc events replay events.jsonl --forward-to http://localhost:3000/webhooks --id 5f0c…',
      'a single event',
    ],
  ],
  exitCodes: [5, 8, 130],
  fields: replayView.fields,
  parameters,
  async run(context, input) {
    const target = requiredTarget(input.forwardTo);
    const print = await listPrinter(context, replayView);
    const state = nothingSent(input.id);
    try {
      await print(rows(context, input, target, state));
    } catch (error) {
      throw withContinuation(error, input, target, state);
    }
    report(context, input, target, state);
  },
  async request(context, input) {
    const url = requiredTarget(input.forwardTo);
    const { replayedRequest } = await import('../../webhooks/forward.ts');
    for await (const replayed of replayedEvents(context, { ...input, dryRun: true }, url))
      if (replayed.kind === 'sent') return { method: 'POST', url, ...replayedRequest(replayed.entry) };
    throw new SvcError('usage', '--curl has nothing to show: no event matches', {
      hint: 'Leave --curl out.',
    });
  },
});

type ReplayInput = Input<typeof parameters>;

function requiredTarget(target: URL | undefined): URL {
  if (target !== undefined) return target;
  throw new SvcError('usage', '--forward-to is missing', {
    hint: 'Say where the events go, such as --forward-to http://localhost:3000/webhooks.',
  });
}

async function* rows(
  context: Context,
  input: ReplayInput,
  target: URL,
  state: Tally,
): AsyncGenerator<readonly ReplayRow[]> {
  for await (const replayed of replayedEvents(context, input, target)) {
    note(context, input.journal, replayed, state);
    if (replayed.kind === 'sent') yield [rowOf(replayed)];
  }
}

async function* replayedEvents(context: Context, input: ReplayInput, target: URL): AsyncGenerator<Replayed> {
  const { clock, system, signal } = context;
  const [{ replay: replayEvents }, { createTransport }] = await Promise.all([
    import('../../webhooks/forward.ts'),
    import('../../http/transport.ts'),
  ]);
  const transport = createTransport(system.env, input.dryRun);
  context.onClose(() => transport.close());
  const choice = { ids: input.id, types: input.type, since: input.since?.(clock.now()) };
  const options = { transport, clock, dryRun: input.dryRun };
  yield* replayEvents(resolvePath(context, input.journal), target, choice, options, signal);
}

function rowOf({ entry, result }: Extract<Replayed, { kind: 'sent' }>): ReplayRow {
  const { received_at, id, type } = entry;
  const { status, attempts, reason } = result;
  return {
    id,
    type,
    received_at,
    outcome: reason !== undefined ? 'failed' : attempts === 0 ? 'not sent' : 'sent',
    status,
    attempts,
    reason,
  };
}

const MAX_REPORTED_UNREADABLE = 5;
const FAILED_KEPT = 5;

/** What was asked for. */
interface ReplayOptions {
  readonly journal: string;
  readonly id: readonly string[];
  readonly type: readonly string[];
  readonly dryRun: boolean;
}

/** What has become of the events so far. */
export interface Tally {
  sent: number;
  readonly failed: JournalEntry[];
  failedCount: number;
  redacted: number;
  unreadable: number;
  givenUp: boolean;
  last: JournalEntry | undefined;
  /** Ids that were asked for and did not turn up yet. */
  readonly missing: Set<string>;
}

/** Nothing was sent yet; these ids were asked for. */
function nothingSent(ids: readonly string[]): Tally {
  return {
    sent: 0,
    failed: [],
    failedCount: 0,
    redacted: 0,
    unreadable: 0,
    givenUp: false,
    last: undefined,
    missing: new Set(ids),
  };
}

/** Takes in what has become of one event, and tells of lines that cannot be read. */
function note({ notices }: Context, journal: string, replayed: Replayed, state: Tally): void {
  if (replayed.kind === 'unreadable') {
    state.unreadable += 1;
    if (state.unreadable <= MAX_REPORTED_UNREADABLE)
      notices.warn(`line ${replayed.line} of ${journal} is left out: ${replayed.problem}`);
    return;
  }
  if (replayed.kind === 'given up') {
    state.givenUp = true;
    keepFailed(state, replayed.from);
    return;
  }
  const { entry, result } = replayed;
  state.missing.delete(entry.id);
  state.last = entry;
  if (entry.redacted) state.redacted += 1;
  if (result.reason === undefined) state.sent += 1;
  else {
    state.failedCount += 1;
    keepFailed(state, entry);
  }
}

function keepFailed({ failed }: Tally, entry: JournalEntry): void {
  if (failed.length <= FAILED_KEPT) failed.push(entry);
}

/** Tells at the end what has become of the events. @throws SvcError when any did not reach the target, or was not found */
function report({ notices }: Context, input: ReplayOptions, target: URL, state: Tally): void {
  if (state.unreadable > MAX_REPORTED_UNREADABLE)
    notices.warn(`${state.unreadable} lines were left out in all`);
  if (state.redacted > 0)
    notices.warn(
      `${state.redacted} events went out with [hidden] or masked digits where the journal keeps nothing`,
    );
  if (state.failedCount > 0) throw failedError(input, target, state);
  if (state.missing.size > 0) {
    throw new SvcError(
      'not_found',
      `no event ${[...state.missing].join(', ')} was found in ${input.journal}`,
      {
        hint: 'Check the id, and that --type and --since do not leave it out.',
      },
    );
  }
  if (input.dryRun && state.sent > 0)
    return notices.note(`dry run: ${state.sent} would be sent to ${displayTarget(target)}, nothing was`);
  notices.note(
    state.sent === 0
      ? 'no event matches: nothing was sent'
      : `${state.sent} sent to ${displayTarget(target)}`,
  );
}

function failedError(input: ReplayOptions, target: URL, state: Tally): SvcError {
  const { sent, failedCount, failed, givenUp } = state;
  const rest = givenUp ? '; the rest was not tried, since no answer came' : '';
  // From the first that failed on where they are many, or cannot be typed: what was sent after it is sent once more.
  const many = givenUp || failedCount > FAILED_KEPT || failed.some(({ id }) => isUnsafe(id));
  const choice = many
    ? { types: input.type, since: failed[0]?.received_at }
    : { ids: failed.map(({ id }) => id) };
  const command = replayCommand(input.journal, displayTarget(target), choice);
  return new SvcError(
    'network',
    `${failedCount} of ${sent + failedCount} events did not reach ${displayTarget(target)}${rest}`,
    {
      hint: `See that the target runs, then send them with '${command}'.`,
      facts: { sent, failed: failedCount },
    },
  );
}

/** Adds to the end of a replay that was cut short how it goes on. */
function withContinuation(error: unknown, input: ReplayOptions, target: URL, { last, sent }: Tally): unknown {
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) return error;
  const since = last?.received_at;
  const command = replayCommand(input.journal, displayTarget(target), {
    types: input.type,
    ids: input.id,
    since,
  });
  return new SvcError(error.code, `${error.message}; ${sent} events were sent until then`, {
    hint: `Continue with '${command}'; the last event is sent once more.`,
  });
}
