import { defineCommand } from '../../cli/command.ts';
import { argument, flag, optionalArgument, suggesting } from '../../cli/parameter.ts';
import { baseUrlText, parseBaseUrl } from '../../config/base-url.ts';
import type { Profile } from '../../config/document.ts';
import { updateConfig } from '../../config/store.ts';
import { SvcError } from '../../errors.ts';
import { OUTPUT_FORMATS, TIME_STYLES } from '../../output-format.ts';

const SETTINGS = ['base_url', 'output', 'time'] as const;

type SettingName = (typeof SETTINGS)[number];

/** `svc profile set` */
export const set = defineCommand({
  name: 'set',
  summary: 'change a setting of the profile in use, or of the one named with --profile',
  examples: [
    ['svc profile set output json', 'print JSON unless told otherwise'],
    ['svc profile set time utc --profile prod', 'show times of this profile in UTC'],
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
    const setting = SETTINGS.find((name) => name === input.setting);
    if (!setting)
      throw new SvcError('usage', `a profile has no such setting`, {
        hint: `Choose one of ${SETTINGS.join(', ')}.`,
      });
    if (settings.sandbox)
      throw new SvcError('usage', 'the profile sandbox is built in and has no settings to change');
    if ((input.value === undefined) !== input.unset) {
      throw new SvcError('usage', 'give either a value or --unset', {
        hint: `For example: svc profile set ${setting} ${EXAMPLES[setting]}`,
      });
    }
    const change =
      input.value === undefined ? { [setting]: undefined } : { [setting]: checked(setting, input.value) };
    const name = settings.profile.value;
    await updateConfig(system, (config) => {
      config.profiles[name] = withoutAbsent({ ...config.profiles[name], ...change });
    });
    notices.note(`${input.unset ? 'removed' : 'set'} ${setting} of profile ${name}`);
    if (setting === 'base_url')
      notices.note(
        "keys stored for another base URL are not sent to this one; store them again with 'svc login'",
      );
  },
});

const EXAMPLES: Record<SettingName, string> = {
  base_url: 'https://api.example.com',
  output: 'json',
  time: 'utc',
};

function checked(setting: SettingName, value: string): string {
  if (setting === 'base_url') return baseUrlText(parseBaseUrl(value, { kind: 'flag', name: '<value>' }));
  const choices: readonly string[] = setting === 'output' ? OUTPUT_FORMATS : TIME_STYLES;
  if (choices.includes(value)) return value;
  throw new SvcError('usage', `${setting} must be one of ${choices.join(', ')}`);
}

function withoutAbsent(profile: Profile): Profile {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}
