// Reads and parses response bodies.

import type { SvcError } from '../../base/errors.ts';
import { keepSource, listSource, MAX_DEPTH, sourceFrom } from '../../base/json/source.ts';
import { maskCardNumbers } from '../../base/security/card-number.ts';
import { objectOrUndefined, otherTypes } from '../../schema/json-value.ts';
import { type CallFacts, type Problem, unconfirmedError, unreadableError } from './api-errors.ts';
import type { Shape } from './request.ts';

/** A response that was read completely, or up to a limit. */
export interface ReadResponse {
  readonly status: number;
  readonly text: string;
  /** The body, if some of its bytes are not UTF-8; the text has U+FFFD in their place. */
  readonly bytes?: Buffer | undefined;
  /** False when the body was longer than the limit. */
  readonly complete: boolean;
  /** Why a compressed body could not be decoded. */
  readonly unreadable?: string | undefined;
  readonly header: (name: string) => string | undefined;
  /** Every header, by lower-case name. */
  readonly headers: () => [name: string, value: string][];
}

/**
 * Reads a successful response in its shape, and keeps its text for display. Throws an error that describes a malformed
 * response. `onOtherTypes` gets the members for display whose type is not the documented type.
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
  const value = parseJson(response);
  const isReadByItem = facts.request.itemsOfAnyDepth === true;
  if (value && !isReadByItem) checkDepth(facts, response);
  const result = value === undefined ? undefined : checked(shape, value.json);
  if (!result?.success)
    throw unreadable(
      facts,
      response,
      result ? describeIssue(facts, result.error.issues) : describeBody(facts, response),
    );
  const { data } = result;
  const members = otherTypes(data, value?.json);
  if (members.length > 0) onOtherTypes?.(members.map(plainLine));
  if (!isReadByItem) keepSources(data, response.text);
  return data;
}

/** Whether a success without a documented body confirms a change: a 202 only accepts it, and other JSON may be an error. */
function confirms({ request }: CallFacts, { status, text }: ReadResponse): boolean {
  return request.method === 'GET' || (status !== 202 && /^\s*(?:\{\s*\}|null)?\s*$/.test(text));
}

/** Keeps the text of an object, or of each object in a list, since the parsed value may lack digits or members. */
function keepSources(data: unknown, text: string): void {
  if (typeof data !== 'object' || data === null) return;
  if (!Array.isArray(data)) return void keepSource(data, sourceFrom(text));
  for (const [at, source] of (listSource(text)?.items ?? []).entries()) {
    const item: unknown = data[at];
    if (typeof item === 'object' && item !== null) keepSource(item, source);
  }
}

/** Checks a value against a shape. zod overflows the stack for a hundred thousand issues. */
function checked<T>(shape: Shape<T>, json: unknown): ReturnType<Shape<T>['safeParse']> {
  try {
    return shape.safeParse(json);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { success: false, error: { issues: [{ path: [], message: 'far too many wrong values' }] } };
  }
}

/** Refuses a response whose deep nesting could overflow the stack of later code. Its text must be JSON. */
function checkDepth(facts: CallFacts, response: ReadResponse): void {
  // A short text cannot contain that many brackets.
  if (response.text.length <= 2 * MAX_DEPTH || sourceFrom(response.text).depth <= MAX_DEPTH) return;
  throw unreadable(facts, response, `it is nested more than ${MAX_DEPTH} levels deep`);
}

function unreadable(facts: CallFacts, response: ReadResponse, what: string): SvcError {
  return unreadableError(facts, what, { status: response.status, requestId: requestIdOf(response) });
}

