import { badAnswerError, type CallFacts, unclearError } from './refusal.ts';
import { type ApiRequest, repeatableOf } from './request.ts';
import { describeText, plainLine } from './service-text.ts';

/** An answer that was read whole, or up to a limit. */
export interface ReadAnswer {
  readonly status: number;
  readonly text: string;
  /** False when the body was longer than the limit. */
  readonly complete: boolean;
  readonly header: (name: string) => string | undefined;
}

/** Reads a successful answer in the request's shape, or says what about it made no sense. */
export function readAnswer<T>(facts: CallFacts, request: ApiRequest<T>, answer: ReadAnswer): T {
  const { shape } = request;
  // Without a shape the caller asked for none: T is undefined there.
  if (!shape) return undefined as T;
  const value = parseJson(answer);
  const result = value === undefined ? undefined : shape.safeParse(value.json);
  if (result?.success) return result.data;
  const what = facts.hide(result ? issueWords(result.error.issues) : bodyWords(answer));
  const id = requestIdOf(answer);
  if (repeatableOf(request) === 'unsent')
    throw unclearError(facts, `its answer (${answer.status}) could not be read: ${what}`, answer.status, id);
  throw badAnswerError(facts, answer.status, what, id);
}

function parseJson({ text, complete }: ReadAnswer): { json: unknown } | undefined {
  if (!complete) return undefined;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function bodyWords(answer: ReadAnswer): string {
  if (!answer.complete) return 'a body that is far too long';
  return describeText(answer.text, answer.header('content-type')) ?? 'an empty body';
}

function issueWords(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const words = issues.slice(0, 5).map(({ path, message }) => {
    const place = path.length === 0 ? 'the whole body' : plainLine(path.map(String).join('.'));
    return `${place}: ${message}`;
  });
  return words.join('; ');
}

/** The id under which the service knows this request, for a support case. */
export function requestIdOf({ header }: Pick<ReadAnswer, 'header'>): string | undefined {
  const id =
    header('x-request-id') ?? header('x-trace-id') ?? header('trace-id') ?? header('x-correlation-id');
  return id !== undefined && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}
