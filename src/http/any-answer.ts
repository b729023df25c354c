import { bodyWords, checkDepth, parseJson, type ReadAnswer, unreadableError } from './read-answer.ts';
import type { CallFacts } from './refusal.ts';

/** A body of JSON, parsed and as it was sent. */
export interface JsonBody {
  readonly json: unknown;
  readonly text: string;
}

/** A successful answer of no known shape. */
export interface AnyAnswer {
  readonly status: number;
  /** Every header, by lower-case name, without the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent when the answer has no body. */
  readonly body: JsonBody | undefined;
}

/** Reads an answer that may be any JSON, or empty. Throws what a shaped answer would for all else. */
export function readAnyAnswer(facts: CallFacts, answer: ReadAnswer): AnyAnswer {
  const isEmpty = answer.complete && answer.text.trim() === '';
  const body = isEmpty ? undefined : parseJson(answer);
  if (!isEmpty && body === undefined) throw unreadableError(facts, answer, bodyWords(answer));
  if (body) checkDepth(facts, answer);
  return { status: answer.status, headers: answer.headers(), body: body && { ...body, text: answer.text } };
}
