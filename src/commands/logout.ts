import { defineCommand } from '../app/command.ts';
import { flag } from '../app/parameter.ts';
import { updateConfig } from '../config/config-file.ts';
import { SvcError } from '../errors.ts';

export const logout = defineCommand({
  description:
    'The profile and its other settings stay. The keys themselves stay valid: revoke them at the service if they leaked.',
  examples: [
    ['svc logout', 'remove the keys of the current profile'],
    ['svc logout --profile test', 'of another one'],
  ],
  parameters: { dryRun: flag('--dry-run', 'show what would be removed, and remove nothing') },
  async run({ settings, system, notices }, { dryRun }) {
    if (settings.sandbox)
      throw new SvcError('usage', 'the sandbox has no stored keys', {
        hint: 'Choose another profile with --profile.',
      });
    const name = settings.profile.value;
    const kinds = Object.keys(settings.stored?.keys ?? {});
    if (kinds.length === 0) return notices.note(`profile ${name} has no stored keys`);
    if (dryRun) return notices.note(`dry run: would remove the ${kinds.join(' and ')} key of profile ${name}`);
    await updateConfig(system, (config) => {
      delete config.profiles[name]?.keys;
    });
    notices.success(`removed the ${kinds.join(' and ')} key of profile ${name}`);
  },
});
