import type { Answer } from './routes/route.ts';

/** Ends a request with an error body (RFC 9457). */
export class ProblemError extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
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
): Answer {
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
