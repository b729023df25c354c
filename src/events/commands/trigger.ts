import { randomUUID } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import { didYouMean, sentences } from '../../base/security/typed-word.ts';
import { type Assignment, jsonAssignment, textAssignment, withAssignments } from '../../cli/app/assignment.ts';
import {
  type Context,
  type DirectRequest,
  Preview,
  type Result,
  defineCommand,
  dryRunParameter,
} from '../../cli/app/command.ts';
import {
  type Input,
  type Suggestion,
  assignmentsOf,
  optionalArgument,
  repeated,
  suggesting,
  value,
} from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { refuseTypedCardNumbers } from '../../cli/app/typed-card-number.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { type View, fieldPaths } from '../../cli/output/view.ts';
import type { ForwardResult } from '../forward.ts';
import { displayTarget, parseTarget } from '../target.ts';
import { TRIGGER_TYPES, isEventType } from '../trigger-types.ts';
import { isObject } from '../../schema/json-value.ts';

const triggeredView: View = {
  name: 'sample event',
  fields: fieldPaths(`
    target status event.id event.type event.timestamp event.tenant_id event.trace_id event.data.*
    delivered_at
  `),
  columns: [
    { path: 'target', kind: 'text' },
    { path: 'status', kind: 'number' },
    { path: 'event.id', header: 'event', kind: 'id' },
    { path: 'event.type', header: 'type', kind: 'text' },
    { path: 'event.data', header: 'data', kind: 'text' },
  ],
};

const DEFAULT_TARGET = 'http://127.0.0.1:4020';

const parameters = {
  type: suggesting({ wordsOf: 'event' }, optionalArgument('[type]', 'type of the event', text)),
  anyType: value('--type <type>', 'any other type; its data is empty unless --set or --set-json fills it', text),
  forwardTo: value('--forward-to <url>', `send it there; https, or loopback (default ${DEFAULT_TARGET})`, parseTarget),
  dryRun: dryRunParameter,
  set: suggesting(
    pathsAndStatuses,
    repeated('--set <path=text>', 'put a text into the event, such as data.job.id=5f0c…', textAssignment),
  ),
  setJson: repeated('--set-json <path=json>', 'put any JSON into the event', jsonAssignment),
} as const;

/** Returns the members of a job event, with the statuses of a job, for completion. */
async function pathsAndStatuses(): Promise<Suggestion[]> {
  const { wordsIn } = await import('../../cli/glossary/glossary.ts');
  const { default: words } = await import('../../cli/glossary/service.json', { with: { type: 'json' } });
  return [
    ...assignmentsOf('data.job.id', 'the job that the event is about', []),
    ...assignmentsOf('data.job.status', 'the status of the job', wordsIn(words, 'job status')),
  ];
}

export const trigger = defineCommand({
  description:
    'Types: account-updater.job.created, .completed and .failed; also 3ds.session.authenticated, tenant.updated and tenant.deleted, which contain an id only; any other with --type. The event is made up; the service is not involved.',
  examples: [
    ['svc events trigger account-updater.job.completed', 'to svc events listen on this machine'],
    [
      'svc events trigger account-updater.job.failed --set data.job.id=5f0c… --forward-to http://localhost:3000/webhooks',
      'about one job, to an application',
    ],
  ],
  exitCodes: [6, 8],
  fields: triggeredView.fields,
  parameters,
  async run(context, input): Promise<Result> {
    const print = await recordPrinter(context, triggeredView);
    const delivery = deliveryOf(context, input);
    const request = requestOf(delivery, input);
    if (input.dryRun) return new Preview(request);
    const result = await send(context, request);
    if (result.reason !== undefined) throw notAccepted(request.url, result);
    await print({ ...(isObject(delivery) ? delivery : {}), target: displayTarget(request.url), status: result.status });
  },
  request: async (context, input) => requestOf(deliveryOf(context, input), input),
});

type TriggerInput = Input<typeof parameters>;

