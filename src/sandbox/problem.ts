import type { Checked, Shape } from '../schema/response.ts';
import type { Exchange, RouteResponse } from './routes/route.ts';

/** Ends a request with an error body (RFC 9457). */
export class ProblemError extends Error {
  readonly answer: RouteResponse;

  constructor(answer: RouteResponse) {
    super(`problem ${answer.status}`);
    this.answer = answer;
  }
}

/** An error body (RFC 9457). `errors` holds messages by field. */
export function problem(
  status: number,
  title: string,
  detail: string,
  errors?: Readonly<Record<string, readonly string[]>>,
): RouteResponse {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { title, detail, status, ...(errors !== undefined && { errors }) },
  };
}

/** The answer to parameters or members that are not as they should be: one message a field. */
export function invalid(field: string, message: string): ProblemError {
  return invalidFields({ [field]: [message] });
}

/** As `invalid`, for several fields at once. */
export function invalidFields(errors: Readonly<Record<string, readonly string[]>>): ProblemError {
  return new ProblemError(problem(400, 'Bad Request', 'One or more validation errors occurred.', errors));
}

/** The answer for something that is not there, or no longer. */
export function notFound(what: string): ProblemError {
  return new ProblemError(problem(404, 'Not Found', `${what} was not found.`));
}

/** Checks a body against a shape. Throws a 400 that holds every violation, by the field's path. */
export function checkBody<S extends Shape>(shape: S, body: unknown): Checked<S> {
  const { success, error, data } = shape.safeParse(body);
  if (success) return data;
  const errors: Record<string, string[]> = {};
  for (const { path, message } of error.issues)
    (errors[path.map(String).join('.') || 'body'] ??= []).push(`${message}.`);
  throw invalidFields(errors);
}

const LARGEST_BODY = 1_000_000;

/** Reads a JSON body; undefined when it is empty. Throws a 400 when it is not JSON, a 413 when it is too large. */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const text = await readText(exchange);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('body', 'Must be JSON.');
  }
}

/** Reads a body as text. Throws a 413 when it is too large. */
export async function readText({ incoming, outgoing }: Exchange): Promise<string> {
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LARGEST_BODY)
      throw new ProblemError(problem(413, 'Content Too Large', 'The body is too large.'));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Sends a JSON answer, or one without a body. */
export function sendResponse({ incoming, outgoing }: Exchange, answer: RouteResponse): void {
  const text = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  outgoing.statusCode = answer.status;
  if (text !== undefined) outgoing.setHeader('content-type', 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries(answer.headers ?? {})) outgoing.setHeader(name, value);
  if (answer.status !== 204)
    outgoing.setHeader('content-length', text === undefined ? 0 : Buffer.byteLength(text));
  outgoing.end(incoming.method === 'HEAD' ? undefined : text);
}
