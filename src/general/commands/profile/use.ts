import { defineCommand } from '../../../cli/app/command.ts';
import { argument, suggesting } from '../../../cli/app/parameter.ts';
import { updateConfig } from '../../../cli/config/config-file.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { SANDBOX_PROFILE } from '../../../cli/config/values.ts';
import { warnOfOtherProfile } from '../../preceding-variable.ts';

export const use = defineCommand({
  examples: [
    ['svc profile use prod', 'from now on'],
    ['svc profile use sandbox', 'use the sandbox by default'],
  ],
  newProfile: true,
  parameters: { name: suggesting('profile', argument('<name>', 'a stored profile, or sandbox')) },
  async run({ system, notices, settings }, { name }) {
    await updateConfig(system, (config) => {
      const names = [...Object.keys(config.profiles), SANDBOX_PROFILE];
      if (!names.includes(name)) throw unknownProfile(name, config);
      config.current = name;
    });
    notices.success(`profile ${name} is now in use`);
    warnOfOtherProfile({ system, notices, settings }, name);
  },
});
