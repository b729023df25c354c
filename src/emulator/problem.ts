import { STATUS_CODES } from 'node:http';
import { HTTPException } from 'hono/http-exception';
import type { Checked, Shape } from '../schema/response.ts';

type Headers = Readonly<Record<string, string>>;

/** Returns the exception that ends a request with an error body (RFC 9457) and further members. */
export function problem(
  status: ConstructorParameters<typeof HTTPException>[0] & number,
  detail: string,
  { members, headers }: { members?: object; headers?: Headers } = {},
): HTTPException {
  const body = { ...problemBody(status, detail), ...members };
  const res = jsonResponse(status, body, { 'content-type': 'application/problem+json', ...headers });
  return new HTTPException(status, { res });
}

/** Returns an error body (RFC 9457). */
export function problemBody(status: number, detail: string): object {
  return { title: STATUS_CODES[status] ?? 'Fault', detail, status };
}

/** Returns the error for one invalid parameter or member. */
export function invalid(field: string, message: string): HTTPException {
  return invalidFields([[field, message]]);
}

/** Returns the error for invalid parameters or members, with messages by field. */
export function invalidFields(broken: readonly (readonly [path: string, message: string])[]): HTTPException {
  // A map, since fields of the request may have names such as `constructor`, which a plain object inherits.
  const errors = new Map<string, string[]>();
  for (const [path, message] of broken) errors.set(path, [...(errors.get(path) ?? []), message]);
  return problem(400, 'One or more validation errors occurred.', { members: { errors: Object.fromEntries(errors) } });
}

export function notFound(what: string): HTTPException {
  return problem(404, `${what} was not found.`);
}

/** Checks a body against a shape. Throws a 400 with every violation, by the path of its field. */
export function checkBody<S extends Shape>(shape: S, body: unknown): Checked<S> {
  const { success, error, data } = shape.safeParse(body);
  if (success) return data;
  throw invalidFields(error.issues.map(({ path, message }) => [path.map(String).join('.') || 'body', `${message}.`]));
}

/** Returns a response with a JSON body, or without a body. */
export function jsonResponse(status: number, body: unknown, headers: Headers = {}): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return textResponse(status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers });
}

/** Returns a response with a text and its length, which a HEAD request needs too. */
export function textResponse(status: number, text: string, headers: Headers): Response {
  const length = String(Buffer.byteLength(text));
  return new Response(text, { status, headers: { ...headers, 'content-length': length } });
}
