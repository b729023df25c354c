import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { flag } from '../../cli/app/parameter.ts';
import { readConfig, updateConfig } from '../../cli/config/config-file.ts';
import { storedProfile } from '../../cli/config/config-format.ts';
import { KEY_TYPES } from '../../cli/config/keys.ts';
import { warnOfOtherKey } from '../preceding-variable.ts';

export const logout = defineCommand({
  description:
    'The profile and its other settings stay. The keys remain valid: revoke them at the service if they leaked.',
  examples: [
    ['svc logout', 'remove the keys of the current profile'],
    ['svc logout --profile test', 'of another one'],
    ['svc logout --all', 'of every profile, after a question if several have keys'],
  ],
  parameters: {
    all: flag('--all', 'remove the stored keys of every profile'),
    dryRun: flag('--dry-run', 'show what would be removed, and remove nothing'),
  },
  async run({ settings, system, notices, prompts }, { all, dryRun }) {
    if (all && settings.profile.origin.kind === 'flag') throw allOfOneProfile(settings.profile.origin.name);
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
    // Asks first, since the keys may be stored nowhere else.
    if (stored.length > 1)
      await prompts().confirm(`Remove ${stored.join(', ')}?`, 'nothing was removed', ['logout', '--all', '--yes']);
    await updateConfig(system, (config) => {
      for (const name of names) {
        const { keys, ...profile } = storedProfile(config, name) ?? {};
        if (keys) config.profiles[name] = profile;
      }
    });
    notices.success(`removed ${stored.join(', ')}`);
    for (const type of KEY_TYPES) warnOfOtherKey({ system, notices, settings }, type);
  },
});

/** Returns the error for `--all` together with an option that names one profile. */
function allOfOneProfile(option: string): SvcError {
  return new SvcError(
    'usage',
    `--all removes the keys of every profile, and ${option} names one; nothing was removed`,
    { hint: `Leave out --all or ${option}.` },
  );
}