/** Parses a body; undefined for a body that is not JSON or was not read completely. */
function parseJson({ text, complete }: Pick<ReadResponse, 'text' | 'complete'>): { json: unknown } | undefined {
  if (!complete) return undefined;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Describes a body that is not JSON. */
function describeBody({ hide }: CallFacts, response: ReadResponse): string {
  if (response.unreadable !== undefined) return response.unreadable;
  if (!response.complete) return 'a body that is far too long';
  return describeText(hide(response.text), response.header('content-type')) ?? 'an empty body';
}

function describeIssue(
  { hide }: CallFacts,
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
): string {
  const words = issues.slice(0, 5).map(({ path, message }) => {
    const place = path.length === 0 ? 'the whole body' : plainLine(hide(path.map(String).join('.')));
    // zod describes a missing field only as having the wrong type.
    return message.endsWith(', received undefined') ? `${place} is missing` : `${place}: ${message}`;
  });
  return words.join('; ');
}

/** Returns the service's id of this request, for a support case. */
export function requestIdOf({ header }: Pick<ReadResponse, 'header'>): string | undefined {
  const id = header('x-request-id') ?? header('x-trace-id') ?? header('trace-id') ?? header('x-correlation-id');
  return validId(id);
}

function validId(id: unknown): string | undefined {
  return typeof id === 'string' && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}

/** A body of JSON, parsed and as it was sent. */
export interface JsonBody {
  readonly json: unknown;
  readonly text: string;
}

/** A successful response of no known shape. */
export interface AnyResponse {
  readonly status: number;
  /** Every header, by lower-case name, without the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent when the response has no body. */
  readonly body: JsonBody | undefined;
}

/** Reads a response with JSON of any form or an empty body. Throws for any other body, as for a response with a shape. */
export function readAnyResponse(facts: CallFacts, response: ReadResponse): AnyResponse {
  const isEmpty = response.complete && response.text.trim() === '';
  const body = isEmpty ? undefined : parseJson(response);
  if (!isEmpty && body === undefined) throw unreadable(facts, response, describeBody(facts, response));
  if (body) checkDepth(facts, response);
  return { status: response.status, headers: response.headers(), body: body && { ...body, text: response.text } };
}

const MAX_FIELDS = 20;
const SAYING = ['title', 'message', 'detail', 'error_description', 'reason', 'msg', 'description'];
const NAMING = ['code', 'error_code', 'errorCode', 'type'];

/**
 * Reads an error body: problem JSON (RFC 9457), also nested under `error` (twice in a 424), other JSON, HTML or text, whether
 * complete, cut off or empty. Never throws. Returns at most a few hundred characters.
 */
export function readProblem(body: string, contentType: string | undefined): Problem {
  const json = parseJson({ text: body, complete: true })?.json;
  const record = Array.isArray(json) ? { errors: json as unknown } : objectOrUndefined(json);
  if (!record) {
    const summary = json === null ? undefined : describeText(typeof json === 'string' ? json : body, contentType);
    return { summary, fields: {}, requestId: undefined, isProblem: false };
  }
  // The innermost error comes first, because it is the most specific and the end may be cut.
  const levels = levelsOf(record).toReversed();
  const fields = readFields(levels.find((level) => level['errors'] !== undefined)?.['errors']);
  const lines = distinctLines(levels.flatMap((level) => [...SAYING.map((name) => level[name]), level['error']]));
  const messages = Object.entries(fields).map(([name, texts]) =>
    name === '' ? texts.join('; ') : `${name}: ${texts.join('; ')}`,
  );
  const said = [...lines, ...messages];
  const names = distinctLines(levels.flatMap((level) => NAMING.map((name) => level[name])));
  const summary = cut((said.length > 0 ? said : names).join(' – '));
  return {
    summary: summary === '' ? undefined : summary,
    fields,
    requestId: levels.map(readId).find((id) => id !== undefined),
    isProblem: summary !== '' && !Array.isArray(json),
  };
}

const MAX_LEVELS = 3;

/** Returns an error body and the bodies nested under its `error`. */
function levelsOf(record: Record<string, unknown>): Record<string, unknown>[] {
  const levels = [record];
  let inner = objectOrUndefined(record['error']);
  for (; inner !== undefined && levels.length < MAX_LEVELS; inner = objectOrUndefined(inner['error']))
    levels.push(inner);
  return levels;
}

function distinctLines(values: readonly unknown[]): string[] {
  const lines = values.filter((value) => typeof value === 'string').map(plainLine);
  return [...new Set(lines)].filter((line) => line !== '' && line !== 'about:blank');
}

function readFields(value: unknown): Record<string, string[]> {
  if (Array.isArray(value)) {
    const list = texts(value);
    return list.length > 0 ? { '': list } : {};
  }
  const entries = Object.entries(objectOrUndefined(value) ?? {}).slice(0, MAX_FIELDS);
  return Object.fromEntries(
    entries.map(([name, said]) => [plainLine(name), texts(said)] as const).filter(([, said]) => said.length > 0),
  );
}

function texts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .slice(0, MAX_FIELDS)
    .map(messageOf)
    .filter((text) => text !== '');
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return plainLine(value);
  const record = objectOrUndefined(value) ?? {};
  return distinctLines(SAYING.map((name) => record[name])).join(' – ');
}

function readId(record: Record<string, unknown>): string | undefined {
  return validId(record['trace_id'] ?? record['traceId'] ?? record['request_id'] ?? record['requestId']);
}

const MAX_LENGTH = 300;

/**
 * Reduces foreign text to one safe line: no control, format or bidirectional characters, no card number, no query of an
 * address (it may be a signature), at most 300 characters.
 */
export function plainLine(text: string): string {
  const line = text.replace(new RegExp(String.raw`[\s\p{C}]+`, 'gu'), ' ').trim();
  return cut(maskCardNumbers(hideQueries(line)));
}

/** Describes a body that is not a JSON object; undefined for a body without text. */
function describeText(body: string, contentType: string | undefined): string | undefined {
  if (/html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(body)) return describePage(body);
  if (looksBinary(body)) return 'a body that is not text';
  if (/^\s*[[{]/.test(body)) return 'a JSON body that is cut off or damaged';
  const line = plainLine(body);
  return line === '' ? undefined : line;
}

/** Cuts to 300 UTF-16 units, never within a character. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function describePage(body: string): string {
  const title = /<title[^>]{0,100}>([^<]{1,1000})/i.exec(body.slice(0, 20_000))?.[1] ?? '';
  const line = plainLine(title);
  return `a web page instead of JSON${line === '' ? '' : `: «${line}»`}`;
}

function looksBinary(body: string): boolean {
  const start = body.slice(0, 1_000);
  const odd = start.match(/[^\s -~\u00A0-\uFFFF]|\uFFFD/g)?.length ?? 0;
  return odd * 10 > start.length;
}

function hideQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"'<>]+)[?#][^\s"'<>]*/gi, '$1?…');
}
