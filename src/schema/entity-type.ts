import * as z from 'zod';

/** A kind of entity that a log can be about. `value` is what a log's `entity_type` holds. */
export const entityTypeSchema = z.looseObject({
  display_name: z.string().nullish(),
  value: z.string(),
});

/** A kind of entity that a log can be about. */
export type EntityType = z.infer<typeof entityTypeSchema>;

/** Answer of GET /logs/entity-types. */
export const entityTypeListSchema = z.array(entityTypeSchema);
