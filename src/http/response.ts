import type { SvcError } from '../errors.ts';
import { MAX_DEPTH, sourceFrom } from '../json/source.ts';
import { badResponseError, type CallFacts, describeText, plainLine, unclearError } from './refusal.ts';
import { repeatableOf, type Shape } from './request.ts';

/** An answer that was read whole, or up to a limit. */
export interface ReadResponse {
  readonly status: number;
  readonly text: string;
  /** False when the body was longer than the limit. */
  readonly complete: boolean;
  readonly header: (name: string) => string | undefined;
  /** Every header, by lower-case name. */
  readonly headers: () => [name: string, value: string][];
}

/** Reads a successful answer in its shape, or says what about it made no sense. */
export function readResponse<T>(facts: CallFacts, shape: Shape<T> | undefined, answer: ReadResponse): T {
  // Without a shape the caller asked for none: T is undefined there.
  if (!shape) return undefined as T;
  const value = parseJson(answer);
  if (value && facts.request.itemsOfAnyDepth !== true) checkDepth(facts, answer);
  const result = value === undefined ? undefined : shape.safeParse(value.json);
  if (result?.success) return result.data;
  throw unreadableError(facts, answer, result ? describeIssue(result.error.issues) : describeBody(answer));
}

/** Refuses an answer that is nested so deep that whatever goes through it might fail. Its text must be JSON. */
function checkDepth(facts: CallFacts, answer: ReadResponse): void {
  // A short text cannot hold so many brackets.
  if (answer.text.length <= 2 * MAX_DEPTH || sourceFrom(answer.text).depth <= MAX_DEPTH) return;
  throw unreadableError(facts, answer, `it is nested more than ${MAX_DEPTH} levels deep`);
}

/** The error for an answer that says yes and cannot be used. What had an effect may have had it. */
function unreadableError(facts: CallFacts, answer: ReadResponse, what: string): SvcError {
  const { status } = answer;
  const words = facts.hide(what);
  const id = requestIdOf(answer);
  return repeatableOf(facts.request) === 'unsent'
    ? unclearError(facts, `its answer (${status}) could not be read: ${words}`, status, id)
    : badResponseError(facts, status, words, id);
}

/** The JSON of a body in `json`, or undefined where it is none or was not read whole. */
function parseJson({ text, complete }: ReadResponse): { json: unknown } | undefined {
  if (!complete) return undefined;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** What a body that is not JSON seems to be. */
function describeBody(answer: ReadResponse): string {
  if (!answer.complete) return 'a body that is far too long';
  return describeText(answer.text, answer.header('content-type')) ?? 'an empty body';
}

function describeIssue(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const words = issues.slice(0, 5).map(({ path, message }) => {
    const place = path.length === 0 ? 'the whole body' : plainLine(path.map(String).join('.'));
    // Of a field that is not there the shape says only that it is not what it should be.
    return message.endsWith(', received undefined') ? `${place} is missing` : `${place}: ${message}`;
  });
  return words.join('; ');
}

/** The id under which the service knows this request, for a support case. */
export function requestIdOf({ header }: Pick<ReadResponse, 'header'>): string | undefined {
  const id =
    header('x-request-id') ?? header('x-trace-id') ?? header('trace-id') ?? header('x-correlation-id');
  return id !== undefined && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}

/** A body of JSON, parsed and as it was sent. */
export interface JsonBody {
  readonly json: unknown;
  readonly text: string;
}

/** A successful answer of no known shape. */
export interface AnyResponse {
  readonly status: number;
  /** Every header, by lower-case name, without the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent when the answer has no body. */
  readonly body: JsonBody | undefined;
}

/** Reads an answer that may be any JSON, or empty. Throws what a shaped answer would for all else. */
export function readAnyResponse(facts: CallFacts, answer: ReadResponse): AnyResponse {
  const isEmpty = answer.complete && answer.text.trim() === '';
  const body = isEmpty ? undefined : parseJson(answer);
  if (!isEmpty && body === undefined) throw unreadableError(facts, answer, describeBody(answer));
  if (body) checkDepth(facts, answer);
  return { status: answer.status, headers: answer.headers(), body: body && { ...body, text: answer.text } };
}
