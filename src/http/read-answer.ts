import type { SvcError } from '../errors.ts';
import { MAX_DEPTH, sourceFrom } from '../json-source.ts';
import { badAnswerError, type CallFacts, unclearError } from './refusal.ts';
import { repeatableOf, type Shape } from './request.ts';
import { describeText, plainLine } from './service-text.ts';

/** An answer that was read whole, or up to a limit. */
export interface ReadAnswer {
  readonly status: number;
  readonly text: string;
  /** False when the body was longer than the limit. */
  readonly complete: boolean;
  readonly header: (name: string) => string | undefined;
  /** Every header, by lower-case name. */
  readonly headers: () => [name: string, value: string][];
}

/** Reads a successful answer in its shape, or says what about it made no sense. */
export function readAnswer<T>(facts: CallFacts, shape: Shape<T> | undefined, answer: ReadAnswer): T {
  // Without a shape the caller asked for none: T is undefined there.
  if (!shape) return undefined as T;
  const value = parseJson(answer);
  if (value && facts.request.itemsOfAnyDepth !== true) checkDepth(facts, answer);
  const result = value === undefined ? undefined : shape.safeParse(value.json);
  if (result?.success) return result.data;
  throw unreadableError(facts, answer, result ? issueWords(result.error.issues) : bodyWords(answer));
}

/** Refuses an answer that is nested so deep that whatever goes through it might fail. Its text must be JSON. */
export function checkDepth(facts: CallFacts, answer: ReadAnswer): void {
  // A short text cannot hold so many brackets.
  if (answer.text.length <= 2 * MAX_DEPTH || sourceFrom(answer.text).depth <= MAX_DEPTH) return;
  throw unreadableError(facts, answer, `it is nested more than ${MAX_DEPTH} levels deep`);
}

/** The error for an answer that says yes and cannot be used. What had an effect may have had it. */
export function unreadableError(facts: CallFacts, answer: ReadAnswer, what: string): SvcError {
  const { status } = answer;
  const words = facts.hide(what);
  const id = requestIdOf(answer);
  return repeatableOf(facts.request) === 'unsent'
    ? unclearError(facts, `its answer (${status}) could not be read: ${words}`, status, id)
    : badAnswerError(facts, status, words, id);
}

/** The JSON of a body in `json`, or undefined where it is none or was not read whole. */
export function parseJson({ text, complete }: ReadAnswer): { json: unknown } | undefined {
  if (!complete) return undefined;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** What a body that is not JSON seems to be. */
export function bodyWords(answer: ReadAnswer): string {
  if (!answer.complete) return 'a body that is far too long';
  return describeText(answer.text, answer.header('content-type')) ?? 'an empty body';
}

function issueWords(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const words = issues.slice(0, 5).map(({ path, message }) => {
    const place = path.length === 0 ? 'the whole body' : plainLine(path.map(String).join('.'));
    // Of a field that is not there the shape says only that it is not what it should be.
    return message.endsWith(', received undefined') ? `${place} is missing` : `${place}: ${message}`;
  });
  return words.join('; ');
}

/** The id under which the service knows this request, for a support case. */
export function requestIdOf({ header }: Pick<ReadAnswer, 'header'>): string | undefined {
  const id =
    header('x-request-id') ?? header('x-trace-id') ?? header('trace-id') ?? header('x-correlation-id');
  return id !== undefined && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}
