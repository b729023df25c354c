import type { View } from '../render/view.ts';
import type { EntityType } from '../schema/entity-type.ts';
import type { Log } from '../schema/log.ts';

/** How log entries are shown. */
export const logView: View<Log> = {
  name: 'log entry',
  fields: [
    'tenant_id',
    'actor_id',
    'actor_type',
    'entity_type',
    'entity_id',
    'operation',
    'message',
    'created_at',
  ],
  columns: [
    { path: 'created_at', kind: 'time' },
    { path: 'entity_type', kind: 'text', priority: 5 },
    {
      path: 'operation',
      kind: 'text',
      priority: 4,
      paint: (value) => (value === 'delete' ? 'warn' : undefined),
    },
    { path: 'entity_id', kind: 'id', priority: 2 },
    { path: 'actor_type', kind: 'text', priority: 1 },
    { path: 'message', kind: 'text', priority: 3 },
  ],
};

/** How the kinds of entity are shown. */
export const entityTypeView: View<EntityType> = {
  name: 'entity type',
  fields: ['value', 'display_name'],
  columns: [
    { path: 'value', kind: 'id' },
    { path: 'display_name', kind: 'text' },
  ],
};
