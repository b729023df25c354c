// Uploads a file to a pre-signed address.

import { createHash } from 'node:crypto';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import { type Share, tookEffect } from '../http/effect.ts';
import { exchange, type ExchangeRequest, type HttpResponse } from '../http/exchange.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import { FILE_LIMITS, type TimeLimits } from '../http/watchdog.ts';
import { isTransient, type RetryableFailure, retryAfterMs, type RetryOptions, withRetry } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import type { OnProgress, UploadSource } from './source.ts';
import {
  cutOffTwice,
  redirectedByStore,
  refusedByStore,
  respondedEarly,
  storeUnreachable,
  UploadUnclear,
} from './store-errors.ts';
import { describeStoreError, readStoreResponse, type StoreResponse } from './store-response.ts';
import { isAzureAddress, signedHeadersOf } from './address.ts';

/** The options of an upload. Progress restarts with each attempt. */
export interface UploadOptions extends RetryOptions {
  readonly clock: Clock;
  readonly transport: Transport;
  /** A pre-signed address, checked by `requireStoreAddress`. */
  readonly url: URL;
  readonly source: UploadSource;
  readonly onProgress?: OnProgress | undefined;
  /**
   * Called with `some` before each attempt, with `all` before the last piece of an attempt is sent, after which the store may have
   * the file, and again with `some` when a response shows that the store does not have the file.
   */
  readonly onSent?: ((share: Exclude<Share, 'none'>) => void) | undefined;
  readonly limits?: TimeLimits | undefined;
}

export interface UploadResult {
  readonly bytes: number;
  /** The SHA-256 of the bytes that were sent, in hexadecimal. */
  readonly sha256: string;
  /** The number of attempts, including the successful one. */
  readonly attempts: number;
}

// The response to a PUT is always small, so the time for its body is limited too.
const UPLOAD_LIMITS: TimeLimits = { ...FILE_LIMITS, body: 30_000 };

/**
 * Uploads a file to a pre-signed address, with its exact length and without a key. Repeats an attempt only if the store certainly does
 * not have the file.
 * @throws AddressRefused for 400, 401 and 403; UploadUnclear if the store may have the file; SvcError `checksum_mismatch` if the
 *   source changed after it was checked; other SvcErrors for refusals, redirects and the network; the signal's reason
 */
export async function uploadFile(options: UploadOptions): Promise<UploadResult> {
  let expected = options.source.sha256;
  let sentBeforeCut: number | undefined;
  return withRetry(async (index) => {
    options.onSent?.('some');
    const body = new CheckedBody(options, expected);
    const failure = await putOnce(options, body);
    if (failure === undefined)
      return { value: { bytes: options.source.size, sha256: body.sha256, attempts: index + 1 } };
    if (body.complete) expected = body.sha256;
    const { cutOffWith } = failure;
    if (cutOffWith !== undefined && sentBeforeCut !== undefined)
      throw cutOffTwice(options.url, cutOffWith, Math.max(sentBeforeCut, body.sent), options.source.size);
    sentBeforeCut = cutOffWith === undefined ? undefined : body.sent;
    return failure;
  }, options);
}

interface UploadFailure extends RetryableFailure {
  /** The status with which a server on the way, rather than the store, ended the upload early. */
  readonly cutOffWith?: number | undefined;
}

/** Sends one PUT. Returns undefined if the file is stored, or a failure that may be retried. @throws SvcError for any other failure */
async function putOnce(options: UploadOptions, body: CheckedBody): Promise<UploadFailure | undefined> {
  const { url, source } = options;
  try {
    const response = await exchange(options.transport, {
      ...uploadRequest(url, source.size),
      body,
      limits: options.limits ?? UPLOAD_LIMITS,
      signal: options.signal,
      fresh: true,
    });
    const share = body.stop();
    return readResult(options, share, await readStoreResponse(response), response);
  } catch (error) {
    // The failure of the source is the cause, not the broken connection that follows.
    if (body.failure !== undefined) throw body.failure;
    if (isSvcError(error, 'local') && tookEffect({ method: 'PUT', share: body.stop() }) === 'unknown')
      throw new UploadUnclear(url, source.size, error.message);
    if (!(error instanceof TransportFailure)) throw error;
    const share = error.sent ? body.stop() : 'none';
    if (tookEffect({ method: 'PUT', share }) === 'unknown') throw new UploadUnclear(url, source.size, error.message);
    const unreachable = storeUnreachable(url, 'upload', error);
    if (!isTransient({ failure: error })) throw unreachable;
    return { error: unreachable };
  } finally {
    body.close();
  }
}

