import { defineCommand } from '../../app/command.ts';
import { argument, flag, optionalArgument, suggesting } from '../../app/parameter.ts';
import {
  baseUrlText,
  OUTPUT_FORMATS,
  parseBaseUrl,
  RESULT_STEPS,
  resultCodeProblem,
  TIME_STYLES,
} from '../../config/values.ts';
import { KEY_KINDS, type KeyKind, type Profile, updateConfig } from '../../config/config-file.ts';
import { SvcError } from '../../errors.ts';

/** The settings of a profile as they are typed; keys have their own command. */
const SETTINGS = [
  'base_url',
  'output',
  'time',
  'management_key_command',
  'private_key_command',
  'action.<code>',
] as const;

/** `svc profile set` */
export const set = defineCommand({
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
    notices.success(`${input.unset ? 'removed' : 'set'} ${setting.name} of profile ${name}`);
    if (setting.name === 'base_url')
      notices.note(
        "keys stored for another base URL are not sent to this one; store them again with 'svc login'",
      );
  },
});

/** A setting that was named. */
export interface ProfileSetting {
  readonly name: string;
  /** A setting with a value that works. */
  readonly example: string;
  /** What puts a value into a profile. @throws SvcError `usage` when it is no value for this setting */
  put(value: string): Change;
  readonly remove: Change;
}

type Change = (profile: Profile) => Profile;

const ACTION = 'action.';

/** The setting of this name, if there is one. */
function settingNamed(name: string): ProfileSetting | undefined {
  if (name.startsWith(ACTION)) return actionSetting(name.slice(ACTION.length));
  const kind = KEY_KINDS.find((one) => name === `${one}_key_command`);
  if (kind) return commandSetting(name, kind);
  if (name === 'base_url')
    return {
      name,
      example: 'base_url https://api.example.com',
      put: (value) =>
        putting({ base_url: baseUrlText(parseBaseUrl(value, { kind: 'flag', name: '<value>' })) }),
      remove: without('base_url'),
    };
  if (name === 'output')
    return {
      name,
      example: 'output json',
      put: (value) => putting({ output: oneOf(OUTPUT_FORMATS, name, value) }),
      remove: without('output'),
    };
  if (name !== 'time') return undefined;
  return {
    name,
    example: 'time utc',
    put: (value) => putting({ time: oneOf(TIME_STYLES, name, value) }),
    remove: without('time'),
  };
}

function commandSetting(name: string, kind: KeyKind): ProfileSetting {
  return {
    name,
    example: `${name} 'pass show svc'`,
    put: (command) => (profile) => {
      if (command.trim() === '')
        throw new SvcError('usage', `${name} must not be empty`, { hint: 'Remove it with --unset.' });
      const { base_url, keys } = profile;
      // Like a key, what the command prints goes to one base URL only.
      if (base_url === undefined)
        throw new SvcError('config', 'the profile has no base URL that the key could be for', {
          hint: "Set it first: 'svc profile set base_url https://api.example.com'.",
        });
      return { ...profile, keys: { ...keys, [kind]: { command, base_url } } };
    },
    remove: (profile) => {
      const { [kind]: before, ...others } = profile.keys ?? {};
      return before?.command === undefined ? profile : { ...profile, keys: others };
    },
  };
}

function actionSetting(code: string): ProfileSetting {
  const problem = resultCodeProblem(code);
  if (problem !== undefined) throw new SvcError('usage', `what follows ${ACTION} ${problem}`);
  const name = `${ACTION}${code}`;
  return {
    name,
    example: `${name} exclude`,
    put: (value) => {
      const step = oneOf(RESULT_STEPS, name, value);
      return ({ actions, ...rest }) => ({ ...rest, actions: { ...actions, [code]: step } });
    },
    remove: ({ actions = {}, ...rest }) => {
      const left = Object.entries(actions).filter(([known]) => known !== code);
      return left.length === 0 ? rest : { ...rest, actions: Object.fromEntries(left) };
    },
  };
}

function putting(change: Profile): Change {
  return (profile) => ({ ...profile, ...change });
}

function without(member: keyof Profile): Change {
  return (profile) => Object.fromEntries(Object.entries(profile).filter(([name]) => name !== member));
}

function oneOf<T extends string>(values: readonly T[], name: string, value: string): T {
  const found = values.find((known) => known === value);
  if (found !== undefined) return found;
  throw new SvcError('usage', `${name} must be one of ${values.join(', ')}`);
}
