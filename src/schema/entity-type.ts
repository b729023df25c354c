import * as z from 'zod';

/** Entity types that the interface names; the service can have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

/** A kind of entity that a log can be about. `value` is what a log's `entity_type` holds. */
export const entityTypeSchema = z.looseObject({
  display_name: z.string().nullish(),
  value: z.string(),
});

/** A kind of entity that a log can be about. */
export type EntityType = z.infer<typeof entityTypeSchema>;

/** Answer of GET /logs/entity-types. */
export const entityTypeListSchema = z.array(entityTypeSchema);
