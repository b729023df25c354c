import * as z from 'zod/mini';
import { cursorPageSchema, withFallback, text } from './response.ts';

/** Known operations. A log may have other operations. */
export const LOG_OPERATIONS = ['create', 'update', 'read', 'delete'] as const;

/** An audit record. Records have no id, and two records may be equal in every field. */
export const logSchema = z.looseObject({
  tenant_id: text,
  actor_id: text,
  actor_type: text,
  entity_type: text,
  entity_id: text,
  operation: text,
  message: text,
  /** ISO 8601, with a fraction of up to seven digits. */
  created_at: z.string(),
});
export type Log = z.infer<typeof logSchema>;

/** Response of GET /logs. */
export const logPageSchema = cursorPageSchema(logSchema);
export type LogPage = z.infer<typeof logPageSchema>;

/** A page of logs with entries of any form, so that a malformed entry does not make the others unreadable. */
export const looseLogPageSchema = cursorPageSchema(z.unknown());

/** A type of entity in logs. `value` is the `entity_type` of logs. */
export const entityTypeSchema = z.looseObject({ display_name: text, value: text });
export type EntityType = z.infer<typeof entityTypeSchema>;

/** Response of GET /logs/entity-types. */
export const entityTypeListSchema = z.array(withFallback(entityTypeSchema, () => ({})));
