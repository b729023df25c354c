import type { View } from '../render/view.ts';

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
