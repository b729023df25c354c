// Explains why a file could not be uploaded to, or downloaded from, a pre-signed address.

import { type ErrorCode, SvcError } from '../../base/errors.ts';
import { displayHost } from '../../schema/address.ts';
import type { Origin } from '../http/effect.ts';
import type { TransportFailure } from '../http/transport-failure.ts';
import { isTransient } from '../http/retry.ts';
import { describeStoreError, type StoreError } from './store-response.ts';

type Transfer = 'upload' | 'download';

export interface Refusal {
  readonly url: URL;
  readonly transfer: Transfer;
  /** The status of the error, which a store may send in the body of a success. */
  readonly status: number;
  /** The status of the response, if different. */
  readonly received?: number | undefined;
  /** The server that responded; the store by default. */
  readonly origin?: Origin | undefined;
  readonly bytes?: number | undefined;
  readonly error: StoreError;
}

/**
 * The error for an address that the store refuses (400, 401 or 403). The caller must read the job again: it may have a new
 * address, have its file, or be gone. `storeCode` is the store's own error code.
 */
export class AddressRefused extends SvcError {
  readonly storeCode: string | undefined;

  constructor(refusal: Refusal) {
    const { url, transfer, status, received = status, error } = refusal;
    super(
      status === 400 ? 'rejected' : 'forbidden',
      `the store at ${displayHost(url)} refused the ${transfer} (${describeStoreError(received, error)})`,
      {
        status,
        requestId: error.requestId,
        hint: addressAdvice(url, error),
        facts: error.code === undefined ? undefined : { store_code: error.code },
      },
    );
    this.storeCode = error.code;
  }
}

/** Error codes for a wrong signature, which does not mean that the address has expired. */
const SIGNATURE_CODES: ReadonlySet<string> = new Set([
  'SignatureDoesNotMatch',
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'InvalidAccessKeyId',
]);

/** Error codes for content that differs from the announced length or checksum. */
const CONTENT_CODES: ReadonlySet<string> = new Set([
  'BadDigest',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
]);

function addressAdvice(url: URL, { code = '' }: StoreError): string {
  const checksum = Array.from(url.searchParams.keys()).find((name) => /^x-amz-checksum-/i.test(name));
  if (checksum !== undefined && (CONTENT_CODES.has(code) || code === 'InvalidRequest'))
    return `The address is signed with the checksum of another content (${checksum}), as some libraries do for an empty file: the service has to sign it without one. Contact its support with the job id.`;
  if (CONTENT_CODES.has(code))
    return 'What arrived is not what was sent, or not what the address is signed for: something between may change requests.';
  if (SIGNATURE_CODES.has(code))
    return 'The address has not expired. Something between may change requests; if not, contact the support of the service with the job id.';
  return 'The address may have expired: read the job again for a new one.';
}

/** The error for an upload that may have arrived as a whole. The job must be read before another PUT (R36). */
export class UploadUnclear extends SvcError {
  constructor(url: URL, bytes: number, what: string, status?: number) {
    super('outcome_unknown', `outcome unknown: the store at ${displayHost(url)} may have the file; ${what}`, {
      status,
      hint: 'Read the job before you upload again: it shows whether the file has arrived.',
      retryable: false,
      facts: { bytes },
    });
  }
}

/** The error for an object that is not in the store. A result may arrive there after its job is completed. */
export class ObjectMissing extends SvcError {}

