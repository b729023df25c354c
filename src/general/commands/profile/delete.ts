import { SvcError } from '../../../base/errors.ts';
import { defineCommand } from '../../../cli/app/command.ts';
import { argument, flag, suggesting } from '../../../cli/app/parameter.ts';
import { readConfig, updateConfig } from '../../../cli/config/config-file.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { DEFAULT_PROFILE, SANDBOX_PROFILE } from '../../../cli/config/values.ts';

const deleteProfile = defineCommand({
  examples: [['svc profile delete test --yes', 'without a question']],
  newProfile: true,
  parameters: {
    name: suggesting('stored profile', argument('<name>', 'a stored profile')),
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
    const question = `Delete profile ${name} and its stored keys?`;
    await prompts().confirm(question, 'nothing was deleted', ['profile', 'delete', name, '--yes']);
    let wasInUse = false;
    await updateConfig(system, (current) => {
      delete current.profiles[name];
      wasInUse = current.current === name;
      if (wasInUse) delete current.current;
    });
    notices.success(`deleted profile ${name}`);
    // Warns, since the next command may work on another tenant than the operator expects.
    if (wasInUse && name !== DEFAULT_PROFILE)
      notices.note(`it was the profile in use; now profile ${DEFAULT_PROFILE} is`);
  },
});

export { deleteProfile as delete };
