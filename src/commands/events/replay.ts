import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { resolvePath } from '../../cli/files.ts';
import { moment } from '../../cli/moment.ts';
import { argument, type Input, repeated, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import type { JournalEntry } from '../../events/journal.ts';
import type { Replayed } from '../../events/replay.ts';
import { parseTarget, shownTarget } from '../../events/target.ts';
import { type ReplayRow, replayView } from '../../views/replayed-event.ts';
import { replayCommand } from './again.ts';

const parameters = {
  journal: argument('<journal>', "a file that 'svc events listen --journal' wrote", text),
  forwardTo: value('--forward-to <url>', 'where the events go; https, or loopback', parseTarget),
  id: repeated('--id <id>', 'only the event with this id; may be repeated', text),
  type: repeated('--type <type>', 'only events of this type; may be repeated', text),
  since: value('--since <time>', 'only events received from this time on', moment),
} as const;

/** `svc events replay` */
export const replay = defineCommand({
  name: 'replay',
  summary: 'send events of a journal again, in order',
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
  parameters,
  async run(context, input) {
    const target = requiredTarget(input.forwardTo);
    const print = await listPrinter(context, replayView);
    const state = nothingSent();
    try {
      await print(rows(context, input, target, state));
    } catch (error) {
      throw withContinuation(error, input, target, state);
    }
    tell(context, input, target, state);
  },
});

type ReplayInput = Input<typeof parameters>;

/** What has become of the events so far. */
interface State {
  sent: number;
  readonly failed: JournalEntry[];
  failedCount: number;
  redacted: number;
  unreadable: number;
  givenUp: boolean;
  last: JournalEntry | undefined;
  readonly ids: Set<string>;
}

function nothingSent(): State {
  return {
    sent: 0,
    failed: [],
    failedCount: 0,
    redacted: 0,
    unreadable: 0,
    givenUp: false,
    last: undefined,
    ids: new Set(),
  };
}

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
  state: State,
): AsyncGenerator<readonly ReplayRow[]> {
  const { clock, system, signal } = context;
  const [{ replay: replayEvents }, { createTransport }] = await Promise.all([
    import('../../events/replay.ts'),
    import('../../http/transport.ts'),
  ]);
  const transport = createTransport(system.env);
  context.onClose(() => transport.close());
  const choice = { ids: input.id, types: input.type, since: input.since?.(clock.now()) };
  const journal = resolvePath(context, input.journal);
  for await (const replayed of replayEvents(journal, target, choice, { transport, clock }, signal)) {
    note(context, input.journal, replayed, state);
    if (replayed.kind === 'sent') yield [rowOf(replayed)];
  }
}

function note({ notices }: Context, journal: string, replayed: Replayed, state: State): void {
  if (replayed.kind === 'unreadable') {
    state.unreadable += 1;
    if (state.unreadable <= UNREADABLE_TOLD)
      notices.warn(`line ${replayed.line} of ${journal} is left out: ${replayed.problem}`);
    return;
  }
  if (replayed.kind === 'given up') {
    state.givenUp = true;
    keepFailed(state, replayed.from);
    return;
  }
  const { entry, result } = replayed;
  state.ids.add(entry.id);
  state.last = entry;
  if (entry.redacted) state.redacted += 1;
  if (result.reason === undefined) state.sent += 1;
  else {
    state.failedCount += 1;
    keepFailed(state, entry);
  }
}

const UNREADABLE_TOLD = 5;
const FAILED_KEPT = 5;

function keepFailed({ failed }: State, entry: JournalEntry): void {
  if (failed.length <= FAILED_KEPT) failed.push(entry);
}

function rowOf({ entry, result }: Extract<Replayed, { kind: 'sent' }>): ReplayRow {
  const { received_at, id, type } = entry;
  const { status, attempts, reason } = result;
  return {
    id,
    type,
    received_at,
    outcome: reason === undefined ? 'sent' : 'failed',
    status,
    attempts,
    reason,
  };
}

function tell({ notices }: Context, input: ReplayInput, target: URL, state: State): void {
  if (state.unreadable > UNREADABLE_TOLD) notices.warn(`${state.unreadable} lines were left out in all`);
  if (state.redacted > 0)
    notices.warn(
      `${state.redacted} events went out with [hidden] or masked digits where the journal keeps nothing`,
    );
  if (state.failedCount > 0) throw failedError(input, target, state);
  const missing = state.givenUp ? [] : input.id.filter((id) => !state.ids.has(id));
  if (missing.length > 0) {
    throw new SvcError('not_found', `no event ${missing.join(', ')} was found in ${input.journal}`, {
      hint: 'Check the id, and that --type and --since do not leave it out.',
    });
  }
  notices.note(
    state.sent === 0 ? 'no event matches: nothing was sent' : `${state.sent} sent to ${shownTarget(target)}`,
  );
}

function failedError(input: ReplayInput, target: URL, state: State): SvcError {
  const { sent, failedCount, failed, givenUp } = state;
  const rest = givenUp ? '; the rest was not tried, since no answer came' : '';
  // From the first that failed on where they are many: what was sent after it is then sent once more.
  const many = givenUp || failedCount > FAILED_KEPT;
  const choice = many
    ? { types: input.type, since: failed[0]?.received_at }
    : { ids: failed.map(({ id }) => id) };
  const command = replayCommand(input.journal, shownTarget(target), choice);
  return new SvcError(
    'network',
    `${failedCount} of ${sent + failedCount} events did not reach ${shownTarget(target)}${rest}`,
    {
      hint: `See that the target runs, then send them with '${command}'.`,
      facts: { sent, failed: failedCount },
    },
  );
}

/** Adds to the end of a replay that was cut short how it goes on. */
function withContinuation(error: unknown, input: ReplayInput, target: URL, { last, sent }: State): unknown {
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'time_up')) return error;
  const since = last?.received_at;
  const command = replayCommand(input.journal, shownTarget(target), {
    types: input.type,
    ids: input.id,
    since,
  });
  return new SvcError(error.code, `${error.message}; ${sent} events were sent until then`, {
    hint: `Continue with '${command}'; the last event is sent once more.`,
  });
}
