import type { View } from '../render/view.ts';

/** What entries are counted by; `all` is one row for all of them. */
export type StatsBy = 'all' | 'hour' | 'entity_type' | 'operation' | 'actor_type' | 'actor';

/** One count of `svc logs stats`: every row has the same members, so that it fits any table. */
export interface StatsRow {
  readonly by: StatsBy;
  /**
   * The beginning of an hour, an entity type and so on, or an actor's id. Null where entries do not tell it, and in the
   * row for all. `(others)` stands for all that came after the first thousands of different ones.
   */
  readonly value: string | null;
  /** Beside an actor: which type it is. */
  readonly actor_type: string | null;
  readonly count: number;
  /** Of all entries, from 0 to 1. */
  readonly share: number;
  /** The earliest and the latest entry of the row, RFC 3339. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** What the archive's own past says of it: an actor that is new, an hour that is unusual. Null where nothing. */
  readonly note: string | null;
}

/** How counts of entries are shown. */
export const statsView: View<StatsRow> = {
  name: 'count of log entries',
  fields: ['by', 'value', 'actor_type', 'count', 'share', 'first_at', 'last_at', 'note'],
  columns: [
    { path: 'by', kind: 'text' },
    { path: 'value', kind: 'id' },
    { path: 'count', kind: 'number' },
    { path: 'first_at', kind: 'time', priority: 1 },
    { path: 'last_at', kind: 'time', priority: 2 },
    { path: 'note', kind: 'text', priority: 3 },
  ],
};
