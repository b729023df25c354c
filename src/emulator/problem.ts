// The errors of the emulated service, and the check of bodies that throws them.

import { STATUS_CODES } from 'node:http';
import { type Headers, jsonResponse, type ServiceResponse } from './response.ts';
import type { Checked, Shape } from '../schema/response.ts';

/** Thrown to end a request with an error. */
export class Problem extends Error {
  readonly response: ServiceResponse;

  constructor(detail: string, response: ServiceResponse) {
    super(detail);
    this.response = response;
  }
}

/** Returns the error that ends a request with an error body (RFC 9457) and further members. */
export function problem(
  status: number,
  detail: string,
  { members, headers }: { members?: object; headers?: Headers } = {},
): Problem {
  const body = { ...problemBody(status, detail), ...members };
  return new Problem(detail, jsonResponse(status, body, { 'content-type': 'application/problem+json', ...headers }));
}

/** Returns an error body (RFC 9457). */
export function problemBody(status: number, detail: string): object {
  return { title: STATUS_CODES[status] ?? 'Fault', detail, status };
}

/** Returns the error for one invalid parameter or member. */
export function invalid(field: string, message: string): Problem {
  return invalidFields([[field, message]]);
}

/** Returns the error for invalid parameters or members, with messages by field. */
export function invalidFields(broken: readonly (readonly [path: string, message: string])[]): Problem {
  // A map, since fields of the request may have names such as `constructor`, which a plain object inherits.
  const errors = new Map<string, string[]>();
  for (const [path, message] of broken) errors.set(path, [...(errors.get(path) ?? []), message]);
  return problem(400, 'One or more validation errors occurred.', { members: { errors: Object.fromEntries(errors) } });
}

export function notFound(what: string): Problem {
  return problem(404, `${what} was not found.`);
}

/** Checks a body against a shape. Throws a 400 with every violation, by the path of its field. */
export function checkBody<S extends Shape>(shape: S, body: unknown): Checked<S> {
  const { success, error, data } = shape.safeParse(body);
  if (success) return data;
  throw invalidFields(error.issues.map(({ path, message }) => [path.map(String).join('.') || 'body', `${message}.`]));
}
