import { defineCommand } from '../../cli/command.ts';
import { argument, suggesting } from '../../cli/parameter.ts';
import { SANDBOX_PROFILE } from '../../config/profile-name.ts';
import { updateConfig } from '../../config/store.ts';
import { unknownProfile } from '../../config/profile.ts';

/** `svc profile use` */
export const use = defineCommand({
  name: 'use',
  summary: 'choose the profile that is used when none is named',
  examples: [
    ['svc profile use prod', 'from now on'],
    ['svc profile use sandbox', 'work in the sandbox without saying so each time'],
  ],
  newProfile: true,
  parameters: { name: suggesting('profile', argument('<name>', 'a stored profile, or sandbox')) },
  async run({ system, notices }, { name }) {
    await updateConfig(system, (config) => {
      const names = [...Object.keys(config.profiles), SANDBOX_PROFILE];
      if (!names.includes(name)) throw unknownProfile(name, config);
      config.current = name;
    });
    notices.note(`profile ${name} is now in use`);
  },
});
