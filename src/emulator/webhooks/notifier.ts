import { request } from 'node:http';
import type { WebhookDelivery } from '../../schema/account-updater.ts';
import { isLoopback, readAddress } from '../../schema/address.ts';
import type { Ledger } from '../ledger.ts';
import type { SandboxOptions } from '../options.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { Service } from '../service.ts';
import { deliveryName, isAccepted, type Job, jobStatus, type World } from '../state/world.ts';

type NotifierOptions = Pick<SandboxOptions, 'webhooks' | 'webhookDuplicates' | 'webhookTimeoutMs'>;

// How often due deliveries are looked for, in real time. Deliveries are due by the sandbox's clock, which may be moved.
const TICK_MS = 100;

// The pauses before the second and later attempts, in milliseconds of the sandbox's clock.
const RETRY_DELAYS_MS: readonly number[] = [1000, 5000, 30_000, 120_000];

/** Delivers the events of all processes on a directory to webhooks, with retries, which a later process continues. */
export class Notifier {
  readonly #service: Service;
  readonly #ledger: Ledger;
  readonly #options: NotifierOptions;
  readonly #urls: readonly string[];
  readonly #stop = new AbortController();
  readonly #active = new Map<string, Promise<void>>();
  #checking = false;

  constructor(service: Service, ledger: Ledger, options: NotifierOptions) {
    this.#service = service;
    this.#ledger = ledger;
    this.#options = options;
    this.#urls = options.webhooks ?? [];
    for (const url of this.#urls) this.#register(url, service.state.now());
    const timer = setInterval(() => void this.#check(), TICK_MS).unref();
    this.#stop.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Aborts deliveries under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#active.values());
  }

  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      await this.#deliverDue();
    } catch {
      // The state directory may have been removed. The next tick tries again.
    } finally {
      this.#checking = false;
    }
  }

