import { SvcError } from '../../../base/errors.ts';
import { type Context, defineCommand } from '../../../cli/app/command.ts';
import { argument, flag, optionalArgument, suggesting } from '../../../cli/app/parameter.ts';
import { isForPeople, listPrinter, once, recordPrinter } from '../../../cli/app/print.ts';
import { type Config, type Profile, readConfig, updateConfig } from '../../../cli/config/config-file.ts';
import { storedAs } from '../../../cli/config/keys.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { SANDBOX_PROFILE } from '../../../cli/config/values.ts';
import { fieldPaths, type View } from '../../../cli/output/view.ts';

const profileView: View<PeopleRow> = {
  name: 'profile',
  fields: fieldPaths(`
    name current base_url management_key private_key management_key_from private_key_from output time
    actions actions.*
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

export const list = defineCommand({
  examples: [['svc profile list', 'names, base URLs, and which keys are stored']],
  newProfile: true,
  fields: profileView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, profileView);
    const rows = profileRows(readConfig(context.system).config, context.settings.profile.value);
    await print(once(rows.map((row) => shown(context, row))));
  },
});

export const show = defineCommand({
  examples: [['svc profile show', 'the current one']],
  fields: profileView.fields,
  parameters: { name: suggesting('profile', optionalArgument('[name]', 'a profile; by default the current one')) },
  async run(context, input) {
    const print = await recordPrinter(context, profileView);
    const current = context.settings.profile.value;
    const { config } = readConfig(context.system);
    const rows = profileRows(config, current);
    const found = rows.find(({ name }) => name === (input.name ?? current));
    // The default profile is in use even before anything is stored in it.
    const row = found ?? (input.name === undefined ? profileRow(current, {}, current) : undefined);
    if (!row) throw unknownProfile(input.name ?? current, config);
    await print(shown(context, row));
  },
});

export const use = defineCommand({
  examples: [
    ['svc profile use prod', 'from now on'],
    ['svc profile use sandbox', 'use the sandbox by default'],
  ],
  newProfile: true,
  parameters: { name: suggesting('profile', argument('<name>', 'a stored profile, or sandbox')) },
  async run({ system, notices }, { name }) {
    await updateConfig(system, (config) => {
      const names = [...Object.keys(config.profiles), SANDBOX_PROFILE];
      if (!names.includes(name)) throw unknownProfile(name, config);
      config.current = name;
    });
    notices.success(`profile ${name} is now in use`);
  },
});

const deleteProfile = defineCommand({
  examples: [['svc profile delete test --yes', 'without being asked']],
  newProfile: true,
  parameters: {
    name: suggesting('profile', argument('<name>', 'a stored profile')),
    dryRun: flag('--dry-run', 'show what would be deleted, and delete nothing'),
  },
  async run({ system, prompts, notices }, { name, dryRun }) {
    if (name === SANDBOX_PROFILE)
      throw new SvcError('usage', 'the profile sandbox always exists', {
        hint: 'To delete its state:',
        next: ['sandbox', 'reset'],
      });
    const { config } = readConfig(system);
    if (!Object.hasOwn(config.profiles, name)) throw unknownProfile(name, config);
    if (dryRun) return notices.note(`dry run: would delete profile ${name} and its stored keys`);
    if (!(await prompts().confirm(`Delete profile ${name} and its stored keys?`, 'Pass --yes.'))) {
      return notices.note('nothing was deleted');
    }
    await updateConfig(system, (current) => {
      delete current.profiles[name];
      if (current.current === name) delete current.current;
    });
    notices.success(`deleted profile ${name}`);
  },
});

export { deleteProfile as delete };

// People read words in place of true and false, and where a key is from says whether there is one.
function shown(context: Context, row: ProfileRow): PeopleRow {
  if (!isForPeople(context)) return row;
  const people = { ...row, current: row.current ? 'in use' : null };
  if (context.globals.fields !== undefined) return people;
  const { management_key: _, private_key: __, ...words } = people;
  return words;
}

type PeopleRow = Omit<ProfileRow, 'current' | 'management_key' | 'private_key'>;

type ProfileRow = ReturnType<typeof profileRow>;

/** All profiles as rows, the sandbox last. Whether a key is stored is shown, the key never. */
function profileRows(config: Config, current: string): ProfileRow[] {
  const rows = Object.entries(config.profiles).map(([name, profile]) => profileRow(name, profile, current));
  const builtIn = {
    management_key: true,
    private_key: true,
    management_key_from: 'built in',
    private_key_from: 'built in',
  };
  return [...rows, { ...profileRow(SANDBOX_PROFILE, {}, current), ...builtIn }];
}

function profileRow(name: string, profile: Profile, current: string) {
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
    actions: profile.actions ?? {},
  };
}

export const logout = defineCommand({
  description:
    'The profile and its other settings stay. The keys themselves stay valid: revoke them at the service if they leaked.',
  examples: [
    ['svc logout', 'remove the keys of the current profile'],
    ['svc logout --profile test', 'of another one'],
    ['svc logout --all', 'of every profile'],
  ],
  parameters: {
    all: flag('--all', 'remove the stored keys of every profile'),
    dryRun: flag('--dry-run', 'show what would be removed, and remove nothing'),
  },
  async run({ settings, system, notices }, { all, dryRun }) {
    if (settings.sandbox && !all)
      throw new SvcError('usage', 'the sandbox has no stored keys', { hint: 'Choose another profile with --profile.' });
    const { profiles } = readConfig(system).config;
    const names = all ? Object.keys(profiles) : [settings.profile.value];
    const stored = names.flatMap((name) => {
      const kinds = Object.keys((Object.hasOwn(profiles, name) && profiles[name]?.keys) || {});
      return kinds.length === 0 ? [] : [`the ${kinds.join(' and ')} key of profile ${name}`];
    });
    if (stored.length === 0)
      return notices.note(all ? 'no profile has stored keys' : `profile ${names[0]} has no stored keys`);
    if (dryRun) return notices.note(`dry run: would remove ${stored.join(', ')}`);
    await updateConfig(system, (config) => {
      for (const [name, profile] of Object.entries(config.profiles)) if (names.includes(name)) delete profile.keys;
    });
    notices.success(`removed ${stored.join(', ')}`);
  },
});
