// Downloads an object into a partial file, and resumes after a cut.

import { SvcError } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import { displayHost } from '../../schema/address.ts';
import { exchange, type HttpResponse } from '../http/exchange.ts';
import { isTransient, type RetryableFailure, retryAfterMs, type RetryOptions, withRetry } from '../http/retry.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import type { Transport } from '../http/transport.ts';
import { FILE_LIMITS, type TimeLimits } from '../http/watchdog.ts';
import type { PartFile } from './part-file.ts';
import { codingOf, continues, md5Of, receive, type Received, versionOf } from './receive.ts';
import type { OnProgress } from './source.ts';
import { AddressRefused, redirectedByStore, refusedByStore, storeUnreachable } from './store-errors.ts';
import { readStoreResponse } from './store-response.ts';

export interface FetchOptions extends RetryOptions {
  readonly clock: Clock;
  readonly transport: Transport;
  /** Returns the address. Called before each attempt, since addresses expire. */
  readonly address: () => Promise<URL>;
  readonly onProgress?: OnProgress | undefined;
  readonly limits?: TimeLimits | undefined;
}

/** The content codings that svc can decompress. */
const DECODABLE: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/** The number of new bytes after which earlier failures do not count. */
const LASTING_PROGRESS = 1024 * 1024;

/**
 * Downloads an object into a partial file. After a cut, resumes if the object is provably the same, and else starts again.
 * @throws SvcError, or the signal's reason. The file then contains the bytes that arrived.
 */
export async function fetchObject(part: PartFile, options: FetchOptions): Promise<Received> {
  let best = 0;
  let wasExpired = false;
  return withRetry(async () => {
    const outcome = await attempt(part, options);
    if ('proof' in outcome) return { value: outcome };
    // A refusal may mean that the address has expired, so one more attempt follows with a new address.
    const isExpired = outcome.error instanceof AddressRefused;
    if (isExpired && wasExpired) throw outcome.error;
    wasExpired = isExpired;
    const advanced = part.length >= best + LASTING_PROGRESS;
    best = Math.max(best, part.length);
    return { ...outcome, advanced };
  }, options);
}

async function attempt(part: PartFile, options: FetchOptions): Promise<Received | RetryableFailure> {
  const url = await options.address();
  const isContinued = part.version !== undefined && part.length > 0;
  if (isContinued) await part.resume();
  try {
    const response = await exchange(options.transport, {
      method: 'GET',
      url,
      headers: headersFor(part),
      limits: options.limits ?? FILE_LIMITS,
      signal: options.signal,
    });
    try {
      return (
        (await accept(part, url, response, options.clock)) ?? (await receive(part, url, response, options.onProgress))
      );
    } finally {
      response.discard();
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const unreachable = storeUnreachable(url, 'download', error);
    if (!isTransient({ failure: error })) throw unreachable;
    return { error: unreachable };
  }
}

function headersFor({ version, length }: PartFile): Record<string, string> {
  const plain = { 'accept-encoding': 'identity' };
  return version && length > 0 ? { ...plain, range: `bytes=${length}-`, 'if-match': version.etag } : plain;
}

/**
 * Prepares the partial file for the body of a response. Returns the failure of an unsuccessful response if another attempt may
 * help. @throws SvcError for any other response
 */
async function accept(part: PartFile, url: URL, response: HttpResponse, clock: Clock) {
  const { status } = response;
  if (status === 200) {
    const coding = codingOf(response);
    if (coding !== undefined && !DECODABLE.has(coding)) throw undecodable(url, coding);
    // A compressed file is not resumed, since a store may compress the object differently the next time.
    part.begin(coding === undefined ? versionOf(response) : undefined, md5Of(response) !== undefined);
    return undefined;
  }
  const isContinued = part.version !== undefined && part.length > 0;
  if (isContinued && (status === 206 || status === 412 || status === 416)) {
    if (status === 206 && part.version && continues(response, part.version, part.length)) return undefined;
    part.begin(undefined, false);
    return { error: anotherObject(url) };
  }
  if (status >= 300 && status < 400) throw redirectedByStore(url, status, response.header('location'));
  const storeResponse = await readStoreResponse(response);
  const refused = refusedByStore({ ...storeResponse, status, url, transfer: 'download' });
  if (refused instanceof AddressRefused || isTransient({ status }))
    return { error: refused, requestedMs: retryAfterMs(response.header('retry-after'), clock.now()) };
  throw refused;
}

function anotherObject(url: URL): SvcError {
  return new SvcError('checksum_mismatch', `the store at ${displayHost(url)} does not continue the same object`, {
    hint: 'Run the command again: it starts from the beginning.',
    retryable: true,
  });
}

function undecodable(url: URL, coding: string): SvcError {
  const name = /^[\w, -]{1,40}$/.test(coding) ? ` (${coding})` : '';
  return new SvcError(
    'checksum_mismatch',
    `the store at ${displayHost(url)} sent the file compressed in a way that svc does not know${name}`,
    { hint: 'Something between you and the store may change responses: check your proxy settings.' },
  );
}
