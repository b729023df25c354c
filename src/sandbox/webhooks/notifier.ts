import { request } from 'node:http';
import type { WebhookDelivery } from '../../schema/account-updater.ts';
import { isLoopbackHost } from '../../schema/loopback.ts';
import type { Ledger } from '../ledger.ts';
import { tenantId } from '../seed/entities.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { Service } from '../service.ts';
import { jobStatus } from '../state/events.ts';
import { isTaken, type Job, type World } from '../state/world.ts';

/** Who is notified, and how. */
export interface NotifierOptions {
  /** Loopback addresses. */
  readonly urls: readonly string[];
  /** Whether each event that was taken is brought once more. */
  readonly duplicates?: boolean | undefined;
  /** How long an answer may take, in milliseconds; 5 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

// How often the sandbox's time is looked at. What is due is due by that time, not by this one.
const TICK_MS = 100;

/**
 * Tells webhooks what happens in the sandboxes of a directory, whichever process it happened in. What was not taken is
 * tried again after growing pauses, also by a later process.
 */
export class Notifier {
  readonly #service: Service;
  readonly #ledger: Ledger;
  readonly #options: NotifierOptions;
  readonly #stop = new AbortController();
  readonly #busy = new Map<string, Promise<void>>();
  #settling = false;

  constructor(service: Service, ledger: Ledger, options: NotifierOptions) {
    this.#service = service;
    this.#ledger = ledger;
    this.#options = options;
    for (const url of options.urls) this.#since(url, service.state.now());
    const timer = setInterval(() => this.#look(), TICK_MS).unref();
    this.#stop.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Breaks off what is on its way. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#busy.values());
  }

  #look(): void {
    if (this.#settling) return;
    this.#settling = true;
    void this.#notify()
      .catch(() => undefined)
      .finally(() => (this.#settling = false));
  }

  // A state directory that was taken away is met again by the next look.
  async #notify(): Promise<void> {
    const { state, processing } = this.#service;
    const world = state.refresh();
    const now = state.now();
    await processing.settle(world.jobs, now).catch(() => undefined);
    const happened = occurrences(state.world, now);
    for (const url of this.#options.urls) {
      // An address is unknown here only after a reset: it hears of everything since.
      const since = this.#since(url, state.world.start.at);
      for (const occurrence of happened) if (occurrence.at >= since) this.#consider(url, occurrence, now);
    }
  }

  /** The time from which on an address hears of events. */
  #since(url: string, standard: number): number {
    const { state } = this.#service;
    const known = state.world.deliveries.addresses.get(url);
    if (known === undefined) state.record({ type: 'webhook', at: standard, url });
    return known ?? standard;
  }

  #consider(url: string, occurrence: Occurrence, now: number): void {
    const { id } = occurrence.event;
    const name = `${id} ${url}`;
    const isBusy = this.#busy.has(name) || this.#stop.signal.aborted;
    if (isBusy || !this.#service.state.world.deliveries.isDue(url, id, now)) return;
    const bringing = this.#bring(url, occurrence).finally(() => this.#busy.delete(name));
    this.#busy.set(name, bringing);
  }

  async #bring(url: string, occurrence: Occurrence): Promise<void> {
    const { state } = this.#service;
    const status = await this.#attempt(url, occurrence);
    if (this.#stop.signal.aborted) return;
    state.record({ type: 'delivery', at: state.now(), url, event: occurrence.event.id, status });
    if (isTaken(status) && this.#options.duplicates) await this.#attempt(url, occurrence);
  }

  async #attempt(url: string, { event }: Occurrence): Promise<number> {
    const at = new Date(this.#service.state.now()).toISOString();
    const body = JSON.stringify({ event, delivered_at: at });
    const { timeoutMs = 5000 } = this.#options;
    const { status, received } = await post(url, body, { timeoutMs, signal: this.#stop.signal });
    // A query can hold a secret of the receiver's.
    const path = url.replace(/[?#].*/s, '');
    this.#ledger.note({ at, path, event: event.type, status, received, sent: Buffer.byteLength(body) });
    return status;
  }
}

/** Something that webhooks hear of. The same one has the same id in every process. */
export interface Occurrence {
  readonly at: number;
  readonly event: WebhookDelivery['event'];
}

/** What has happened by now, oldest first within each kind. */
function occurrences(world: World, now: number): Occurrence[] {
  const { tenantChanges, deleted, jobs } = world;
  return [
    ...jobs.flatMap((job) => jobOccurrences(world, job, now)),
    ...tenantChanges.map(({ at }, index) => tenantOccurrence(world, at, 'updated', index)),
    ...(deleted === undefined ? [] : [tenantOccurrence(world, deleted.at, 'deleted', 0)]),
  ];
}

const KINDS = { created: 1, completed: 2, failed: 3, updated: 4, deleted: 5 } as const;

interface Facts {
  readonly topic: 'account-updater.job' | 'tenant';
  readonly kind: keyof typeof KINDS;
  readonly at: number;
  /** Tells occurrences of one kind apart. */
  readonly number: number;
  readonly repeat?: number;
  readonly data: WebhookDelivery['event']['data'];
}

function jobOccurrences(world: World, job: Job, now: number): Occurrence[] {
  const { id, number, createdAt, upload, uploads } = job;
  const topic = 'account-updater.job';
  const data = (status: string): Facts['data'] => ({ job: { id, status } });
  const created = occurrence(world, { topic, kind: 'created', at: createdAt, number, data: data('pending') });
  const kind = jobStatus(job, now);
  if (upload === undefined || (kind !== 'completed' && kind !== 'failed')) return [created];
  const at = upload.at + upload.processing;
  return [created, occurrence(world, { topic, kind, at, number, repeat: uploads, data: data(kind) })];
}

function tenantOccurrence(world: World, at: number, kind: 'updated' | 'deleted', number: number): Occurrence {
  const data = { tenant: { id: tenantId(world.start.seed) } };
  return occurrence(world, { topic: 'tenant', kind, at, number, data });
}

// The time of the start is in the id: after a reset no old one comes back.
function occurrence({ start }: World, facts: Facts): Occurrence {
  const { topic, kind, at, number, repeat = 0, data } = facts;
  const begun = start.at % 2 ** 32;
  const place = KINDS[kind] * 2 ** 20 + repeat;
  const event = {
    id: uuidOf(start.seed, NAMESPACE.event, begun, place, number),
    type: `${topic}.${kind}`,
    timestamp: new Date(at).toISOString(),
    tenant_id: tenantId(start.seed),
    trace_id: uuidOf(start.seed, NAMESPACE.trace, begun, place, number),
    data,
  };
  return { at, event };
}

/** How an attempt to notify went. */
export interface Posted {
  /** 0 when no answer came in time. */
  readonly status: number;
  /** Bytes of the answer on the wire. */
  readonly received: number;
}

/** The addresses that webhooks may have: loopback, without encryption. */
export function isWebhookAddress(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  return protocol === 'http:' && isLoopbackHost(hostname);
}

/** Posts JSON and resolves with what came of it. Follows no redirect; never rejects. */
function post(
  url: string,
  body: string,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<Posted> {
  const { timeoutMs, signal } = limits;
  return new Promise((resolve) => {
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
    outgoing.on('response', (answer) => end(answer.statusCode ?? 0)).on('error', () => end(0));
    outgoing.end(body);
  });
}
