// Sends signed requests to a bucket.

import { createHash, getFips } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { SvcError } from '../../../base/errors.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../../base/system.ts';
import { VERSION } from '../../../base/version.ts';
import { displayHost } from '../../../schema/address.ts';
import { hasPageType, tookEffect } from '../../http/effect.ts';
import { type HttpResponse, type Trace, tracedExchange } from '../../http/exchange.ts';
import { tlsHint, TransportFailure } from '../../http/failure.ts';
import type { ReadBody } from '../../http/receiver.ts';
import { ServiceClock } from '../../http/request.ts';
import { FILE_LIMITS, isTransient, type RetryableFailure, retryAfterMs, withRetry } from '../../http/retry.ts';
import type { Transport } from '../../http/transport.ts';
import { fileSource } from '../../transfer/source.ts';
import { elementText, readStoreResponse } from '../../transfer/store.ts';
import type { LocalFile } from '../store.ts';
import { type S3Action, s3Error, type S3Refusal } from './s3-error.ts';
import type { BucketLocation, S3Settings } from './settings.ts';

export interface S3Connection {
  readonly settings: S3Settings;
  readonly location: BucketLocation;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
}

/** A request body that each attempt can open again. */
export interface S3Body {
  readonly bytes: number;
  /** The hash in hexadecimal. */
  readonly sha256: string;
  /** The MD5 in base64, which a bucket with Object Lock requires; undefined in FIPS mode, which allows no MD5. */
  readonly md5: string | undefined;
  readonly isText: boolean;
  open(): string | AsyncIterable<Uint8Array>;
}

export function bytesBody(bytes: Uint8Array): S3Body {
  const [sha256, md5] = [sha256Of(bytes), md5Hash()?.update(bytes).digest('base64')];
  return { bytes: bytes.byteLength, sha256, md5, isText: false, open: () => Readable.from([bytes]) };
}

export function textBody(text: string): S3Body {
  return { ...bytesBody(Buffer.from(text)), isText: true, open: () => text };
}

/** Returns a file as a body. @throws SvcError `local` if the file cannot be read */
export async function fileBody({ path, bytes, sha256 }: LocalFile): Promise<S3Body> {
  const source = await fileSource(path);
  const hash = md5Hash();
  if (hash) for await (const piece of source.open()) hash.update(piece);
  return { bytes, sha256, md5: hash?.digest('base64'), isText: false, open: () => source.open() };
}

function md5Hash() {
  return getFips() === 1 ? undefined : createHash('md5');
}

/** A request to a bucket. */
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

const EMPTY_SHA256 = sha256Of('');

type AttemptResult = Omit<S3Response, 'wasUnclear'> | { readonly failure: TransportFailure };

