// The rows and views of reviews.

import { countText } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { actorText } from '../actor.ts';
import { signerText } from '../archive/archive-text.ts';
import { type Counts, foundText } from './findings.ts';
import type { Review } from './review-report.ts';

/** What an actor did. All rows have the same members. Times are RFC 3339. */
export interface AccessRow {
  /** The id of the actor; null for entries that name none, `(others)` for all actors after the first ten thousand. */
  readonly actor_id: string | null;
  readonly actor_type: string | null;
  /** The name of an application, if it is known, as every view shows it. */
  readonly name: string | null;
  /** The first and the last entry that the archive has of the actor, up to the last of the days; null if no time is readable, or the days before could not be read. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly entries: number;
  readonly reads: number;
  /** Entries with an operation other than read and delete, such as create and update. */
  readonly changes: number;
  readonly deletes: number;
  readonly entity_types: readonly string[];
  /** Whether the archive has no earlier entry of the actor; null if that is unknown: too little of the time before was read, or none of the actor's times are readable. */
  readonly is_new: boolean | null;
  /** Whether the actor did nothing in the last part of the time. */
  readonly is_dormant: boolean;
}

/** The members of a row, in the order of every table. */
export const ACCESS_FIELDS = [
  'actor_id',
  'actor_type',
  'name',
  'first_at',
  'last_at',
  'entries',
  'reads',
  'changes',
  'deletes',
  'entity_types',
  'is_new',
  'is_dormant',
] as const satisfies readonly (keyof AccessRow)[];

/** Whether a day was reviewed: `uncovered` if the archive has nothing of it, so that nobody can review it. */
export type DayState = 'reviewed' | 'open' | 'uncovered';

/** What is recorded of the review of a day. All rows have the same members, null if they do not apply. */
export interface DayStatus {
  readonly day: string;
  readonly state: DayState;
  readonly entries: number;
  /** The number of entries that were archived after the newest review. With any, the day is open again. */
  readonly late: number;
  /** Why the archive does not cover all of the day: the reasons, each once. */
  readonly missing: readonly string[];
  readonly reviews: number;
  readonly signed_at: string | null;
  readonly by: string | null;
  readonly account: string | null;
  readonly note: string | null;
  /** What the newest review found, as it was recorded: groups and entries. */
  readonly findings: Counts | null;
  readonly findings_entries: Counts | null;
  readonly record: number | null;
}

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
    { path: 'by', kind: 'text', priority: 6, show: (_, row) => signedBy(row) },
    { path: 'note', kind: 'text', priority: 2, show: (_, row) => noteText(row) },
  ],
};

/** Returns what the newest review of a day found. */
function foundOn({ findings, findings_entries }: DayStatus): string | null {
  return findings === null ? null : foundText({ findings, findings_entries });
}

function signedBy({ by, account }: DayStatus): string | null {
  return by === null ? null : signerText({ by, account: account ?? by });
}

function noteText({ note, late, missing }: DayStatus): string | null {
  const words = [
    ...(note === null ? [] : [note]),
    ...(late === 0 ? [] : [`${countText(late, 'entry')} archived after the review`]),
    ...missing,
  ];
  return words.length === 0 ? null : words.join('; ');
}

/** Returns the remark about an actor: new, dormant, both, or empty. */
function remarkOf({ is_new: isNew, is_dormant: isDormant }: AccessRow): string {
  return [isNew === true ? 'new' : '', isDormant ? 'dormant' : ''].filter(Boolean).join(', ');
}

export const accessView: View<AccessRow> = {
  name: 'actor',
  fields: ACCESS_FIELDS,
  columns: [
    { path: 'actor_id', header: 'actor', kind: 'id', show: (_, row) => actorOfRow(row, actorText) },
    { path: 'first_at', header: 'first seen', kind: 'time', priority: 3 },
    { path: 'last_at', header: 'last seen', kind: 'time', priority: 5 },
    { path: 'reads', kind: 'number', priority: 4 },
    { path: 'changes', kind: 'number' },
    { path: 'deletes', kind: 'number' },
    { path: 'entity_types', kind: 'text', priority: 1 },
    { path: 'is_new', header: 'remark', kind: 'text', priority: 6, show: (_, row) => remarkOf(row) },
  ],
};

/** Returns the actor of a row as `textOf` shows it. */
export function actorOfRow(row: AccessRow, textOf: typeof actorText): string {
  const { actor_id: id, name } = row;
  return textOf(row, new Map(id === null || name === null ? [] : [[id, name]])) || '(no actor)';
}

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
