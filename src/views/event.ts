import type { View } from '../render/view.ts';
import { parseTime } from '../render/time.ts';

/** An event as it is shown: what came, with what this side knows of its coming. */
export interface EventRow {
  readonly received_at: string;
  /** An event with this id came before. */
  readonly repeated: boolean;
  /** From `delivered_at` to its coming here, by this machine's clock. */
  readonly age_seconds: number | undefined;
  readonly [member: string]: unknown;
}

// What comes later than this after it was sent may be an old delivery that someone sends again.
const OLD_SECONDS = 300;

/** How received events are shown. */
export const eventView: View<EventRow> = {
  name: 'event',
  fields: [
    'received_at',
    'repeated',
    'age_seconds',
    'event.id',
    'event.type',
    'event.timestamp',
    'event.tenant_id',
    'event.trace_id',
    'event.data.job.id',
    'event.data.job.status',
    'event.data.actor',
    'delivered_at',
    'event.*',
  ],
  columns: [
    { path: 'received_at', header: 'received', kind: 'time', priority: 4 },
    { path: 'event.type', header: 'type', kind: 'text' },
    { path: 'event.data.job.id', header: 'job', kind: 'id', priority: 6 },
    { path: 'event.data.job.status', header: 'job status', kind: 'status', priority: 5 },
    { path: 'event.id', header: 'event', kind: 'id', priority: 1 },
    {
      path: 'age_seconds',
      header: 'age s',
      kind: 'number',
      priority: 2,
      paint: (age) => (typeof age === 'number' && Math.abs(age) > OLD_SECONDS ? 'warn' : undefined),
    },
    {
      path: 'repeated',
      kind: 'text',
      priority: 3,
      paint: (repeated) => (repeated === true ? 'warn' : 'quiet'),
    },
  ],
};

/** The row of a delivery. Times in milliseconds since the epoch. */
export function eventRow(
  delivery: Readonly<Record<string, unknown>>,
  receivedAt: number,
  repeated: boolean,
): EventRow {
  const known = {
    received_at: new Date(receivedAt).toISOString(),
    repeated,
    age_seconds: ageOf(delivery['delivered_at'], receivedAt),
  };
  // A member of the same name must not pass for ours; the journal has it as it came.
  return { ...known, ...delivery, ...known };
}

function ageOf(deliveredAt: unknown, receivedAt: number): number | undefined {
  const at = typeof deliveredAt === 'string' ? parseTime(deliveredAt) : undefined;
  return at === undefined ? undefined : Math.round((receivedAt - at) / 100) / 10;
}
