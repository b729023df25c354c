// Sends signed requests to a bucket.

import type { SvcError } from '../../../base/errors.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../../base/system.ts';
import { VERSION } from '../../../base/version.ts';
import { displayHost } from '../../../schema/address.ts';
import { hasPageType, isRead, tookEffect } from '../../http/effect.ts';
import type { HttpResponse } from '../../http/exchange.ts';
import { type Trace, tracedExchange } from '../../http/trace.ts';
import { TransportFailure } from '../../http/transport-failure.ts';
import type { ReadBody } from '../../http/exchange.ts';
import { ServiceClock } from '../../http/service-clock.ts';
import { FILE_LIMITS } from '../../http/watchdog.ts';
import { isTransient, type RetryableFailure, retryAfterMs, withRetry } from '../../http/retry.ts';
import type { Transport } from '../../http/transport.ts';
import { elementText } from '../../transfer/xml.ts';
import { readStoreResponse } from '../../transfer/store-response.ts';
import type { S3Body } from './body.ts';
import { type S3Action, s3Error, type S3Refusal } from './s3-error.ts';
import type { BucketLocation, S3Settings } from './settings.ts';
import { objectAddress, signedHeaders } from './sign.ts';

export interface S3Connection {
  readonly settings: S3Settings;
  readonly location: BucketLocation;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly action: S3Action;
  /** The path of an object below the prefix of the location; empty for the bucket itself. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: S3Body | undefined;
  /** Whether to use a new connection. Conditional writes always do. */
  readonly fresh?: boolean | undefined;
  /** Unsuccessful statuses that the caller handles itself. The response's body is then already read. */
  readonly handled?: readonly number[] | undefined;
  /** The maximum size of a successful response, whose body is then read here. A body that breaks off is requested again. */
  readonly bodyLimit?: number | undefined;
}

export interface S3Response {
  readonly response: HttpResponse;
  /** Set for an unsuccessful status, and for a web page instead of the store's response. */
  readonly refusal: S3Refusal | undefined;
  /** The body of a success, if the request has a `bodyLimit`. */
  readonly body: ReadBody | undefined;
  /** Whether an earlier attempt may have had an effect. */
  readonly wasUnclear: boolean;
}

type ReadResponse = Omit<S3Response, 'wasUnclear'>;

const EMPTY_SHA256 = sha256Of('');

/** Sends signed requests to a bucket, with retries: all these requests are idempotent. */
export class S3Requests {
  readonly location: BucketLocation;
  readonly #connection: S3Connection;
  readonly #storeClock: ServiceClock;

  constructor(connection: S3Connection) {
    this.location = connection.location;
    this.#connection = connection;
    this.#storeClock = new ServiceClock(connection.clock);
  }

