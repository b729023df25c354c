import type { Checked, Shape } from '../schema/shape.ts';
import { invalidFields } from './problem.ts';

/** Checks a body against a shape. Throws a 400 that holds every violation, by the field's path. */
export function checkBody<S extends Shape>(shape: S, body: unknown): Checked<S> {
  const { success, error, data } = shape.safeParse(body);
  if (success) return data;
  const errors: Record<string, string[]> = {};
  for (const { path, message } of error.issues)
    (errors[path.map(String).join('.') || 'body'] ??= []).push(`${message}.`);
  throw invalidFields(errors);
}
