import { randomUUID } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import { nearest, typedWord } from '../../base/security/typed-word.ts';
import {
  type Context,
  defineCommand,
  type DirectRequest,
  dryRunParameter,
  Preview,
  type Result,
} from '../../cli/app/command.ts';
import { assigned, type Assignment, jsonAssignment, textAssignment } from '../../cli/app/json-body.ts';
import { argument, type Input, repeated, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { isObject } from '../../schema/json-value.ts';
import type { ForwardResult } from '../forward.ts';
import { displayTarget, parseTarget } from '../report.ts';

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
  type: argument('<type>', 'type of the event', text),
  forwardTo: value('--forward-to <url>', `send it there; https, or loopback (default ${DEFAULT_TARGET})`, parseTarget),
  dryRun: dryRunParameter,
  set: repeated('--set <path=text>', 'put a text into the event, such as data.job.id=5f0c…', textAssignment),
  setJson: repeated('--set-json <path=json>', 'put any JSON into the event', jsonAssignment),
} as const;

export const trigger = defineCommand({
  description:
    'Types: account-updater.job.created, .completed and .failed; also 3ds.session.* and tenant.*, which contain an id only. The event is made up; the service is not involved.',
  examples: [
    ['svc events trigger account-updater.job.completed', "to 'svc events listen' on this machine"],
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
    const delivery = await deliveryOf(context, input);
    const request = requestOf(delivery, input);
    if (input.dryRun) return new Preview(request);
    const result = await send(context, request);
    if (result.reason !== undefined) throw notAccepted(request.url, result);
    await print({ ...(isObject(delivery) ? delivery : {}), target: displayTarget(request.url), status: result.status });
  },
  request: async (context, input) => requestOf(await deliveryOf(context, input), input),
});

type TriggerInput = Input<typeof parameters>;

async function deliveryOf(context: Context, { type, set, setJson }: TriggerInput): Promise<unknown> {
  const { EVENT_TYPES } = await import('../../schema/account-updater.ts');
  if (!EVENT_TYPES.some((known) => known === type) && familyOf(type) === undefined)
    throw unknownType(type, EVENT_TYPES);
  return assigned(sampleDelivery(type, context.clock.now()), [...set, ...setJson].map(inDelivery));
}

/** A made-up delivery, as the service would send it at this time (milliseconds since the epoch). */
function sampleDelivery(type: string, now: number): unknown {
  const at = new Date(now).toISOString();
  const event = { id: randomUUID(), type, timestamp: at, tenant_id: randomUUID(), trace_id: randomUUID() };
  return { event: { ...event, data: sampleData(type) }, delivered_at: at };
}

function sampleData(type: string): unknown {
  const family = familyOf(type);
  // The interface does not document their data, so the sample contains only an id.
  if (family !== undefined) return { [family === 'tenant.' ? 'tenant' : 'session']: { id: randomUUID() } };
  const word = type.slice(type.lastIndexOf('.') + 1);
  return { job: { id: randomUUID(), status: word === 'created' ? 'pending' : word } };
}

/** Prefixes of event types whose data is not documented. */
const FAMILIES = ['3ds.session.', 'tenant.'] as const;

function familyOf(type: string): (typeof FAMILIES)[number] | undefined {
  return FAMILIES.find((family) => type.startsWith(family) && /^[a-z][a-z._-]{0,60}$/.test(type.slice(family.length)));
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

// A path is relative to the event; with the prefix `event.` it is relative to the whole body.
function inDelivery({ path, value: to }: Assignment): Assignment {
  const [first = ''] = path;
  return { path: first === 'event' || first === 'delivered_at' ? path : ['event', ...path], value: to };
}

function unknownType(type: string, known: readonly string[]): SvcError {
  const meant = nearest(type, known);
  return new SvcError('usage', `there is no sample event of type ${typedWord(type, known)}`, {
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}Choose from ${known.join(', ')}, or one that begins with 3ds.session. or tenant.`,
  });
}

function failureCode(status: number | undefined): 'network' | 'rejected' | 'server' {
  if (status === undefined) return 'network';
  return status < 500 ? 'rejected' : 'server';
}

function notAccepted(target: URL, { status, reason }: ForwardResult): SvcError {
  return new SvcError(failureCode(status), `${displayTarget(target)} did not accept the event: ${reason}`, {
    status,
    ...(status === undefined && {
      hint: 'Name another target with --forward-to, or start a listener.',
      next: ['events', 'listen'],
    }),
  });
}
