import { countText } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { actorText } from '../actor.ts';
import { ACCESS_FIELDS, type AccessRow, remarkOf } from './access.ts';
import { foundText } from './findings.ts';
import type { Review } from './review-page.ts';
import type { DayState, DayStatus } from './status.ts';

export const reviewView: View<Review> = {
  name: 'review',
  fields: [
    'archive',
    'service',
    'tenant_id',
    'day',
    'entries',
    'timeless',
    'missing',
    'past_days',
    'deletions',
    'deleted',
    'changes',
    'new_actors',
    'new_operations',
    'findings',
    'findings_entries',
    'hours',
    'median',
    'busy_hours',
    'sha256',
    'signed',
    'record',
    'record_sha256',
  ],
  columns: simpleColumns({ day: 'id', entries: 'number' }),
};

const STATE_TONES = { reviewed: 'good', open: 'warn', uncovered: 'bad' } as const satisfies Record<DayState, string>;

export const statusView: View<DayStatus> = {
  name: 'day of an archive',
  fields: [
    'day',
    'state',
    'entries',
    'late',
    'missing',
    'reviews',
    'signed_at',
    'by',
    'account',
    'note',
    'findings',
    'findings_entries',
    'record',
  ],
  columns: [
    { path: 'day', kind: 'id' },
    { path: 'state', kind: 'status', paint: (_, { state }) => STATE_TONES[state] },
    { path: 'entries', kind: 'number', priority: 4 },
    { path: 'findings', kind: 'text', priority: 3, show: (_, row) => foundOn(row) },
    { path: 'signed_at', header: 'signed', kind: 'time', priority: 5 },
    { path: 'by', kind: 'text', priority: 6 },
    { path: 'note', kind: 'text', priority: 2, show: (_, row) => noteText(row) },
  ],
};

/** Returns what the newest review of a day found. */
function foundOn({ findings, findings_entries }: DayStatus): string | null {
  return findings === null ? null : foundText({ findings, findings_entries });
}

function noteText({ note, late, missing }: DayStatus): string | null {
  const words = [
    ...(note === null ? [] : [note]),
    ...(late === 0 ? [] : [`${countText(late, 'entry')} archived after the review`]),
    ...missing,
  ];
  return words.length === 0 ? null : words.join('; ');
}

export const accessView: View<AccessRow> = {
  name: 'actor',
  fields: ACCESS_FIELDS,
  columns: [
    { path: 'actor_id', header: 'actor', kind: 'id', show: (_, row) => shownActor(row) },
    { path: 'first_at', header: 'first seen', kind: 'time', priority: 3 },
    { path: 'last_at', header: 'last seen', kind: 'time', priority: 5 },
    { path: 'reads', kind: 'number', priority: 4 },
    { path: 'changes', kind: 'number' },
    { path: 'deletes', kind: 'number' },
    { path: 'entity_types', kind: 'text', priority: 1 },
    { path: 'is_new', header: 'remark', kind: 'text', priority: 6, show: (_, row) => remarkOf(row) },
  ],
};

function shownActor(row: AccessRow): string {
  const { actor_id: id, name } = row;
  return actorText(row, new Map(id === null || name === null ? [] : [[id, name]])) || '(no actor)';
}
