import type { Context } from '../cli/app/command.ts';
import { isDrawn } from '../cli/app/print.ts';
import type { Config, Profile } from '../cli/config/config-format.ts';
import { storedAs } from '../cli/config/keys.ts';
import { tenantOfKeys } from '../cli/config/known-keys.ts';
import { SANDBOX_PROFILE } from '../cli/config/values.ts';
import { tenantTone } from '../cli/app/tenant-mark.ts';
import type { PathsHost } from '../cli/config/paths.ts';
import { fieldPaths, isObject, type View } from '../cli/output/view.ts';

export const profileView: View<ShownRow> = {
  name: 'profile',
  fields: fieldPaths(`
    name current tenant_type tenant_name base_url management_key private_key management_key_from private_key_from output time
    certificates client_cert client_key ledger actions actions.*
  `),
  columns: [
    { path: 'name', kind: 'id' },
    {
      path: 'current',
      kind: 'status',
      header: 'state',
      show: (isCurrent) => (isCurrent === true ? 'in use' : null),
      paint: (isCurrent) => (isCurrent === true ? 'good' : undefined),
    },
    {
      path: 'tenant_type',
      header: 'tenant',
      kind: 'text',
      show: (type) => (typeof type === 'string' ? type.toUpperCase() : null),
      paint: (type) => (typeof type === 'string' ? tenantTone(type) : undefined),
    },
    // An address that is cut cannot be used.
    { path: 'base_url', kind: 'id' },
    { path: 'management_key_from', header: 'management key', kind: 'text', priority: 2 },
    { path: 'private_key_from', header: 'private key', kind: 'text', priority: 2 },
    { path: 'output', kind: 'text', priority: 1 },
    { path: 'time', kind: 'text', priority: 1 },
    {
      path: 'actions',
      kind: 'text',
      priority: 0,
      show: (actions) => (isObject(actions) ? actionsText(actions) : actions),
    },
  ],
};

function actionsText(actions: Readonly<Record<string, unknown>>): string {
  return Object.entries(actions)
    .map(([code, step]) => `${code} ${String(step)}`)
    .join(', ');
}

/** Returns the view without columns that are empty for every profile. */
export function filledColumns(rows: readonly ShownRow[]): View<ShownRow> {
  const columns = profileView.columns.filter(({ path }) => rows.some((row) => !isEmpty(Object(row)[path] as unknown)));
  return { ...profileView, columns };
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === false || (isObject(value) && Object.keys(value).length === 0)
  );
}

/** Returns a row as the command prints it. For people, the origin of a key says whether there is one. */
export function shown(context: Context, row: ProfileRow): ShownRow {
  if (!isDrawn(context)) return row;
  const { management_key: _, private_key: __, ...words } = row;
  return words;
}

type ShownRow = Omit<ProfileRow, 'management_key' | 'private_key'>;

type ProfileRow = ReturnType<typeof profileRow>;

/** Returns all profiles as rows, the sandbox last. A row says whether a key is stored, and never contains the key. */
export function profileRows(system: PathsHost, config: Config, current: string): ProfileRow[] {
  const rows = Object.entries(config.profiles).map(([name, profile]) => profileRow(system, name, profile, current));
  const builtIn = {
    management_key: true,
    private_key: true,
    management_key_from: 'built in',
    private_key_from: 'built in',
  };
  return [...rows, { ...profileRow(system, SANDBOX_PROFILE, {}, current), ...builtIn }];
}

export function profileRow(system: PathsHost, name: string, profile: Profile, current: string) {
  const { base_url: baseUrl, keys } = profile;
  const tenant = baseUrl === undefined ? undefined : tenantOfKeys(system, { profile: name, baseUrl, keys });
  return {
    name,
    current: name === current,
    tenant_type: tenant?.type ?? null,
    tenant_name: tenant?.name ?? null,
    base_url: profile.base_url ?? null,
    management_key: storedAs(profile.keys?.management) !== undefined,
    private_key: storedAs(profile.keys?.private) !== undefined,
    management_key_from: storedAs(profile.keys?.management) ?? null,
    private_key_from: storedAs(profile.keys?.private) ?? null,
    output: profile.output ?? null,
    time: profile.time ?? null,
    certificates: profile.certificates ?? null,
    client_cert: profile.client_cert ?? null,
    client_key: profile.client_key ?? null,
    ledger: profile.ledger ?? null,
    actions: profile.actions ?? {},
  };
}
