import type { View } from '../render/view.ts';

/** A sample that was sent, and to where. */
export interface TriggeredEvent {
  readonly target: string;
  readonly status: number | undefined;
  readonly [member: string]: unknown;
}

/** How a sample that was sent is shown. */
export const triggeredView: View<TriggeredEvent> = {
  name: 'sample event',
  fields: [
    'target',
    'status',
    'event.id',
    'event.type',
    'event.timestamp',
    'event.tenant_id',
    'event.trace_id',
    'event.data.*',
    'delivered_at',
  ],
  columns: [
    { path: 'target', kind: 'text' },
    { path: 'status', kind: 'number' },
    { path: 'event.id', header: 'event', kind: 'id' },
    { path: 'event.type', header: 'type', kind: 'text' },
    { path: 'event.data', header: 'data', kind: 'text' },
  ],
};
