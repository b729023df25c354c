import type { View } from '../render/view.ts';

/** How one key stands. */
export interface KeyRow {
  /** `accepted`, `powerless`, `other kind`, `refused`, `unclear`, `unusable` or `missing`. */
  readonly state: string;
  /** Where it comes from. */
  readonly from: string | null;
  /** What is wrong with it. */
  readonly problem: string | null;
}

/** Who the tool is for the service, and where that was set. */
export interface WhoamiRow {
  readonly profile: string;
  readonly base_url: string | null;
  readonly tenant: { readonly id: string; readonly name: string; readonly type: string } | null;
  readonly management_key: KeyRow;
  readonly private_key: KeyRow;
  /** By permission: `allowed`, `forbidden`, `refused` or `unclear`; null where it was not tried. */
  readonly permissions: Readonly<Record<string, string | null>>;
  /** Where each setting came from. */
  readonly origins: Readonly<Record<string, string>>;
}

/** How `svc whoami` is shown. */
export const whoamiView: View = {
  name: 'identity',
  fields: [
    'profile',
    'base_url',
    'tenant.name',
    'tenant.type',
    'tenant.id',
    'management_key.state',
    'management_key.from',
    'management_key.problem',
    'private_key.state',
    'private_key.from',
    'private_key.problem',
    'permissions.log:read',
    'permissions.tenant:read',
    'permissions.report:read',
    'permissions.3ds:session:read',
    'permissions.account-updater:job:read',
    'origins.profile',
    'origins.base_url',
    'origins.output',
    'origins.time',
    'origins.timeout',
    'origins.max_wait',
  ],
  columns: [
    { path: 'profile', kind: 'text' },
    { path: 'base_url', kind: 'text' },
    { path: 'tenant.id', kind: 'id' },
    { path: 'management_key.state', kind: 'status', paint: stateTone },
    { path: 'private_key.state', kind: 'status', paint: stateTone },
  ],
};

function stateTone(value: unknown): 'good' | 'warn' | 'bad' {
  if (value === 'accepted') return 'good';
  return value === 'missing' || value === 'powerless' || value === 'unclear' ? 'warn' : 'bad';
}
