// Requests to pre-signed addresses of object stores, and their errors.

import { type ErrorCode, SvcError } from '../../base/errors.ts';
import { decodedUri, displayHost, isLoopback, isSafeAddress, readAddress } from '../../schema/address.ts';
import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import { ownMember } from '../../schema/own-member.ts';
import { type Origin, originOf } from '../http/effect.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { tlsHint, type TransportFailure } from '../http/failure.ts';

/** The source of an address: a client of the service. */
export interface AddressSource {
  readonly baseUrl: URL;
  /** Redacts a value in all further output. */
  readonly addSecret: (value: string) => void;
}

/**
 * Reads a pre-signed address of a job's file: https, or http if the service is on this machine too (R04). The address is a
 * secret: errors do not show it, and the redactor hides its query in all output (R07).
 * @throws SvcError `bad_response`
 */
export function requireStoreAddress(text: string, job: string, source: AddressSource): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'is not a URL' : problemOf(url, source.baseUrl);
  if (url === undefined || problem !== undefined)
    throw new SvcError('bad_response', `the store address in the service's response ${problem}`, {
      hint: 'Check the base URL; addresses must be https.',
    });
  for (const [, value = ''] of url.search.matchAll(/=([^&]+)/g)) {
    const forms = [value, decodedUri(value) ?? value];
    for (const form of forms) if (form !== job) source.addSecret(form);
  }
  return url;
}

function problemOf(url: URL, baseUrl: URL): string | undefined {
  if (!isSafeAddress(url)) return `has the scheme ${url.protocol.slice(0, 20)} and leaves this machine`;
  // A remote service has no store on this machine. A local program could steal the file, or fake the results.
  return isLoopback(url) && !isLoopback(baseUrl) ? 'is on this machine, and the service is not' : undefined;
}

/** The headers of an upload, which an address may sign. */
const SENT_HEADERS: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type']);

/** Returns the names of the signed headers of an address, for signatures of S3 and of Google. */
export function signedHeadersOf({ searchParams }: URL): string[] {
  const signed = Array.from(searchParams).filter(([name]) => /^x-(?:amz|goog)-signedheaders$/i.test(name));
  return signed.flatMap(([, names]) => names.toLowerCase().split(';'));
}

