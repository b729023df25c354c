import { isSvcError, SvcError } from '../errors.ts';
import { type AnyAnswer, readAnyAnswer } from './any-answer.ts';
import { failedError, tooLongError } from './failed.ts';
import { type ReadAnswer, readAnswer } from './read-answer.ts';
import type { CallFacts } from './refusal.ts';
import { type ApiRequest, buildUrl, type KeyKind, repeatableOf, type Shape } from './request.ts';
import { backoffMs, MAX_ATTEMPTS, mayRetry, RetryQuota } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';
import { Sender, type SenderOptions, type Sent } from './sender.ts';
import { ServiceClock } from './service-clock.ts';

/** A key and where it came from, for messages. */
export interface ApiKey {
  readonly value: string;
  readonly origin: string;
}

/** What the core is made of. */
export interface CoreOptions extends SenderOptions {
  readonly baseUrl: URL;
  readonly key: (kind: KeyKind) => Promise<ApiKey>;
  readonly random?: (() => number) | undefined;
  /** Longest single pause that a rate limit may ask for, in milliseconds. */
  readonly maxWaitMs?: number | undefined;
}

const DEFAULT_MAX_WAIT_MS = 90_000;

/** The one way to the service's endpoints: key, time limits, retries, pacing, and errors in plain words. */
export class HttpCore {
  readonly serviceClock: ServiceClock;
  readonly #options: CoreOptions;
  readonly #sender: Sender;
  readonly #quota = new RetryQuota();

  constructor(options: CoreOptions) {
    this.#options = options;
    this.serviceClock = new ServiceClock(options.clock);
    this.#sender = new Sender(options, this.serviceClock);
  }

  /**
   * Calls an endpoint and gives its answer in the request's shape.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  async call<T>(request: ApiRequest<T>): Promise<T> {
    return (await this.callWithText(request)).value;
  }

  /** The same, with the text that the value came in. */
  async callWithText<T>(request: ApiRequest<T>): Promise<{ value: T; text: string }> {
    const loading = shapeOf(request);
    // A request that fails never looks at it.
    loading.catch(() => undefined);
    const { facts, answer } = await this.#answered(request);
    return { value: readAnswer(facts, await loading, answer), text: answer.text };
  }

  /**
   * Calls an endpoint whose answer has no known shape, in every other respect like `call`.
   * @throws SvcError for every failure, also for an answer that is neither JSON nor empty
   */
  async callAny(request: Omit<ApiRequest<unknown>, 'shape'>): Promise<AnyAnswer> {
    const { facts, answer } = await this.#answered(request);
    return readAnyAnswer(facts, answer);
  }

  async #answered(request: ApiRequest<unknown>): Promise<{ facts: CallFacts; answer: ReadAnswer }> {
    const key = await this.#options.key(request.key);
    const url = buildUrl(this.#options.baseUrl, request.path, request.query);
    const facts: CallFacts = { request, url, keyOrigin: key.origin, hide: hiderOf(key.value) };
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#sender.send(facts, key.value, attempt);
      if ('text' in outcome && outcome.status < 300) {
        this.#quota.refill();
        return { facts, answer: outcome };
      }
      const pause = this.#pauseBefore(facts, outcome, attempt);
      if (pause === undefined) throw failedError(facts, outcome);
      const isLimit = 'status' in outcome && outcome.status === 429;
      // What else goes on with this key would be refused as well.
      if (isLimit) this.#options.pacer.hold(request.key, request.path, pause);
      this.#options.trace?.({ kind: 'wait', why: isLimit ? 'rate limit' : 'retry', ms: pause });
      await this.#pause(pause, facts, outcome);
    }
  }

  /** Waits; when the command's time is up meanwhile, the error says what the request was waiting for. */
  async #pause(ms: number, facts: CallFacts, outcome: Sent): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, this.#options.signal);
    } catch (error) {
      if (!isSvcError(error, 'time_up')) throw error;
      throw new SvcError('time_up', `${error.message}; ${failedError(facts, outcome).message}`, {
        hint: error.hint,
      });
    }
  }

  /** Milliseconds to wait before the next attempt, or undefined when there is to be none. */
  #pauseBefore(facts: CallFacts, outcome: Sent, attempt: number): number | undefined {
    const { attempts = MAX_ATTEMPTS } = facts.request;
    if (!mayRetry(outcome, repeatableOf(facts.request)) || attempt + 1 >= attempts) return undefined;
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
}

async function shapeOf<T>({ shape }: ApiRequest<T>): Promise<Shape<T> | undefined> {
  return typeof shape === 'function' ? shape() : shape;
}

/** Takes the key out of a text. */
function hiderOf(key: string): (text: string) => string {
  return (text) => (key === '' ? text : text.replaceAll(key, '(the key)'));
}