/** Returns the error for an error response. */
export function refusedByStore(refusal: Refusal): SvcError {
  const { url, transfer, status, received = status, origin = 'store', error } = refusal;
  const response = describeStoreError(received, error);
  const details = { status, requestId: error.requestId };
  const isAboutSize = transfer === 'upload' && (status === 411 || isTooLarge(refusal));
  if (origin === 'between' && status >= 400 && status < 500 && !isTransient({ status })) {
    const hint = isAboutSize ? SMALLER : 'Ask whoever runs the proxy to allow it; then run the command again.';
    return new SvcError(
      isAboutSize ? 'rejected' : 'forbidden',
      `a proxy between this machine and the store at ${displayHost(url)} refused the ${transfer} (${response})`,
      { ...details, hint, facts: { not_from_store: true } },
    );
  }
  if (isAboutSize) {
    const message = `the store at ${displayHost(url)} refused the upload (${response})${sizeLimit(refusal)}`;
    return new SvcError('rejected', message, { ...details, hint: SMALLER });
  }
  if (status === 400 || status === 401 || status === 403) return new AddressRefused(refusal);
  const code = codeOf(status);
  const [verb, hint] = EXPLANATIONS[code];
  const message = `the store at ${displayHost(url)} ${verb} the ${transfer} (${response})`;
  const ErrorClass = code === 'not_found' && transfer === 'download' ? ObjectMissing : SvcError;
  return new ErrorClass(code, message, { ...details, hint });
}

function isTooLarge({ status, error }: Refusal): boolean {
  return status === 413 || error.code === 'EntityTooLarge';
}

function sizeLimit(refusal: Refusal): string {
  const { bytes, error } = refusal;
  const size = isTooLarge(refusal) && bytes !== undefined ? `: a file of ${sizeText(bytes)} is too large` : '';
  return error.maxBytes === undefined ? size : `${size}, it takes at most ${sizeText(error.maxBytes)}`;
}

const SMALLER =
  'Send smaller files, or ask whoever runs the store, or a proxy before it, to allow uploads of this size with their length.';

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the error for two uploads that were each refused before the whole file was sent. `sent` is the larger number of bytes. */
export function cutOffTwice(url: URL, status: number, sent: number, size: number): SvcError {
  return new SvcError(
    'server',
    `the upload with ${displayHost(url)} broke off twice with ${status} after at most ${sizeText(sent)} of ${sizeText(size)}: is this the limit of a proxy?`,
    { status, hint: SMALLER, retryable: false },
  );
}

/** Returns the error for a success that came before the last piece of the file was sent. */
export function respondedEarly(url: URL, status: number): SvcError {
  return new SvcError(
    'bad_response',
    `the store at ${displayHost(url)} responded ${status} before it had the whole file`,
    { status, hint: 'Something between this machine and the store may be responding: check your proxy settings.' },
  );
}

/** Returns the error for a redirect. No redirect is followed, since another server would get or send the file. */
export function redirectedByStore(url: URL, status: number, location: string | undefined): SvcError {
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const host = target === undefined ? 'an unnamed host' : displayHost(target);
  return new SvcError(
    'bad_response',
    `the store at ${displayHost(url)} redirects to ${host} (${status}); redirects are not followed`,
    { status, hint: 'Check the base URL and your proxy settings; something in between may be responding.' },
  );
}

export function storeUnreachable(url: URL, transfer: Transfer, failure: TransportFailure): SvcError {
  const hint = 'Check your network and proxy settings, then run the command again; that is safe.';
  return failure.toError(`the ${transfer} with ${displayHost(url)} failed`, { hint });
}

type RefusalCode = Extract<ErrorCode, 'rejected' | 'rate_limited' | 'server' | 'not_found' | 'bad_response'>;

function codeOf(status: number): RefusalCode {
  if (status < 400) return 'bad_response';
  if (status === 429) return 'rate_limited';
  if (status === 404 || status === 410) return 'not_found';
  return status === 408 || status >= 500 ? 'server' : 'rejected';
}

const EXPLANATIONS: Record<RefusalCode, readonly [verb: string, hint: string]> = {
  bad_response: [
    'gave an invalid response to',
    'Something between you and the store may be responding: check your proxy settings.',
  ],
  rate_limited: ['is limiting requests and refused', 'Wait a little and run the command again.'],
  not_found: ['does not have the object of', 'Read the job again: it may have expired.'],
  server: ['failed during', 'Run the command again later; that is safe.'],
  rejected: ['rejected', 'Fix what the message names, then run the command again.'],
};
