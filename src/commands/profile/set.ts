import { defineCommand } from '../../cli/command.ts';
import { argument, flag, optionalArgument, suggesting } from '../../cli/parameter.ts';
import { updateConfig } from '../../config/store.ts';
import { SvcError } from '../../errors.ts';
import { SETTINGS, settingNamed } from './settings.ts';

/** `svc profile set` */
export const set = defineCommand({
  name: 'set',
  summary: 'change a setting of the profile in use, or of the one named with --profile',
  examples: [
    ['svc profile set output json', 'print JSON unless told otherwise'],
    ['svc profile set time utc --profile prod', 'show times of this profile in UTC'],
    ['svc profile set action.WRN_OPT_OUT exclude', 'what au report and au next do with a result code'],
    [
      "svc profile set management_key_command 'pass show svc'",
      'a key from a secret manager, when it is needed',
    ],
    ['svc profile set output --unset', 'back to the default'],
  ],
  newProfile: true,
  parameters: {
    setting: suggesting(
      () => SETTINGS.map((name) => [name, '']),
      argument('<setting>', `one of ${SETTINGS.join(', ')}`),
    ),
    value: optionalArgument('[value]', 'the new value'),
    unset: flag('--unset', 'remove the setting'),
  },
  async run({ system, settings, notices }, input) {
    const setting = settingNamed(input.setting);
    if (!setting)
      throw new SvcError('usage', `a profile has no such setting`, {
        hint: `Choose one of ${SETTINGS.join(', ')}.`,
      });
    if (settings.sandbox)
      throw new SvcError('usage', 'the profile sandbox is built in and has no settings to change');
    if ((input.value === undefined) !== input.unset) {
      throw new SvcError('usage', 'give either a value or --unset', {
        hint: `For example: svc profile set ${setting.example}`,
      });
    }
    const put = input.value === undefined ? setting.remove : setting.put(input.value);
    const name = settings.profile.value;
    await updateConfig(system, (config) => {
      config.profiles[name] = put({ ...config.profiles[name] });
    });
    notices.note(`${input.unset ? 'removed' : 'set'} ${setting.name} of profile ${name}`);
    if (setting.name === 'base_url')
      notices.note(
        "keys stored for another base URL are not sent to this one; store them again with 'svc login'",
      );
  },
});
