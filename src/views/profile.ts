import type { View } from '../render/view.ts';

/** A profile as it is shown: never the keys themselves. */
export interface ProfileRow {
  readonly name: string;
  readonly current: boolean;
  readonly base_url: string | null;
  readonly management_key: boolean;
  readonly private_key: boolean;
  /** `stored`, or the first word of the command that prints it. */
  readonly management_key_from: string | null;
  readonly private_key_from: string | null;
  readonly output: string | null;
  readonly time: string | null;
  /** Steps by result code. */
  readonly actions: Readonly<Record<string, string>>;
}

/** How profiles are shown. */
export const profileView: View<ProfileRow> = {
  name: 'profile',
  fields: [
    'name',
    'current',
    'base_url',
    'management_key',
    'private_key',
    'management_key_from',
    'private_key_from',
    'output',
    'time',
    'actions',
    'actions.*',
  ],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'current', kind: 'status', paint: (value) => (value === true ? 'good' : undefined) },
    { path: 'base_url', kind: 'text' },
    { path: 'management_key_from', header: 'management key', kind: 'text', priority: 2 },
    { path: 'private_key_from', header: 'private key', kind: 'text', priority: 2 },
    { path: 'output', kind: 'text', priority: 1 },
    { path: 'time', kind: 'text', priority: 1 },
    { path: 'actions', kind: 'text', priority: 0 },
  ],
};
