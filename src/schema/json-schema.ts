import * as z from 'zod/mini';
import type { Shape } from './response.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Converts named shapes to JSON Schemas that refer to one another by `address`. Checks written in code are left out.
 */
export function jsonSchemas(
  shapes: Readonly<Record<string, Shape>>,
  address: (name: string) => string,
): Record<string, JsonSchema> {
  const named = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(shapes)) named.add(shape, { id });
  const { schemas } = z.toJSONSchema(named, { uri: address, unrepresentable: 'any', io: 'input' });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutNames(schema)]));
}

/** Converts one shape to a JSON Schema of what it reads. */
export function jsonSchema(shape: Shape): JsonSchema {
  return withoutNames(z.toJSONSchema(shape, { unrepresentable: 'any', io: 'input' }));
}

// The containing document gives the schemas their addresses and names the draft once.
function withoutNames(schema: object): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
}
