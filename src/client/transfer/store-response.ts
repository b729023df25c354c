// Reads the errors of object stores, which may also be in the body of a success.

import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import { ownMember } from '../../schema/own-member.ts';
import { type Origin, originOf } from '../http/effect.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { plainId, requestIdOf } from '../http/foreign-text.ts';
import { elementText } from './xml.ts';

const MAX_BODY = 64 * 1024;
const MAX_BODY_MS = 5_000;

/** A response to a write, or an error response to any request. */
export interface StoreResponse {
  /** The status of the error that the body of a success contains; else the same as `received`, the status of the response. */
  readonly status: number;
  readonly received: number;
  readonly origin: Origin;
  readonly error: StoreError;
  readonly text: string;
}

/**
 * Reads a response to the end of its body. The body of an error response may be cut off.
 * @throws TransportFailure if the body of a success does not arrive completely
 */
export async function readStoreResponse(response: HttpResponse): Promise<StoreResponse> {
  const { status: received } = response;
  const header = (name: string): string | undefined => response.header(name);
  const timer = setTimeout(() => response.discard(), MAX_BODY_MS);
  try {
    const { bytes, failure } = await response.read(MAX_BODY);
    const text = bytes.toString('utf8');
    const origin = originOf('store', { header, text, isCut: failure !== undefined });
    const isSuccess = received < 300 && origin === 'store';
    if (isSuccess && failure !== undefined) throw failure;
    const error = readStoreError(text, header);
    return { received, status: isSuccess && isError(text) ? statusOf(error.code) : received, origin, error, text };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a body is an XML element `Error`, or a JSON object with a member `error`. */
function isError(text: string): boolean {
  const body = text.replace(/^\uFEFF/, '');
  if (/^\s*(?:<\?xml[^<>]{0,1000}\?>\s*)?<(?:\w{1,32}:)?Error[\s>/]/.test(body)) return true;
  const { error, Error: member = error } = objectOrUndefined(parsedJson(body)) ?? {};
  return Boolean(member);
}

/** Returns the status that stores send with an error code; 500 for an unknown code, after which a write may have taken effect. */
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

/** The parts of an error body that may be shown. Other parts repeat signatures and signed text (R07). */
export interface StoreError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** The maximum size of a file, in bytes. */
  readonly maxBytes?: number | undefined;
}

const MAX_MESSAGE = 200;

/** Reads an error body: XML, JSON, HTML or text, whether complete, cut off or empty. Never throws. */
export function readStoreError(body: string, header: (name: string) => string | undefined): StoreError {
  const { code, message, requestId } = fromJson(body) ?? fromMarkup(body);
  const maxBytes = matching(/^\d{1,15}$/, elementText(body, 'MaxSizeAllowed'));
  return {
    code: matching(/^[\w.-]{1,64}$/, code ?? header('x-ms-error-code')),
    message: cleanMessage(message),
    requestId: plainId(requestId?.trim()) ?? requestIdOf(header),
    maxBytes: maxBytes === undefined ? undefined : Number(maxBytes),
  };
}

/** Describes an error in one line, such as `403 AccessDenied: Request has expired`. */
export function describeStoreError(status: number, error: StoreError): string {
  const code = error.code === undefined ? '' : ` ${error.code}`;
  return `${status}${code}${error.message === undefined ? '' : `: ${error.message}`}`;
}

type ErrorMembers = Record<'code' | 'message' | 'requestId', string | undefined>;

function fromMarkup(body: string): ErrorMembers {
  return {
    code: elementText(body, 'Code'),
    message: elementText(body, 'Message') ?? elementText(body, 'title'),
    requestId: elementText(body, 'RequestId'),
  };
}

function fromJson(body: string): ErrorMembers | undefined {
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

function matching(pattern: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && pattern.test(text.trim()) ? text.trim() : undefined;
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
