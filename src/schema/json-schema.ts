import * as z from 'zod/mini';
import type { Shape } from './response.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Converts a shape to a JSON Schema of what it reads. Checks written in code are left out. */
export function jsonSchema(shape: Shape): JsonSchema {
  const schema = z.toJSONSchema(shape, { unrepresentable: 'any', io: 'input' });
  // The containing document names the draft once.
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));
}
