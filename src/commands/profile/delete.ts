import { defineCommand } from '../../cli/command.ts';
import { argument, flag, suggesting } from '../../cli/parameter.ts';
import { SANDBOX_PROFILE } from '../../config/profile-name.ts';
import { readConfig, updateConfig } from '../../config/store.ts';
import { SvcError } from '../../errors.ts';
import { unknownProfile } from '../../config/profile.ts';

/** `svc profile delete` */
export const deleteProfile = defineCommand({
  name: 'delete',
  summary: 'delete a profile with its stored keys',
  examples: [['svc profile delete test --yes', 'without being asked']],
  newProfile: true,
  parameters: {
    name: suggesting('profile', argument('<name>', 'a stored profile')),
    dryRun: flag('--dry-run', 'say what would be deleted, and delete nothing'),
  },
  async run({ system, prompts, notices }, { name, dryRun }) {
    if (name === SANDBOX_PROFILE)
      throw new SvcError('usage', 'the profile sandbox always exists', {
        hint: "'svc sandbox reset' forgets its state.",
      });
    const { config } = readConfig(system);
    if (!Object.hasOwn(config.profiles, name)) throw unknownProfile(name, config);
    if (dryRun) return notices.note(`dry run: would delete profile ${name} and its stored keys`);
    if (!(await prompts.confirm(`Delete profile ${name} and its stored keys?`, 'Pass --yes.'))) {
      return notices.note('nothing was deleted');
    }
    await updateConfig(system, (current) => {
      delete current.profiles[name];
      if (current.current === name) delete current.current;
    });
    notices.note(`deleted profile ${name}`);
  },
});
