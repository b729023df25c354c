import { type Answer, exchange, type ExchangeRequest } from '../http/exchange.ts';
import { FILE_LIMITS, type TimeLimits } from '../http/limits.ts';
import { MAX_ATTEMPTS, mayRetry } from '../http/retry.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import type { Transport } from '../http/transport.ts';
import { isAzureType } from './addresses.ts';
import { CheckedBody } from './checked-body.ts';
import { readErrorOf } from './error-text.ts';
import { redirectedByStore, refusedByStore, storeUnreachable, UploadUnclear } from './failures.ts';
import { type Patience, pause, type Setback } from './pause.ts';
import type { OnProgress } from './progress.ts';
import type { UploadSource } from './source.ts';
import type { StoreError } from './store-error.ts';

/** What an upload needs. Progress starts anew with each attempt. */
export interface UploadOptions extends Patience {
  readonly transport: Transport;
  /** A pre-signed address, checked by `requireStoreAddress`. */
  readonly url: URL;
  readonly source: UploadSource;
  readonly onProgress?: OnProgress | undefined;
  /** Called before each attempt: no earlier one can have been stored. */
  readonly onAttempt?: (() => void) | undefined;
  /** Called before the last piece of an attempt goes out: from then on the store may have the file. */
  readonly onLastPiece?: (() => void) | undefined;
  readonly limits?: TimeLimits | undefined;
}

/** What was stored. */
export interface UploadResult {
  readonly bytes: number;
  /** Hex SHA-256 of the bytes that were sent. */
  readonly sha256: string;
  /** How often the file was sent, the successful time included. */
  readonly attempts: number;
}

// The answer to a PUT is small, whatever the file: its whole body is bounded too.
const UPLOAD_LIMITS: TimeLimits = { ...FILE_LIMITS, body: 30_000 };

/**
 * Puts a file to a pre-signed address: exact length, no key, a fresh stream each attempt. It is sent again only when
 * the store surely does not have it.
 * @throws AddressExpired for 400, 401 and 403; UploadUnclear when the store may have the file; SvcError `altered`
 *   when the source is no longer what was checked; other SvcErrors for refusals, redirects and the network; the
 *   signal's reason when it aborts
 */
export async function uploadFile(options: UploadOptions): Promise<UploadResult> {
  let expected = options.source.sha256;
  for (let attempt = 0; ; attempt += 1) {
    options.onAttempt?.();
    const body = new CheckedBody(options.source, expected, options.onProgress, options.onLastPiece);
    const setback = await sendOnce(options, body);
    if (setback === undefined)
      return { bytes: options.source.size, sha256: body.sha256, attempts: attempt + 1 };
    if (body.complete) expected = body.sha256;
    if (attempt + 1 >= MAX_ATTEMPTS) throw setback.error;
    await pause(options, attempt, setback);
  }
}

/** One PUT: nothing when it is stored, a setback when it may be tried again. */
async function sendOnce(options: UploadOptions, body: CheckedBody): Promise<Setback | undefined> {
  const { url, source } = options;
  try {
    const answer = await exchange(options.transport, {
      ...uploadRequest(url, source.size),
      body,
      limits: options.limits ?? UPLOAD_LIMITS,
      signal: options.signal,
      fresh: true,
    });
    return await judge(options, body, answer);
  } catch (error) {
    // The source's own failure, not the broken connection that follows from it.
    if (body.failure !== undefined) throw body.failure;
    if (!(error instanceof TransportFailure)) throw error;
    if (error.sent && body.complete) throw new UploadUnclear(url, source.size, error.message);
    const unreachable = storeUnreachable(url, 'upload', error);
    if (!mayRetry({ failure: error }, 'always')) throw unreachable;
    return { error: unreachable };
  } finally {
    body.close();
  }
}

async function judge(
  { url, source }: UploadOptions,
  body: CheckedBody,
  answer: Answer,
): Promise<Setback | undefined> {
  const { status } = answer;
  if (status < 300) {
    answer.discard();
    if (body.complete) return undefined;
    throw new UploadUnclear(url, source.size, `it answered ${status} before it had the whole file`, status);
  }
  if (status < 400) {
    answer.discard();
    throw redirectedByStore(url, status, answer.header('location'));
  }
  const error = await readErrorOf(answer);
  const refused = refusedByStore({ url, doing: 'upload', status, error });
  const isUnclear = status >= 500 || status === 408;
  // A store that fails may have kept the whole file all the same: its job tells, not another PUT.
  if (isUnclear && body.complete) throw new UploadUnclear(url, source.size, `it answered ${status}`, status);
  if (isUnclear || isNotTaken(status, error))
    return { error: refused, retryAfter: answer.header('retry-after') };
  throw refused;
}

function isNotTaken(status: number, error: StoreError): boolean {
  // S3's way to say that the body came too slowly.
  return status === 429 || (status === 400 && error.code === 'RequestTimeout');
}

/** What is sent to a pre-signed address besides the file: an exact length, and only the headers that it needs. */
export function uploadRequest(
  url: URL,
  size: number,
): Pick<ExchangeRequest & { method: 'PUT' }, 'method' | 'url' | 'headers'> {
  const headers = {
    'content-length': String(size),
    ...(isAzureType(url) ? { 'x-ms-blob-type': 'BlockBlob' } : {}),
  };
  return { method: 'PUT', url, headers };
}
