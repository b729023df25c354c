/** The documented fields of a log entry, all optional strings. In their own file, so that completion loads only this list. */
export const LOG_FIELDS = [
  'tenant_id',
  'actor_id',
  'actor_type',
  'entity_type',
  'entity_id',
  'operation',
  'message',
  'created_at',
] as const;