interface AttemptHistory {
  unclear: boolean;
  skewed: boolean;
}

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

  /** Sends a request until there is a response. @throws SvcError, or the signal's reason */
  async send(request: S3Request): Promise<S3Response> {
    const { settings, location, trace } = this.#connection;
    const key = request.path === '' && request.query ? '' : location.prefix + request.path;
    const url = objectAddress(settings, location.bucket, key, request.query);
    const seen: AttemptHistory = { unclear: false, skewed: false };
    return withRetry(async (attempt) => this.#judge(request, url, seen, await this.#once(request, url, attempt)), {
      ...this.#connection,
      onWait: (ms) => trace?.({ kind: 'wait', why: 'store', ms }),
    });
  }

  #judge(
    { method, handled = [] }: S3Request,
    url: URL,
    seen: AttemptHistory,
    outcome: AttemptResult,
  ): { value: S3Response } | RetryableFailure {
    if ('failure' in outcome) {
      const error = s3Unreachable(this.location, url, outcome.failure);
      if (!isTransient(outcome)) throw error;
      seen.unclear ||= tookEffect({ method, share: outcome.failure.sent ? 'all' : 'none' }) === 'unknown';
      return { error };
    }
    const { response, refusal } = outcome;
    if (refusal === undefined || handled.includes(refusal.status))
      return { value: { ...outcome, wasUnclear: seen.unclear } };
    const error = s3Error(refusal);
    // The next signature uses the store's time, which this response contained.
    const atOnce = refusal.error.code === 'RequestTimeTooSkewed' && !seen.skewed;
    if (!atOnce && !mayRetryRequest(refusal)) throw error;
    seen.skewed ||= atOnce;
    seen.unclear ||= tookEffect({ method, share: 'all', response: refusal }) === 'unknown';
    const requestedMs = retryAfterMs(response.header('retry-after'), this.#storeClock.now()) ?? 0;
    return { error, atOnce, askedMs: Math.min(requestedMs, DEFAULT_MAX_WAIT_MS) };
  }

  async #once(
    { method, action, path, headers = {}, body, fresh = false, bodyLimit }: S3Request,
    url: URL,
    attempt: number,
  ): Promise<AttemptResult> {
    const { settings, location, transport, signal, clock, trace } = this.#connection;
    const sha256 = body?.sha256 ?? EMPTY_SHA256;
    const now = this.#storeClock.now();
    const checked = body?.md5 === undefined ? headers : { ...headers, 'content-md5': body.md5 };
    const signed = await signedHeaders({ method, url, headers: checked, sha256, now }, settings);
    const length = method === 'PUT' ? { 'content-length': String(body?.bytes ?? 0) } : {};
    try {
      const all = { ...signed, ...length, 'user-agent': `svc/${VERSION}` };
      // On a reused connection the transport may send a request twice, and the store would refuse the second copy.
      const isConditional = headers['if-none-match'] !== undefined;
      const sent = { method, url, headers: all, body: body?.open(), limits: FILE_LIMITS, signal };
      const response = await tracedExchange(
        transport,
        { ...sent, fresh: fresh || isConditional },
        { clock, trace, attempt },
      );
      this.#storeClock.learn(response.header('date'));
      const isSuccess = response.status >= 200 && response.status < 300;
      const isRead = method === 'GET' || method === 'HEAD';
      // svc stores no web pages, so a page instead of an object is from a proxy. A list is checked by its content.
      const isForeign = isRead && path !== '' && hasPageType((name) => response.header(name));
      if (isSuccess && isRead && !isForeign) {
        const received = bodyLimit === undefined ? undefined : await response.read(bodyLimit);
        if (received?.failure !== undefined) throw received.failure;
        return { response, refusal: undefined, body: received };
      }
      const { meaning, origin, error, text } = await readStoreResponse(response);
      if (meaning < 300 && !isForeign && origin === 'store') return { response, refusal: undefined, body: undefined };
      const region = response.header('x-amz-bucket-region') ?? elementText(text, 'Region');
      // Stores also name the region when it is right.
      const otherRegion = region === settings.region ? undefined : plain(region);
      const seen = { status: meaning, received: response.status, origin };
      const refusal = { location, url, action, ...seen, error, region: otherRegion };
      return { response, refusal, body: undefined };
    } catch (error) {
      if (error instanceof TransportFailure) return { failure: error };
      throw error;
    }
  }
}

// 409 means that another write of the object is under way. A body sent too slowly leads to 400 with RequestTimeout.
function mayRetryRequest({ status, error }: S3Refusal): boolean {
  return status === 409 || isTransient({ status }) || error.code === 'RequestTimeout' || error.code === 'SlowDown';
}

function plain(region: string | undefined): string | undefined {
  return region !== undefined && /^[\w-]{1,32}$/.test(region) ? region : undefined;
}

/** Returns the address of an object or of the bucket. On AWS the bucket is in the host, unless its name has dots. */
export function objectAddress(
  { endpoint, region }: Pick<S3Settings, 'endpoint' | 'region'>,
  bucket: string,
  key: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const isInHost = endpoint === undefined && !bucket.includes('.');
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const base = endpoint?.href.replace(/\/+$/, '') ?? `https://${isInHost ? `${bucket}.` : ''}${domain}`;
  const path = `${isInHost ? '' : `/${encoded(bucket)}`}/${key.split('/').map(encoded).join('/')}`;
  // URLSearchParams would encode a space as a plus sign, which some stores do not decode.
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return new URL(
    base + (key === '' && !isInHost ? path.slice(0, -1) : path) + (pairs.length > 0 ? `?${pairs.join('&')}` : ''),
  );
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The signed parts of a request. `sha256` is the hash of the body; `now` is the store's time in epoch milliseconds. */
interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly sha256: string;
  readonly now: number;
}

/** Returns the headers of a request with its signature (version 4). They must never be shown. */
export async function signedHeaders(
  { method, url, headers, sha256, now }: Unsigned,
  { accessKeyId, secretAccessKey, sessionToken, region }: S3Settings,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    region,
    service: 's3',
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}

function s3Unreachable(location: BucketLocation, url: URL, failure: TransportFailure): SvcError {
  const what = failure.stage === 'body' ? 'an incomplete response' : 'no response';
  return new SvcError('network', `${location.name}: ${what} from ${displayHost(url)}: ${failure.message}`, {
    hint:
      failure.kind === 'tls'
        ? tlsHint(failure.systemCode)
        : 'Check AWS_ENDPOINT_URL_S3, AWS_REGION, your network and proxy; it is safe to run the command again.',
    retryable: failure.kind !== 'tls' && failure.kind !== 'proxy_refused',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}
