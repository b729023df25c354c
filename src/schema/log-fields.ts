/** The documented fields of a log entry: strings wherever they are present. Completion loads them, and no more of logs. */
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
