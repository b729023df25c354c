import type { Clock } from '../clock.ts';
import { exchange } from './exchange.ts';
import { failedError, tooLongError } from './failed.ts';
import { API_LIMITS, type TimeLimits } from './limits.ts';
import type { Pacer } from './pacing.ts';
import { type ReadAnswer, readAnswer, requestIdOf } from './read-answer.ts';
import type { CallFacts } from './refusal.ts';
import { type ApiRequest, buildUrl, type KeyKind, repeatableOf } from './request.ts';
import { backoffMs, MAX_ATTEMPTS, mayRetry, type Outcome, RetryQuota } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';
import { ServiceClock } from './service-clock.ts';
import type { Trace } from './trace.ts';
import { TransportFailure } from './transport-failure.ts';
import type { Transport } from './transport.ts';

/** A key and where it came from, for messages. */
export interface ApiKey {
  readonly value: string;
  readonly origin: string;
}

/** What the core is made of. */
export interface CoreOptions {
  readonly baseUrl: URL;
  readonly key: (kind: KeyKind) => Promise<ApiKey>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly userAgent: string;
  readonly random?: (() => number) | undefined;
  readonly limits?: TimeLimits | undefined;
  /** Longest single pause that a rate limit may ask for, in milliseconds. */
  readonly maxWaitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly trace?: Trace | undefined;
}

const MAX_BODY = 64 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;
const DEFAULT_MAX_WAIT_MS = 90_000;

/** The one way to the service's endpoints: key, time limits, retries, pacing, and errors in plain words. */
export class HttpCore {
  readonly serviceClock: ServiceClock;
  readonly #options: CoreOptions;
  readonly #quota = new RetryQuota();

  constructor(options: CoreOptions) {
    this.#options = options;
    this.serviceClock = new ServiceClock(options.clock);
  }

  /**
   * Calls an endpoint and gives its answer in the request's shape.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  async call<T>(request: ApiRequest<T>): Promise<T> {
    const key = await this.#options.key(request.key);
    const url = buildUrl(this.#options.baseUrl, request.path, request.query);
    const facts: CallFacts = { request, url, keyOrigin: key.origin };
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#attempt(facts, key, attempt);
      if ('text' in outcome && outcome.status < 300) {
        this.#quota.refill();
        return readAnswer(facts, request, outcome);
      }
      const pause = this.#pauseBefore(facts, outcome, attempt);
      if (pause === undefined) throw failedError(facts, outcome);
      this.#trace({ kind: 'wait', why: isLimit(outcome) ? 'rate limit' : 'retry', ms: pause });
      await this.#options.clock.sleep(pause, this.#options.signal);
    }
  }

  async #attempt(
    facts: CallFacts,
    key: ApiKey,
    attempt: number,
  ): Promise<ReadAnswer | { failure: TransportFailure }> {
    const { clock, pacer, signal } = this.#options;
    const { method, path } = facts.request;
    await pacer.take(facts.request.key, path, signal, (ms) =>
      this.#trace({ kind: 'wait', why: 'pacing', ms }),
    );
    const started = clock.now();
    const { url } = facts;
    this.#trace({ kind: 'request', method, url, attempt });
    try {
      const answer = await this.#send(facts, key);
      const requestId = requestIdOf(answer);
      this.#trace({
        kind: 'answer',
        method,
        url,
        status: answer.status,
        ms: clock.now() - started,
        requestId,
      });
      return answer;
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      this.#trace({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
      return { failure: error };
    }
  }

  async #send({ request, url }: CallFacts, key: ApiKey): Promise<ReadAnswer> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const answer = await exchange(this.#options.transport, {
      method: request.method,
      url,
      headers: {
        accept: 'application/json',
        'user-agent': this.#options.userAgent,
        'svc-api-key': key.value,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body,
      limits: this.#options.limits ?? API_LIMITS,
      signal: this.#options.signal,
      fresh: repeatableOf(request) === 'unsent',
    });
    this.serviceClock.learn(answer.header('date'));
    const { bytes, complete } = await answer.read(answer.status < 300 ? MAX_BODY : MAX_ERROR_BODY);
    return {
      status: answer.status,
      text: bytes.toString('utf8'),
      complete,
      header: (name) => answer.header(name),
    };
  }

  /** Milliseconds to wait before the next attempt, or undefined when there is to be none. */
  #pauseBefore(
    facts: CallFacts,
    outcome: ReadAnswer | { failure: TransportFailure },
    attempt: number,
  ): number | undefined {
    if (!mayRetry(outcome, repeatableOf(facts.request)) || attempt + 1 >= MAX_ATTEMPTS) return undefined;
    const asked = 'text' in outcome ? this.#askedPause(facts, outcome) : undefined;
    const maxWait = this.#options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS;
    if (asked !== undefined && asked > maxWait) throw tooLongError(facts, outcome, asked, maxWait);
    if (!this.#quota.take()) return undefined;
    return (asked ?? 0) + backoffMs(attempt, this.#options.random ?? Math.random);
  }

  #askedPause({ request }: CallFacts, answer: ReadAnswer): number | undefined {
    const asked = retryAfterMs(answer.header('retry-after'), this.serviceClock.now());
    if (asked !== undefined || answer.status !== 429) return asked;
    return this.#options.pacer.blockMs(request.key, request.path);
  }

  #trace: Trace = (event) => this.#options.trace?.(event);
}

function isLimit(outcome: Outcome): boolean {
  return 'status' in outcome && outcome.status === 429;
}
