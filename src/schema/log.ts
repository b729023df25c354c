import * as z from 'zod/mini';
import { cursorPageSchema, otherwise, text } from './response.ts';

/** Operations that logs are known to carry; a log may carry others. */
export const LOG_OPERATIONS = ['create', 'update', 'read', 'delete'] as const;

/** One audit record. No id is promised, and two records may be equal in every field. */
export const logSchema = z.looseObject({
  tenant_id: text,
  actor_id: text,
  actor_type: text,
  entity_type: text,
  entity_id: text,
  operation: text,
  message: text,
  /** ISO 8601; the fraction can be missing or have seven digits. */
  created_at: z.string(),
});
export type Log = z.infer<typeof logSchema>;

/** Response of GET /logs. */
export const logPageSchema = cursorPageSchema(logSchema);
export type LogPage = z.infer<typeof logPageSchema>;

/** A page of logs with entries of any form, so that a malformed entry does not stop the others. */
export const looseLogPageSchema = cursorPageSchema(z.unknown());

/** A type of entity in logs. `value` occurs as `entity_type` of a log. */
export const entityTypeSchema = z.looseObject({ display_name: text, value: text });
export type EntityType = z.infer<typeof entityTypeSchema>;

/** Response of GET /logs/entity-types. */
export const entityTypeListSchema = z.array(otherwise(entityTypeSchema, () => ({})));
