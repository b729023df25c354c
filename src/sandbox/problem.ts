import type { Checked, Shape } from '../schema/response.ts';
import type { RouteResponse } from './service.ts';

/** Ends a request with an error body (RFC 9457). */
export class ProblemError extends Error {
  readonly response: RouteResponse;

  constructor(response: RouteResponse) {
    super(`problem ${response.status}`);
    this.response = response;
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

/** The error for one invalid parameter or member. */
export function invalid(field: string, message: string): ProblemError {
  return invalidFields({ [field]: [message] });
}

/** As `invalid`, for several fields at once. */
export function invalidFields(errors: Readonly<Record<string, readonly string[]>>): ProblemError {
  return new ProblemError(problem(400, 'Bad Request', 'One or more validation errors occurred.', errors));
}

/** The error for something that does not exist, or no longer does. */
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

/** A response with a JSON body, or without one. */
export function jsonResponse({ status, body, headers = {} }: RouteResponse): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return textResponse(status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
  });
}

/** A response with a text for its body, and with its length, which HEAD needs too. */
export function textResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): Response {
  const length = String(Buffer.byteLength(text));
  return new Response(text, { status, headers: { ...headers, 'content-length': length } });
}