  /** Sends a request until the store responds. @throws SvcError for a refusal that is not `handled`; the signal's reason */
  async send(request: S3Request): Promise<S3Response> {
    const { method, handled = [] } = request;
    const { settings, location, trace } = this.#connection;
    const key = request.path === '' && request.query ? '' : location.prefix + request.path;
    const url = objectAddress(settings, location.bucket, key, request.query);
    let wasUnclear = false;
    let hadWrongTime = false;
    const attempt = async (index: number): Promise<{ value: S3Response } | RetryableFailure> => {
      const result = await this.#attempt(request, url, index);
      if (result instanceof TransportFailure) {
        const error = unreachable(location, url, result);
        if (!isTransient({ failure: result })) throw error;
        wasUnclear ||= tookEffect({ method, share: result.sent ? 'all' : 'none' }) === 'unknown';
        return { error };
      }
      const { response, refusal } = result;
      if (refusal === undefined || (handled.includes(refusal.status) && !isPageNotFound(refusal)))
        return { value: { ...result, wasUnclear } };
      // The next signature has the right time, which the store sent with this response.
      const atOnce = refusal.error.code === 'RequestTimeTooSkewed' && !hadWrongTime;
      if (!atOnce && !mayRepeat(refusal)) throw s3Error(refusal);
      hadWrongTime ||= atOnce;
      wasUnclear ||= tookEffect({ method, share: 'all', response: refusal }) === 'unknown';
      return { error: s3Error(refusal), atOnce, requestedMs: this.#requestedPause(response) };
    };
    return withRetry(attempt, { ...this.#connection, onWait: (ms) => trace?.({ kind: 'wait', why: 'store', ms }) });
  }

  /** Makes one attempt. Returns the failure if no complete response arrived. */
  async #attempt(request: S3Request, url: URL, attempt: number): Promise<ReadResponse | TransportFailure> {
    try {
      return await this.#read(request, url, await this.#exchange(request, url, attempt));
    } catch (error) {
      if (error instanceof TransportFailure) return error;
      throw error;
    }
  }

  /** Signs a request for the store's current time, and sends the request once. */
  async #exchange(
    { method, headers = {}, body, fresh = false }: S3Request,
    url: URL,
    attempt: number,
  ): Promise<HttpResponse> {
    const { settings, transport, signal, clock, trace } = this.#connection;
    const sha256 = body?.sha256 ?? EMPTY_SHA256;
    const hashed = body?.md5 === undefined ? headers : { ...headers, 'content-md5': body.md5 };
    const now = this.#storeClock.now();
    const signed = await signedHeaders({ method, url, headers: hashed, sha256, now }, settings);
    const length = method === 'PUT' ? { 'content-length': String(body?.bytes ?? 0) } : {};
    // On a reused connection the transport may send a request twice, and the store would refuse the second copy.
    const isConditional = headers['if-none-match'] !== undefined;
    const outgoing = {
      method,
      url,
      headers: { ...signed, ...length, 'user-agent': `svc/${VERSION}` },
      body: body?.open(),
      limits: FILE_LIMITS,
      signal,
      fresh: fresh || isConditional,
    };
    const response = await tracedExchange(transport, outgoing, { clock, trace, attempt });
    this.#storeClock.learn(response.header('date'));
    return response;
  }

  /** Tells a success from a refusal, and reads the body except for a read without `bodyLimit`. @throws TransportFailure */
  async #read({ method, action, path, bodyLimit }: S3Request, url: URL, response: HttpResponse): Promise<ReadResponse> {
    const { location, settings } = this.#connection;
    const isSuccess = response.status >= 200 && response.status < 300;
    // svc stores no web pages, so a page instead of an object is from a proxy. A list is checked by its content.
    const isForeign = isRead(method) && path !== '' && hasPageType((name) => response.header(name));
    if (isSuccess && isRead(method) && !isForeign) {
      const body = bodyLimit === undefined ? undefined : await response.read(bodyLimit);
      if (body?.failure !== undefined) throw body.failure;
      return { response, refusal: undefined, body };
    }
    const { text, ...refused } = await readStoreResponse(response);
    const isDone = refused.status < 300 && refused.origin === 'store' && !isForeign;
    if (isDone) return { response, refusal: undefined, body: undefined };
    const region = response.header('x-amz-bucket-region') ?? elementText(text, 'Region');
    const refusal = { ...refused, location, url, action, region: otherRegion(region, settings.region) };
    return { response, refusal, body: undefined };
  }

  #requestedPause(response: HttpResponse): number {
    const ms = retryAfterMs(response.header('retry-after'), this.#storeClock.now()) ?? 0;
    return Math.min(ms, DEFAULT_MAX_WAIT_MS);
  }
}

// 409 means that another write of the object is under way. A body sent too slowly leads to 400 with RequestTimeout.
function mayRepeat({ status, error }: S3Refusal): boolean {
  return status === 409 || isTransient({ status }) || error.code === 'RequestTimeout' || error.code === 'SlowDown';
}

// A proxy that does not find a page says nothing about the object.
function isPageNotFound({ status, origin }: S3Refusal): boolean {
  return status === 404 && origin === 'between';
}

/** Returns the region that a store names, if different from the configured region. */
function otherRegion(named: string | undefined, configured: string): string | undefined {
  return named !== configured && /^[\w-]{1,32}$/.test(named ?? '') ? named : undefined;
}

function unreachable(location: BucketLocation, url: URL, failure: TransportFailure): SvcError {
  const what = failure.stage === 'body' ? 'an incomplete response' : 'no response';
  const hint = 'Check AWS_ENDPOINT_URL_S3, AWS_REGION, your network and proxy; it is safe to run the command again.';
  return failure.toError(`${location.name}: ${what} from ${displayHost(url)}`, { hint });
}
