import { defineCommand } from '../../cli/command.ts';
import { listPrinter, once } from '../../cli/print.ts';
import type { Config, Profile } from '../../config/document.ts';
import { storedAs } from '../../config/keys.ts';
import { SANDBOX_PROFILE } from '../../config/profile-name.ts';
import { readConfig } from '../../config/store.ts';
import { type ProfileRow, profileView } from '../../views/profile.ts';

/** `svc profile list`, also `svc profile` */
export const list = defineCommand({
  name: 'list',
  summary: 'the stored profiles, and the sandbox that always exists',
  examples: [['svc profile list', 'names, base URLs, and which keys are stored']],
  newProfile: true,
  fields: profileView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, profileView);
    await print(once(profileRows(readConfig(context.system).config, context.settings.profile.value)));
  },
});

/** All profiles as rows, the sandbox last. Whether a key is stored is shown, the key never. */
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

/** One profile as a row. */
export function profileRow(name: string, profile: Profile, current: string): ProfileRow {
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
