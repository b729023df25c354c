import { defineCommand } from '../../../cli/app/command.ts';
import { argument, suggesting } from '../../../cli/app/parameter.ts';
import { updateConfig } from '../../../cli/config/config-file.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { DEFAULT_PROFILE, SANDBOX_PROFILE } from '../../../cli/config/values.ts';
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
      const isStored = Object.hasOwn(config.profiles, name);
      if (!isStored && name !== SANDBOX_PROFILE && name !== DEFAULT_PROFILE) throw unknownProfile(name, config);
      // The default profile may be chosen before it is stored: without a current profile, svc uses it.
      if (isStored || name === SANDBOX_PROFILE) config.current = name;
      else delete config.current;
    });
    notices.success(`profile ${name} is now in use`);
    warnOfOtherProfile({ system, notices, settings }, name);
  },
});
