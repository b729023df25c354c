import { parseTime } from '../../output/time.ts';
import type { View } from '../../output/view.ts';

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

/** An event that was sent again, or could not be. */
export interface ReplayRow {
  readonly id: string;
  readonly type: string;
  readonly received_at: string;
  readonly outcome: 'sent' | 'failed' | 'not sent';
  /** HTTP status of the last answer. */
  readonly status: number | undefined;
  readonly attempts: number;
  readonly reason: string | undefined;
}

/** How a replay is shown. */
export const replayView: View<ReplayRow> = {
  name: 'replayed event',
  fields: ['id', 'type', 'received_at', 'outcome', 'status', 'attempts', 'reason'],
  columns: [
    { path: 'id', header: 'event', kind: 'id' },
    { path: 'type', kind: 'text', priority: 3 },
    { path: 'received_at', header: 'received', kind: 'time', priority: 1 },
    { path: 'outcome', kind: 'status', paint: (outcome) => (outcome === 'sent' ? 'good' : 'bad') },
    { path: 'reason', kind: 'text', priority: 2 },
  ],
};

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
