// Reads the responses of the service, and checks their shapes.

import { isUtf8 } from 'node:buffer';
import type { SvcError } from '../../base/errors.ts';
import { keepSource, listSource, MAX_DEPTH, sourceFrom } from '../../base/json/source.ts';
import { otherTypes, parsedJson } from '../../schema/json-value.ts';
import { type CallFacts, unconfirmedError, unreadableError } from './api-errors.ts';
import { decoded } from './encoding.ts';
import type { HttpResponse } from './exchange.ts';
import { describeText, plainLine, requestIdOf } from './foreign-text.ts';
import type { Shape } from './request.ts';

/** A response with its body, without the key that a server on the way may echo. */
export interface ReadResponse {
  readonly status: number;
  readonly text: string;
  /** The bytes of the body, if they are not all UTF-8; the text has U+FFFD in their place. */
  readonly bytes?: Buffer | undefined;
  /** False if the body broke off, is longer than the limit, or could not be decoded. */
  readonly complete: boolean;
  /** Why a compressed body could not be decoded. */
  readonly unreadable?: string | undefined;
  readonly header: (name: string) => string | undefined;
  /** Returns all headers, with names in lower case. */
  readonly headers: () => [name: string, value: string][];
}

const MAX_BODY = 64 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Reads and decodes a response. `hide` removes the key. @throws TransportFailure if the body of a success breaks off */
export async function readWhole(response: HttpResponse, hide: CallFacts['hide']): Promise<ReadResponse> {
  const { status } = response;
  const isError = status >= 300;
  const limit = isError ? MAX_ERROR_BODY : MAX_BODY;
  const body = await response.read(limit);
  if (body.failure && !isError) throw body.failure;
  const encoding = response.header('content-encoding');
  const plain = await decoded(body.bytes, encoding, { limit, isPartial: isError });
  const { bytes, complete } = 'problem' in plain ? { bytes: Buffer.alloc(0), complete: false } : plain;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return {
    status,
    bytes: isError || isUtf8(bytes) ? undefined : withoutByteOrderMark(bytes),
    text: isError ? hide(text) : text,
    complete: complete && body.complete,
    unreadable: 'problem' in plain ? plain.problem : undefined,
    header: (name) => {
      const value = response.header(name);
      return value === undefined ? undefined : hide(value);
    },
    headers: () => response.headers().map(([name, value]) => [name, hide(value)]),
  };
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0);
}

/**
 * Returns the value of a successful response, and keeps its text for display. Calls `onOtherTypes` with the members whose type
 * is not the documented type.
 * @throws SvcError `bad_response`, or `outcome_unknown` for a change, if the response is malformed
 */
export function readResponse<T>(
  facts: CallFacts,
  shape: Shape<T> | undefined,
  response: ReadResponse,
  onOtherTypes?: (members: readonly string[]) => void,
): T {
  if (!shape) {
    // The request expects no body, so T is undefined. Refuses the web page of another server.
    readAnyResponse(facts, response);
    if (!confirms(facts, response)) throw unconfirmedError(facts, response);
    return undefined as T;
  }
  const json = jsonOf(response);
  if (json === undefined) throw unreadable(facts, response, describeBody(facts, response));
  const isReadByItem = facts.request.itemsOfAnyDepth === true;
  if (!isReadByItem) checkDepth(facts, response);
  const result = checkShape(shape, json);
  if (!result.success) throw unreadable(facts, response, describeIssues(facts, result.error.issues));
  const { data } = result;
  const members = otherTypes(data, json);
  if (members.length > 0) onOtherTypes?.(members.map(plainLine));
  if (!isReadByItem) keepSources(data, response.text);
  return data;
}

/** Whether a success without a documented body confirms a change. A 202 only accepts a change, and other JSON may be an error. */
function confirms({ request }: CallFacts, { status, text }: ReadResponse): boolean {
  return request.method === 'GET' || (status !== 202 && /^(?:\{\s*\}|null)?$/.test(text.trim()));
}

/** Keeps the original text of an object, or of each object in a list: the parsed value may lack digits or members. */
function keepSources(data: unknown, text: string): void {
  if (typeof data !== 'object' || data === null) return;
  if (!Array.isArray(data)) return void keepSource(data, sourceFrom(text));
  for (const [at, source] of (listSource(text)?.items ?? []).entries()) {
    const item: unknown = data[at];
    if (typeof item === 'object' && item !== null) keepSource(item, source);
  }
}

function checkShape<T>(shape: Shape<T>, json: unknown): ReturnType<Shape<T>['safeParse']> {
  try {
    return shape.safeParse(json);
  } catch (error) {
    // zod overflows the stack for a hundred thousand issues.
    if (!(error instanceof RangeError)) throw error;
    return { success: false, error: { issues: [{ path: [], message: 'far too many wrong values' }] } };
  }
}

/** Refuses deeply nested JSON, which could overflow the stack of later code. */
function checkDepth(facts: CallFacts, response: ReadResponse): void {
  // A short text cannot contain that many brackets.
  if (response.text.length <= 2 * MAX_DEPTH || sourceFrom(response.text).depth <= MAX_DEPTH) return;
  throw unreadable(facts, response, `it is nested more than ${MAX_DEPTH} levels deep`);
}

function unreadable(facts: CallFacts, response: ReadResponse, problem: string): SvcError {
  return unreadableError(facts, problem, { status: response.status, requestId: requestIdOf(response.header) });
}

/** Parses a body; undefined for a body that is not JSON or is incomplete. */
function jsonOf({ text, complete }: ReadResponse): unknown {
  return complete ? parsedJson(text) : undefined;
}

function describeBody({ hide }: CallFacts, response: ReadResponse): string {
  if (response.unreadable !== undefined) return response.unreadable;
  if (!response.complete) return 'a body that is far too long';
  return describeText(hide(response.text), response.header('content-type')) ?? 'an empty body';
}

function describeIssues(
  { hide }: CallFacts,
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
): string {
  const descriptions = issues.slice(0, 5).map(({ path, message }) => {
    const place = path.length === 0 ? 'the whole body' : plainLine(hide(path.map(String).join('.')));
    // zod says of a missing field only that it has the wrong type.
    return message.endsWith(', received undefined') ? `${place} is missing` : `${place}: ${message}`;
  });
  return descriptions.join('; ');
}

/** A JSON body: the parsed value and the original text. */
export interface JsonBody {
  readonly json: unknown;
  readonly text: string;
}

/** A successful response of no known shape. */
export interface AnyResponse {
  readonly status: number;
  /** All headers, with names in lower case, without the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined if the response has no body. */
  readonly body: JsonBody | undefined;
}

/** Reads a response whose body is any JSON or empty. @throws SvcError for any other body, as `readResponse` */
export function readAnyResponse(facts: CallFacts, response: ReadResponse): AnyResponse {
  const { status, text } = response;
  const headers = response.headers();
  if (response.complete && text.trim() === '') return { status, headers, body: undefined };
  const json = jsonOf(response);
  if (json === undefined) throw unreadable(facts, response, describeBody(facts, response));
  checkDepth(facts, response);
  return { status, headers, body: { json, text } };
}
