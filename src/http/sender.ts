import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { exchange, type ExchangeRequest } from './exchange.ts';
import { abortedError } from './failed.ts';
import { API_LIMITS, type TimeLimits } from './limits.ts';
import type { Pacer } from './pacing.ts';
import { type ReadAnswer, requestIdOf } from './read-answer.ts';
import type { CallFacts } from './refusal.ts';
import { repeatableOf } from './request.ts';
import type { ServiceClock } from './service-clock.ts';
import type { Trace } from './trace.ts';
import { TransportFailure } from './transport-failure.ts';
import type { Transport } from './transport.ts';

/** What is needed to send a request once. */
export interface SenderOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly userAgent: string;
  readonly limits?: TimeLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly trace?: Trace | undefined;
}

/** How one sending ended: with an answer of any status, or without. */
export type Sent = ReadAnswer | { readonly failure: TransportFailure };

const MAX_BODY = 64 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;

/** Sends requests, each once: paced, traced, its answer read. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #serviceClock: ServiceClock;

  constructor(options: SenderOptions, serviceClock: ServiceClock) {
    this.#options = options;
    // Many requests may wait on it at once; that is no leak.
    if (options.signal) setMaxListeners(0, options.signal);
    this.#serviceClock = serviceClock;
  }

  /** Sends once. Rejects only with what the signal gave as its reason, or for a proxy that cannot be used. */
  async send(facts: CallFacts, key: string, attempt: number): Promise<Sent> {
    const { clock, pacer, signal, trace } = this.#options;
    const { request, url } = facts;
    const { method } = request;
    const outgoing = this.#outgoing(facts, key);
    const ended = await pacer.take(request.key, request.path, signal, (ms) =>
      trace?.({ kind: 'wait', why: 'pacing', ms }),
    );
    const started = clock.now();
    trace?.({ kind: 'request', method, url, attempt });
    try {
      const answer = await this.#exchange(facts, outgoing);
      const { status } = answer;
      const ms = clock.now() - started;
      trace?.({ kind: 'answer', method, url, status, ms, requestId: requestIdOf(answer) });
      return answer;
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      trace?.({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
      return { failure: error };
    } finally {
      ended();
    }
  }

  async #exchange(facts: CallFacts, outgoing: ExchangeRequest): Promise<ReadAnswer> {
    let sent = false;
    try {
      return await this.#readAnswer(facts, { ...outgoing, onSent: () => (sent = true) });
    } catch (error) {
      throw sent && !(error instanceof TransportFailure) ? abortedError(facts, error) : error;
    }
  }

  #outgoing({ request, url }: CallFacts, key: string): ExchangeRequest {
    const { userAgent, limits = API_LIMITS, signal } = this.#options;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      'svc-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const fresh = repeatableOf(request) === 'unsent';
    const { method, key: keyKind } = request;
    return { method, url, headers, keyKind, body, limits, signal, fresh };
  }

  async #readAnswer({ hide }: CallFacts, outgoing: ExchangeRequest): Promise<ReadAnswer> {
    const answer = await exchange(this.#options.transport, outgoing);
    this.#serviceClock.learn(answer.header('date'));
    const { status } = answer;
    const isError = status >= 300;
    const { bytes, complete } = await (isError
      ? answer.readWhatComes(MAX_ERROR_BODY)
      : answer.read(MAX_BODY));
    const text = textOf(bytes);
    const header = (name: string): string | undefined => {
      const value = answer.header(name);
      return value === undefined ? undefined : hide(value);
    };
    // Something on the way may echo what it was sent, the key too.
    const allHeaders = (): [string, string][] => answer.headers().map(([name, value]) => [name, hide(value)]);
    return { status, text: isError ? hide(text) : text, complete, header, headers: allHeaders };
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