function deliveryOf(context: Context, { set, setJson, ...input }: TriggerInput): unknown {
  const texts = [input.type ?? '', input.anyType ?? ''];
  refuseTypedCardNumbers(texts, [...set, ...setJson], 'No event contains one: give another value.');
  const delivery = sampleDelivery(typeOf(input), context.clock.now());
  return withAssignments(delivery, [...set, ...setJson].map(inDelivery));
}

/** Returns the type of the event to send. @throws SvcError `usage` for no type, two types, or a type without a sample */
function typeOf({ type, anyType }: Pick<TriggerInput, 'type' | 'anyType'>): string {
  const given = anyType ?? type;
  if (given === undefined || (type !== undefined && anyType !== undefined))
    throw new SvcError('usage', given === undefined ? 'the type of the event is missing' : 'two types were given', {
      hint: `Name one of ${TRIGGER_TYPES.join(', ')}, or any other with --type.`,
    });
  if (anyType === undefined ? TRIGGER_TYPES.includes(given) : isEventType(given)) return given;
  // The message does not show the text: a word without the form of a type may be a secret.
  if (!isEventType(given))
    throw new SvcError('usage', 'not an event type: a type is words joined by dots, such as tenant.updated');
  const choices = `Choose from ${TRIGGER_TYPES.join(', ')}; any other type can be sent with --type.`;
  throw new SvcError('usage', `there is no sample event of type "${given}"`, {
    hint: sentences(didYouMean(given, TRIGGER_TYPES), choices),
  });
}

/** Returns a made-up delivery with the form of the service's. `now` is in epoch milliseconds. */
function sampleDelivery(type: string, now: number): unknown {
  const at = new Date(now).toISOString();
  const event = { id: randomUUID(), type, timestamp: at, tenant_id: randomUUID(), trace_id: randomUUID() };
  return { event: { ...event, data: sampleData(type) }, delivered_at: at };
}

function sampleData(type: string): unknown {
  if (!TRIGGER_TYPES.includes(type)) return {};
  // The data of these types is not documented, so the sample contains only an id.
  if (type.startsWith('tenant.')) return { tenant: { id: randomUUID() } };
  if (type.startsWith('3ds.session.')) return { session: { id: randomUUID() } };
  const word = type.slice(type.lastIndexOf('.') + 1);
  return { job: { id: randomUUID(), status: word === 'created' ? 'pending' : word } };
}

type Delivery = DirectRequest & { readonly body: string };

function requestOf(delivery: unknown, { forwardTo }: TriggerInput): Delivery {
  const url = forwardTo ?? new URL(DEFAULT_TARGET);
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', url, headers, body: JSON.stringify(delivery) };
}

async function send(context: Context, { url, headers, body }: Delivery): Promise<ForwardResult> {
  const { system, clock, signal } = context;
  const [{ forward }, { createTransport }] = await Promise.all([
    import('../forward.ts'),
    import('../../client/http/transport.ts'),
  ]);
  const transport = createTransport(system.env);
  try {
    const result = await forward(url, { headers, body }, { transport, clock, attempts: 1 }, signal);
    signal.throwIfAborted();
    return result;
  } finally {
    await transport.close();
  }
}

/** Returns an assignment for the whole body. A typed path without the prefix `event.` is relative to the event. */
function inDelivery({ path, value: to }: Assignment): Assignment {
  const [first = ''] = path;
  return { path: first === 'event' || first === 'delivered_at' ? path : ['event', ...path], value: to };
}

/** Returns the error for a target that did not accept the event. */
function notAccepted(target: URL, { status, reason }: ForwardResult): SvcError {
  const words = `${displayTarget(target)} did not accept the event: ${reason}`;
  if (status !== undefined) return new SvcError(status < 500 ? 'rejected' : 'server', words, { status });
  return new SvcError('network', words, {
    hint: 'Name another target with --forward-to, or start a listener.',
    next: ['events', 'listen'],
  });
}
