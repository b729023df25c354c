import * as z from 'zod/mini';
import type { Shape } from './response.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Converts a shape to a JSON Schema of its input. Leaves out checks written in code. */
export function jsonSchema(shape: Shape): JsonSchema {
  const schema = z.toJSONSchema(shape, { unrepresentable: 'any', io: 'input' });
  // The containing document names the draft once.
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));
}
