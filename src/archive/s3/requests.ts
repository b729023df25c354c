import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Answer } from '../../http/exchange.ts';
import { FILE_LIMITS } from '../../http/limits.ts';
import { backoffMs, MAX_ATTEMPTS, mayRetry } from '../../http/retry.ts';
import { retryAfterMs } from '../../http/retry-after.ts';
import { ServiceClock } from '../../http/service-clock.ts';
import type { Trace } from '../../http/trace.ts';
import { tracedExchange } from '../../http/traced-exchange.ts';
import type { Transport } from '../../http/transport.ts';
import { TransportFailure } from '../../http/transport-failure.ts';
import { readStoreError } from '../../transfer/store-error.ts';
import { VERSION } from '../../version.ts';
import { objectAddress, type S3Query } from './address.ts';
import type { S3Body } from './body.ts';
import type { BucketPlace } from './place.ts';
import type { S3Action, S3Refusal } from './explain.ts';
import { s3Error, s3Unreachable } from './refusal.ts';
import type { S3Settings } from './settings.ts';
import { signedHeaders } from './sign.ts';
import { elementText } from './xml.ts';

/** What requests to a bucket are made with. */
export interface S3Connection {
  readonly settings: S3Settings;
  readonly place: BucketPlace;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
}

/** One request. Its path lies below the prefix of the place; an empty one is the bucket itself. */
export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly action: S3Action;
  readonly path: string;
  readonly query?: S3Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: S3Body | undefined;
  /** Statuses beside those of success that the caller wants to see; the body of such an answer was read. */
  readonly wanted?: readonly number[] | undefined;
}

/** A success, or a status that was wanted. */
export interface S3Answer {
  readonly answer: Answer;
  /** The refusal, for a status that is no success. */
  readonly refusal: S3Refusal | undefined;
  /** An attempt before this one may have had its effect. */
  readonly wasUnclear: boolean;
}

const NOTHING = createHash('sha256').digest('hex');
const MAX_ERROR_BODY = 64 * 1024;
const LONGEST_PAUSE_MS = 90_000;

/** Sends signed requests to a bucket, again where that may help: every one of them can be repeated. */
export class S3Requests {
  readonly place: BucketPlace;
  readonly #connection: S3Connection;
  readonly #storeClock: ServiceClock;

  constructor(connection: S3Connection) {
    this.place = connection.place;
    this.#connection = connection;
    this.#storeClock = new ServiceClock(connection.clock);
  }

  /** Sends until there is an answer to show. @throws SvcError; the signal's reason */
  async send(request: S3Request): Promise<S3Answer> {
    const { settings, place, clock, signal, trace, random = Math.random } = this.#connection;
    const key = request.path === '' && request.query ? '' : place.prefix + request.path;
    const url = objectAddress(settings, place.bucket, key, request.query);
    let [wasUnclear, wasSkewed] = [false, false];
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#once(request, url, attempt);
      if (!('failure' in outcome)) {
        const { answer, refusal } = outcome;
        if (refusal === undefined || request.wanted?.includes(answer.status) === true)
          return { answer, refusal, wasUnclear };
        const isSkewed = refusal.error.code === 'RequestTimeTooSkewed' && !wasSkewed;
        if (!isSkewed && !mayComeAgain(refusal)) throw s3Error(refusal);
        if (attempt + 1 >= MAX_ATTEMPTS) throw s3Error(refusal);
        wasSkewed ||= isSkewed;
        // Its answer has told the store's time: the next signature has it.
        if (isSkewed) continue;
      } else if (attempt + 1 >= MAX_ATTEMPTS || !mayRetry(outcome, 'always')) {
        throw s3Unreachable(place, url, outcome.failure);
      }
      wasUnclear ||= 'failure' in outcome ? outcome.failure.sent : outcome.answer.status >= 500;
      const asked = 'failure' in outcome ? 0 : this.#asked(outcome.answer);
      const ms = Math.min(asked, LONGEST_PAUSE_MS) + backoffMs(attempt, random);
      trace?.({ kind: 'wait', why: 'store', ms });
      await clock.sleep(ms, signal);
    }
  }

  async #once(
    { method, action, headers = {}, body }: S3Request,
    url: URL,
    attempt: number,
  ): Promise<{ answer: Answer; refusal: S3Refusal | undefined } | { failure: TransportFailure }> {
    const { settings, place, transport, signal, clock, trace } = this.#connection;
    const sha256 = body?.sha256 ?? NOTHING;
    const now = this.#storeClock.now();
    const signed = await signedHeaders({ method, url, headers, sha256, now }, settings);
    const length = method === 'PUT' ? { 'content-length': String(body?.bytes ?? 0) } : {};
    try {
      const all = { ...signed, ...length, 'user-agent': `svc/${VERSION}` };
      // Sent again unnoticed on another connection, it would be refused because of itself.
      const fresh = headers['if-none-match'] !== undefined;
      const sent = { method, url, headers: all, body: body?.open(), limits: FILE_LIMITS, signal, fresh };
      const answer = await tracedExchange(transport, sent, { clock, trace, attempt });
      this.#storeClock.learn(answer.header('date'));
      if (answer.status >= 200 && answer.status < 300) return { answer, refusal: undefined };
      const { bytes } = await answer.readWhatComes(MAX_ERROR_BODY);
      const text = bytes.toString('utf8');
      const error = readStoreError(text, (name) => answer.header(name));
      const region = answer.header('x-amz-bucket-region') ?? elementText(text, 'Region');
      return { answer, refusal: { place, url, action, status: answer.status, error, region: plain(region) } };
    } catch (error) {
      if (error instanceof TransportFailure) return { failure: error };
      throw error;
    }
  }

  #asked(answer: Answer): number {
    return retryAfterMs(answer.header('retry-after'), this.#storeClock.now()) ?? 0;
  }
}

// A conflict is another writer's write to the same object under way; a request that came too slowly is a 400.
function mayComeAgain({ status, error }: S3Refusal): boolean {
  return mayRetry({ status }, 'always') || error.code === 'RequestTimeout' || error.code === 'SlowDown';
}

function plain(region: string | undefined): string | undefined {
  return region !== undefined && /^[\w-]{1,32}$/.test(region) ? region : undefined;
}