  async #deliverDue(): Promise<void> {
    const { state, processing } = this.#service;
    const { jobs } = state.refresh();
    const now = state.now();
    await processing.settle(jobs.all, now).catch(() => undefined);
    const events = eventsUntil(state.world, now);
    for (const url of this.#urls) {
      // After a reset an address is unknown again, and receives all events since the reset.
      const since = this.#register(url, state.world.start.at);
      for (const event of events) if (event.at >= since) this.#deliverIfDue(url, event, now);
    }
  }

  /** Returns the time from which an address receives events. */
  #register(url: string, from: number): number {
    const { state } = this.#service;
    const known = state.world.webhooks.get(url);
    if (known === undefined) state.record({ type: 'webhook', at: from, url });
    return known ?? from;
  }

  #deliverIfDue(url: string, event: TimedEvent, now: number): void {
    const name = deliveryName(url, event.body.id);
    if (this.#active.has(name) || this.#stop.signal.aborted) return;
    const delivery = this.#service.state.world.deliveries.get(name);
    if (delivery !== undefined) {
      const delay = RETRY_DELAYS_MS[delivery.attempts - 1];
      if (delivery.accepted || delay === undefined || now < delivery.lastAt + delay) return;
    }
    this.#active.set(
      name,
      // A full disk leaves the delivery unrecorded, so that it is due again.
      this.#deliver(url, event)
        .catch(() => undefined)
        .finally(() => this.#active.delete(name)),
    );
  }

  async #deliver(url: string, event: TimedEvent): Promise<void> {
    const { state } = this.#service;
    const status = await this.#attempt(url, event);
    if (this.#stop.signal.aborted) return;
    state.record({ type: 'delivery', at: state.now(), url, event: event.body.id, status });
    if (isAccepted(status) && this.#options.webhookDuplicates) await this.#attempt(url, event);
  }

  async #attempt(url: string, { body: event }: TimedEvent): Promise<number> {
    const at = new Date(this.#service.state.now()).toISOString();
    const body = JSON.stringify({ event, delivered_at: at });
    const { webhookTimeoutMs: timeoutMs = 5000 } = this.#options;
    const { status, received } = await post(url, body, timeoutMs, this.#stop.signal);
    // A query may contain a secret of the receiver.
    const path = url.replace(/[?#].*/s, '');
    this.#ledger.note({ at, path, event: event.type, status, received, sent: Buffer.byteLength(body) });
    return status;
  }
}

/** An event and its time. The event has the same id in every process. */
interface TimedEvent {
  readonly at: number;
  readonly body: WebhookDelivery['event'];
}

/** Returns the events until now, oldest first within each type. */
function eventsUntil(world: World, now: number): TimedEvent[] {
  const { tenantChanges, deleted, jobs } = world;
  return [
    ...jobs.all.flatMap((job) => jobEvents(world, job, now)),
    ...tenantChanges.map(({ at }, index) => tenantEvent(world, at, 'updated', index)),
    ...(deleted === undefined ? [] : [tenantEvent(world, deleted.at, 'deleted', 0)]),
  ];
}

const KINDS = { created: 1, completed: 2, failed: 3, updated: 4, deleted: 5 } as const;

interface EventFacts {
  readonly topic: 'account-updater.job' | 'tenant';
  readonly kind: keyof typeof KINDS;
  readonly at: number;
  /** The number that distinguishes events of the same kind. */
  readonly number: number;
  readonly repeat?: number;
  readonly data: WebhookDelivery['event']['data'];
}

function jobEvents(world: World, job: Job, now: number): TimedEvent[] {
  const { id, number, created, upload, uploads } = job;
  const topic = 'account-updater.job';
  const data = (status: string): EventFacts['data'] => ({ job: { id, status } });
  const first = timedEvent(world, { topic, kind: 'created', at: created.at, number, data: data('pending') });
  const kind = jobStatus(job, now);
  if (upload === undefined || (kind !== 'completed' && kind !== 'failed')) return [first];
  const at = upload.at + upload.processing;
  return [first, timedEvent(world, { topic, kind, at, number, repeat: uploads, data: data(kind) })];
}

function tenantEvent(world: World, at: number, kind: 'updated' | 'deleted', number: number): TimedEvent {
  const data = { tenant: { id: world.tenantId } };
  return timedEvent(world, { topic: 'tenant', kind, at, number, data });
}

// The id depends on the time of the start, so that ids differ after a reset.
function timedEvent({ start, tenantId }: World, { topic, kind, at, number, repeat = 0, data }: EventFacts): TimedEvent {
  const id = (namespace: number): string =>
    uuidOf(start.seed, namespace, start.at % 2 ** 32, KINDS[kind] * 2 ** 20 + repeat, number);
  const body = {
    id: id(NAMESPACE.event),
    type: `${topic}.${kind}`,
    timestamp: new Date(at).toISOString(),
    tenant_id: tenantId,
    trace_id: id(NAMESPACE.trace),
    data,
  };
  return { at, body };
}

/** Whether an address is allowed for a webhook: http on loopback. */
export function isWebhookAddress(text: string): boolean {
  const url = readAddress(text);
  return url?.protocol === 'http:' && isLoopback(url);
}

/** Posts JSON. Resolves to the status (0 without a response in time) and the number of received bytes. Never rejects. */
function post(url: string, body: string, timeoutMs: number, signal: AbortSignal) {
  return new Promise<{ status: number; received: number }>((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'svc-sandbox',
      connection: 'close',
    };
    const outgoing = request(url, { method: 'POST', headers, agent: false, signal });
    const end = (status: number): void => {
      clearTimeout(timer);
      resolve({ status, received: outgoing.socket?.bytesRead ?? 0 });
      outgoing.destroy();
    };
    const timer = setTimeout(() => end(0), timeoutMs).unref();
    outgoing.on('response', ({ statusCode }) => end(statusCode ?? 0)).on('error', () => end(0));
    outgoing.end(body);
  });
}
