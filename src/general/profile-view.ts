import type { Context } from '../cli/app/command.ts';
import { isForPeople } from '../cli/app/print.ts';
import type { Config, Profile } from '../cli/config/config-format.ts';
import { storedAs } from '../cli/config/keys.ts';
import { SANDBOX_PROFILE } from '../cli/config/values.ts';
import { fieldPaths, type View } from '../cli/output/view.ts';

export const profileView: View<PeopleRow> = {
  name: 'profile',
  fields: fieldPaths(`
    name current base_url management_key private_key management_key_from private_key_from output time
    certificates ledger actions actions.*
  `),
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'current', kind: 'status', header: 'state', paint: (value) => (value === null ? undefined : 'good') },
    { path: 'base_url', kind: 'text' },
    { path: 'management_key_from', header: 'management key', kind: 'text', priority: 2 },
    { path: 'private_key_from', header: 'private key', kind: 'text', priority: 2 },
    { path: 'output', kind: 'text', priority: 1 },
    { path: 'time', kind: 'text', priority: 1 },
    { path: 'actions', kind: 'text', priority: 0 },
  ],
};

// People see words instead of true and false. The origin of a key shows that the key exists.
export function shown(context: Context, row: ProfileRow): PeopleRow {
  if (!isForPeople(context)) return row;
  const people = { ...row, current: row.current ? 'in use' : null };
  if (context.globals.fields !== undefined) return people;
  const { management_key: _, private_key: __, ...words } = people;
  return words;
}

type PeopleRow = Omit<ProfileRow, 'current' | 'management_key' | 'private_key'>;

type ProfileRow = ReturnType<typeof profileRow>;

/** Returns all profiles as rows, the sandbox last. A row shows whether a key is stored, never the key. */
export function profileRows(config: Config, current: string): ProfileRow[] {
  const rows = Object.entries(config.profiles).map(([name, profile]) => profileRow(name, profile, current));
  const builtIn = {
    management_key: true,
    private_key: true,
    management_key_from: 'built in',
    private_key_from: 'built in',
  };
  return [...rows, { ...profileRow(SANDBOX_PROFILE, {}, current), ...builtIn }];
}

export function profileRow(name: string, profile: Profile, current: string) {
  return {
    name,
    current: name === current,
    base_url: profile.base_url ?? null,
    management_key: storedAs(profile.keys?.management) !== undefined,
    private_key: storedAs(profile.keys?.private) !== undefined,
    management_key_from: storedAs(profile.keys?.management) ?? null,
    private_key_from: storedAs(profile.keys?.private) ?? null,
    output: profile.output ?? null,
    time: profile.time ?? null,
    certificates: profile.certificates ?? null,
    ledger: profile.ledger ?? null,
    actions: profile.actions ?? {},
  };
}
