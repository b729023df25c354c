import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { resolvePath } from '../../cli/files.ts';
import { moment } from '../../cli/moment.ts';
import { dryRunParameter } from '../../cli/preview.ts';
import { argument, type Input, repeated, value } from '../../cli/parameter.ts';
import { listPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { Replayed } from '../../events/replay.ts';
import { parseTarget } from '../../events/target.ts';
import { type ReplayRow, replayView } from '../../views/replayed-event.ts';
import { note, nothingSent, type Tally, tell, withContinuation } from './replay-tally.ts';

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
    tell(context, input, target, state);
  },
  async request(context, input) {
    const url = requiredTarget(input.forwardTo);
    const { replayedRequest } = await import('../../events/replay.ts');
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
    import('../../events/replay.ts'),
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