/** Returns undefined if the file is stored, or a failure that may be retried. @throws SvcError for any other response */
function readResult(
  { url, source, clock, onSent }: UploadOptions,
  share: Share,
  storeResponse: StoreResponse,
  { header }: Pick<HttpResponse, 'header'>,
): UploadFailure | undefined {
  const { received, status, origin, error } = storeResponse;
  const effect = tookEffect({ method: 'PUT', share, response: storeResponse });
  if (effect === 'yes') return undefined;
  if (effect === 'unknown') {
    const isPage = origin === 'between' && received < 300;
    const what = isPage ? `${received} with a web page, as a proxy does` : describeStoreError(received, error);
    throw new UploadUnclear(url, source.size, `it responded ${what}`, received);
  }
  onSent?.('some');
  if (status < 300) return { error: respondedEarly(url, received), atOnce: true };
  if (status < 400) throw redirectedByStore(url, received, header('location'));
  const refused = refusedByStore({ ...storeResponse, url, transfer: 'upload', bytes: source.size });
  // S3 responds with RequestTimeout to a body that arrived too slowly.
  if (!isTransient({ status }) && error.code !== 'RequestTimeout') throw refused;
  const isCutOff = status >= 500 && error.code === undefined;
  const requestedMs = retryAfterMs(header('retry-after'), clock.now());
  return { error: refused, requestedMs, cutOffWith: isCutOff ? received : undefined };
}

/** Returns the method, address and headers of an upload. */
export function uploadRequest(
  url: URL,
  size: number,
): Pick<ExchangeRequest & { method: 'PUT' }, 'method' | 'url' | 'headers'> {
  const headers = {
    'content-length': String(size),
    ...(signedHeadersOf(url).includes('content-type') && { 'content-type': 'text/csv' }),
    ...(isAzureAddress(url) && { 'x-ms-blob-type': 'BlockBlob' }),
  };
  return { method: 'PUT', url, headers };
}

/**
 * The body of one upload attempt. Counts and hashes the bytes, and sends the last piece only after the whole source has the expected
 * hash. A file that changed therefore never arrives completely (R35).
 */
class CheckedBody implements AsyncIterable<Uint8Array> {
  /** The failure of the source that ended the body early, if any. */
  failure: unknown;
  /** Whether the last piece was sent. Before that, no store can have the whole file. */
  complete = false;
  #isStopped = false;
  #release: () => void = () => undefined;
  readonly #closed = new Promise<void>((resolve) => {
    this.#release = resolve;
  });
  /** The number of bytes given to the connection. Some of them may not have left this machine. */
  sent = 0;
  /** The SHA-256 of the source in hexadecimal, once all of it was read. */
  sha256 = '';
  readonly #options: Pick<UploadOptions, 'source' | 'onProgress' | 'onSent'>;
  readonly #expected: string | undefined;
  readonly #pieces = this.#run();

  /** If `onSent` throws, the last piece is not sent. */
  constructor(options: UploadOptions, expected: string | undefined) {
    this.#options = options;
    this.#expected = expected;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#pieces;
  }

  /** Prevents sending the last piece, unless it was sent already. Returns how much was sent. */
  stop(): Share {
    this.#isStopped = true;
    return this.complete ? 'all' : 'some';
  }

  close(): void {
    this.#release();
    this.#pieces.return(undefined).catch(() => undefined);
  }

  async *#run(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#checked();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  async *#checked(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const { source, onSent } = this.#options;
    const { size } = source;
    let read = 0;
    let last: Uint8Array | undefined;
    for await (const piece of source.open()) {
      if (piece.byteLength === 0) continue;
      read += piece.byteLength;
      if (read > size) throw altered('it has grown');
      hash.update(piece);
      if (last) yield* this.#send(last, read - piece.byteLength);
      last = piece;
    }
    if (read < size) throw altered('it has shrunk');
    const sha256 = hash.digest('hex');
    if (this.#expected !== undefined && sha256 !== this.#expected) throw altered('its content is another');
    this.sha256 = sha256;
    // Waits for `close`: a body that ended here would break the connection before the response was read.
    if (this.#isStopped) return this.#closed;
    onSent?.('all');
    this.complete = true;
    if (last) yield* this.#send(last, read);
  }

  async *#send(piece: Uint8Array, done: number): AsyncGenerator<Uint8Array> {
    this.sent = done;
    yield piece;
    this.#options.onProgress?.({ done, total: this.#options.source.size });
  }
}

function altered(how: string): SvcError {
  return new SvcError('checksum_mismatch', `the file changed after it was checked: ${how}; nothing was uploaded`, {
    hint: 'Let the file come to rest and run the command again.',
  });
}