/** Refuses an upload address with signed headers whose values svc does not know. @throws SvcError `rejected` */
export function requireKnownHeaders(url: URL, job: string): void {
  const unknown = signedHeadersOf(url).filter((name) => !SENT_HEADERS.has(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => (/^[a-z0-9-]{1,64}$/.test(name) ? name : '(another)')).join(', ');
  throw new SvcError(
    'rejected',
    `the upload address of job ${job} is signed for headers that svc does not send: ${names}`,
    {
      hint: 'Nothing was uploaded. Only the service can change how it signs addresses: contact its support with the job id.',
      facts: { job, headers: unknown },
    },
  );
}

/** Whether a PUT must name the blob type, as for Azure: a shared-access signature has `sv` and `sig` in its query. */
export function isAzureType(url: URL): boolean {
  return url.searchParams.has('sv') && url.searchParams.has('sig');
}

/** The current operation, for messages. */
export type Doing = 'upload' | 'download';

/** An error response of a store. */
export interface Refusal {
  readonly url: URL;
  readonly doing: Doing;
  /** The status of the response, or of the error that a success contains. */
  readonly status: number;
  /** The status as it came, if it is another. */
  readonly received?: number | undefined;
  /** Where the response came from; from the store by default. */
  readonly origin?: Origin | undefined;
  /** The size of the file. */
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
    const { url, doing, status, received = status, error } = refusal;
    super(
      status === 400 ? 'rejected' : 'forbidden',
      `the store at ${displayHost(url)} refused the ${doing} (${describeStoreError(received, error)})`,
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

/** Error codes for a wrong signature of the address. An address of any age can have a wrong signature. */
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

/** The error when the store may or may not have the whole file. The job must be read before another PUT (R36). */
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

/** The error for an object that the store does not have. A result may arrive in the store after its job is completed. */
export class ObjectMissing extends SvcError {}

/** Returns the error for an error response that is not retried. */
export function refusedByStore(refusal: Refusal): SvcError {
  const { url, doing, status, received = status, origin = 'store', bytes, error } = refusal;
  const said = describeStoreError(received, error);
  const details = { status, requestId: error.requestId };
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  const isTooLarge = status === 413 || error.code === 'EntityTooLarge';
  const isAboutSize = doing === 'upload' && (isTooLarge || status === 411);
  if (isRefusal && origin === 'between') {
    const hint = isAboutSize ? SMALLER : 'Ask whoever runs the proxy to allow it; then run the command again.';
    return new SvcError(
      isAboutSize ? 'rejected' : 'forbidden',
      `a proxy between this machine and the store at ${displayHost(url)} refused the ${doing} (${said})`,
      { ...details, hint, facts: { not_from_store: true } },
    );
  }
  if (isAboutSize) {
    const size = isTooLarge && bytes !== undefined ? `: a file of ${sizeText(bytes)} is too large` : '';
    const limit = error.maxBytes === undefined ? '' : `, it takes at most ${sizeText(error.maxBytes)}`;
    const message = `the store at ${displayHost(url)} refused the upload (${said})${size}${limit}`;
    return new SvcError('rejected', message, { ...details, hint: SMALLER });
  }
  if (status === 400 || status === 401 || status === 403) return new AddressRefused(refusal);
  const code = codeOf(status);
  const message = `the store at ${displayHost(url)} ${WORDS[code]} the ${doing} (${said})`;
  const KindOfError = code === 'not_found' && doing === 'download' ? ObjectMissing : SvcError;
  return new KindOfError(code, message, { ...details, hint: HINTS[code] });
}

const SMALLER =
  'Send smaller files, or ask whoever runs the store, or a proxy before it, to allow uploads of this size with their length.';

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the error for two early responses, before the whole file was sent. `sent` is the larger number of sent bytes. */
export function brokenOffTwice(url: URL, status: number, sent: number, size: number): SvcError {
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

/** Returns the error for a redirect. Redirects are never followed: the file would go to, or come from, another server. */
export function redirectedByStore(url: URL, status: number, location: string | undefined): SvcError {
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const host = target === undefined ? 'an unnamed host' : displayHost(target);
  return new SvcError(
    'bad_response',
    `the store at ${displayHost(url)} redirects to ${host} (${status}); redirects are not followed`,
    { status, hint: 'Check the base URL and your proxy settings; something in between may be responding.' },
  );
}

/** Returns the error for a missing or unusable response. */
export function storeUnreachable(url: URL, doing: Doing, failure: TransportFailure): SvcError {
  return new SvcError('network', `the ${doing} with ${displayHost(url)} failed: ${failure.message}`, {
    hint:
      failure.kind === 'tls'
        ? tlsHint(failure.systemCode)
        : 'Check your network and proxy settings, then run the command again; that is safe.',
    retryable: failure.kind !== 'tls',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}

type RefusalCode = Extract<ErrorCode, 'rejected' | 'rate_limited' | 'server' | 'not_found' | 'bad_response'>;

function codeOf(status: number): RefusalCode {
  if (status < 400) return 'bad_response';
  if (status === 429) return 'rate_limited';
  if (status === 404 || status === 410) return 'not_found';
  return status === 408 || status >= 500 ? 'server' : 'rejected';
}

const WORDS: Record<RefusalCode, string> = {
  bad_response: 'gave an invalid response to',
  rate_limited: 'is limiting requests and refused',
  not_found: 'does not have the object of',
  server: 'failed during',
  rejected: 'rejected',
};

const HINTS: Record<RefusalCode, string> = {
  bad_response: 'Something between you and the store may be responding: check your proxy settings.',
  rate_limited: 'Wait a little and run the command again.',
  not_found: 'Read the job again: it may have expired.',
  server: 'Run the command again later; that is safe.',
  rejected: 'Fix what the message names, then run the command again.',
};

const MAX_BODY = 64 * 1024;
const MAX_BODY_MS = 5_000;

/** A store's response to a write, or its refusal of any request. */
export interface StoreResponse {
  readonly status: number;
  /** The status that the response stands for: that of its error, for a success that contains one. */
  readonly meaning: number;
  readonly origin: Origin;
  readonly error: StoreError;
  readonly text: string;
}

/**
 * Reads a response up to the end of its body, or to a failure. A store may begin a success and then report a failure in its body.
 * @throws TransportFailure if the body of a success does not arrive completely
 */
export async function readStoreResponse(response: HttpResponse): Promise<StoreResponse> {
  const { status } = response;
  const header = (name: string): string | undefined => response.header(name);
  const timer = setTimeout(() => response.discard(), MAX_BODY_MS);
  try {
    const { bytes, failure } = await response.read(MAX_BODY);
    const text = bytes.toString('utf8');
    const origin = originOf('store', { header, text, isCut: failure !== undefined });
    if (status < 300 && failure !== undefined && origin === 'store') throw failure;
    const error = readStoreError(text, header);
    const isFailed = status < 300 && origin === 'store' && isError(text);
    return { status, meaning: isFailed ? statusOf(error.code) : status, origin, error, text };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the root of a body is an error, or JSON with a member of this name. */
function isError(text: string): boolean {
  const body = text.replace(/^\uFEFF/, '');
  if (/^\s*(?:<\?xml[^<>]{0,1000}\?>\s*)?<(?:\w{1,32}:)?Error[\s>/]/.test(body)) return true;
  const { error, Error: named = error } = objectOrUndefined(parsedJson(body)) ?? {};
  return Boolean(named);
}

/** Returns the status that stores send with an error code. Whether a write with an unknown code took effect is unknown. */
function statusOf(code: string | undefined): number {
  return ownMember(STATUS_OF_CODE, code ?? '') ?? (/^[45]\d\d$/.test(code ?? '') ? Number(code) : 500);
}

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  InternalError: 500,
  ServiceUnavailable: 503,
  SlowDown: 503,
  ServerBusy: 503,
  RequestTimeout: 400,
  BadDigest: 400,
  InvalidDigest: 400,
  IncompleteBody: 400,
  ExpiredToken: 400,
  InvalidToken: 400,
  EntityTooLarge: 400,
  AuthorizationHeaderMalformed: 400,
  AccessDenied: 403,
  AllAccessDisabled: 403,
  InvalidAccessKeyId: 403,
  SignatureDoesNotMatch: 403,
  RequestTimeTooSkewed: 403,
  QuotaExceeded: 403,
  NoSuchBucket: 404,
  ConditionalRequestConflict: 409,
  OperationAborted: 409,
  PreconditionFailed: 412,
  NotImplemented: 501,
};

/** The parts of a store's error body that may be shown. The rest repeats signatures and signed text (R07). */
export interface StoreError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** The size of the largest file that the store takes. */
  readonly maxBytes?: number | undefined;
}

const MAX_MESSAGE = 200;
const ID = /^[\w.:|/+=-]{1,128}$/;
const ID_HEADERS = ['x-amz-request-id', 'x-ms-request-id', 'x-guploader-uploadid', 'cf-ray', 'x-request-id'];

/** Reads an error body: XML, JSON, HTML or text, whether complete, cut off or empty. Never throws. */
export function readStoreError(body: string, header: (name: string) => string | undefined): StoreError {
  const said = fromJson(body) ?? fromMarkup(body);
  const idHeader = ID_HEADERS.map(header).find((value) => value !== undefined);
  return {
    code: matching(/^[\w.-]{1,64}$/, said.code ?? header('x-ms-error-code')),
    message: cleanMessage(said.message),
    requestId: matching(ID, said.requestId) ?? matching(ID, idHeader),
    maxBytes: sizeIn(elementText(body, 'MaxSizeAllowed')),
  };
}

/** Describes a store's error, such as `403 AccessDenied: Request has expired`. */
export function describeStoreError(status: number, error: StoreError): string {
  const code = error.code === undefined ? '' : ` ${error.code}`;
  return `${status}${code}${error.message === undefined ? '' : `: ${error.message}`}`;
}

function sizeIn(text = ''): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

type StoreMessage = Record<'code' | 'message' | 'requestId', string | undefined>;

function fromMarkup(body: string): StoreMessage {
  return {
    code: elementText(body, 'Code'),
    message: elementText(body, 'Message') ?? elementText(body, 'title'),
    requestId: elementText(body, 'RequestId'),
  };
}

/** Returns the decoded text of the first XML element with this name and any prefix; undefined without one. */
export function elementText(xml: string, name: string): string | undefined {
  const text = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>([^<]{1,8000})`, 'i').exec(xml)?.[1];
  return text?.trim().replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|quot|apos|amp));/gi, decodedEntity);
}

function decodedEntity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ownMember(ENTITIES, name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function fromJson(body: string): StoreMessage | undefined {
  const outer = objectOrUndefined(parsedJson(body));
  if (!outer) return undefined;
  const inner = objectOrUndefined(outer['error']) ?? outer;
  const pick = (...names: string[]): string | undefined => {
    const value = names.map((name) => inner[name] ?? outer[name]).find((part) => part !== undefined);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  return {
    code: pick('code', 'Code'),
    message: pick('message', 'Message', 'detail', 'title'),
    requestId: pick('requestId', 'request_id', 'RequestId'),
  };
}

function matching(form: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && form.test(text.trim()) ? text.trim() : undefined;
}

/** Reduces a message to a short line without parts of addresses, signatures or card numbers. */
function cleanMessage(text: string | undefined): string | undefined {
  const line = (text ?? '')
    .slice(0, 2_000)
    .replace(/\S*:\/\/\S*/g, '…')
    .replace(/\?\S+/g, '?…')
    .replace(/[\w.%-]+=\S+/g, '…')
    .replace(/[\w+/=%-]{24,}/g, '…')
    .replace(/\d[\d -]{10,}\d/g, '…')
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}
