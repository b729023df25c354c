import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../../base/errors.ts';
import { didYouMean, isShowable, nearest, sentences, typedWord } from '../../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../../cli/app/command.ts';
import { noteNext } from '../../../cli/app/hint.ts';
import { argument, flag, optionalArgument, suggesting, type Suggestion } from '../../../cli/app/parameter.ts';
import { readConfig, updateConfig } from '../../../cli/config/config-file.ts';
import { type Profile, storedProfile } from '../../../cli/config/config-format.ts';
import {
  noChoice,
  PROFILE_SETTINGS,
  type ProfileSetting,
  SETTING_NAMES,
  type SettingName,
  storedText,
} from '../../../cli/config/profile-settings.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { DEFAULT_PROFILE } from '../../../cli/config/values.ts';
import { doubtfulCode, RESULT_STEPS, resultCodeProblem } from '../../../cli/config/result-steps.ts';
import { ownMember } from '../../../schema/own-member.ts';
import { warnOfOtherValue } from '../../preceding-variable.ts';

/** The profile settings that this command can change. `svc login` stores keys and key commands. */
const SETTINGS = [...SETTING_NAMES, 'action.<code>'];

/** Returns all settings for completion, including an action for each result code. */
async function settingNames(): Promise<Suggestion[]> {
  const { wordsOf } = await import('../../every-meaning.ts');
  const actions = wordsOf('result code').map(([code, meaning]): Suggestion => [ACTION + code, meaning]);
  return [...SETTING_NAMES.map((name): Suggestion => [name, '']), ...actions];
}

/** Returns the values of a typed setting for completion. */
async function settingValues([setting = '']: readonly string[]): Promise<readonly Suggestion[]> {
  if (setting.startsWith(ACTION)) return (await import('../../every-meaning.ts')).wordsOf('action');
  const found = ownMember<ProfileSetting<unknown>>(PROFILE_SETTINGS, setting);
  return (found?.choices ?? []).map((value) => [value, '']);
}

export const set = defineCommand({
  examples: [
    ['svc profile set output json', 'print JSON by default'],
    ['svc profile set time utc --profile prod', 'show times of this profile in UTC'],
    [
      'svc profile set certificates system',
      'behind a proxy that inspects TLS: also trust the authorities of this system',
    ],
    [
      'svc profile set client_cert svc.pem',
      'where the service asks for a client certificate, with client_key for its key',
    ],
    ['svc profile set ledger s3://vault-ops/svc', 'share with other machines what was paid for'],
    ['svc profile set action.WRN_OPT_OUT exclude', 'what au report and au next do with a result code'],
    ['svc profile set output --unset', 'back to the default'],
  ],
  newProfile: true,
  parameters: {
    setting: suggesting(settingNames, argument('<setting>', `one of ${SETTINGS.join(', ')}`)),
    value: suggesting(settingValues, optionalArgument('[value]', 'the new value')),
    unset: flag('--unset', 'remove the setting'),
    create: flag('--create', 'create the profile although its name is like that of another one'),
  },
  async run(context, input) {
    const { setting: name, value } = input;
    requireSetting(context, input);
    const isNew = refuseMistypedProfile(context, input);
    await store(context, name, value === undefined ? undefined : await textToStore(context, name, value));
    if (value !== undefined) warnOfOtherValue(context, name, value);
    if (isNew) context.notices.note(`the profile ${context.settings.profile.value} is new`);
    if (name !== 'base_url' || !hasKeyOfAnother(context)) return;
    noteNext(context, 'keys stored for another base URL are not sent to this one; to store them again', ['login']);
  },
});

interface TypedSetting {
  readonly setting: string;
  readonly value?: string | undefined;
  readonly unset: boolean;
}

/** Checks the typed setting. @throws SvcError `usage` for an unknown one, for the sandbox, and unless a value or --unset was typed */
function requireSetting({ settings }: Context, { setting: name, value, unset }: TypedSetting): void {
  const code = codeOf(name);
  const problem = code === undefined ? undefined : resultCodeProblem(code);
  if (problem !== undefined) throw new SvcError('usage', `the code after ${ACTION} ${problem}`);
  const example = code === undefined ? ownMember(PROFILE_SETTINGS, name)?.example : 'exclude';
  if (example === undefined)
    throw new SvcError('usage', `unknown setting ${typedWord(name, SETTINGS)}`, {
      hint: sentences(didYouMean(name, SETTINGS), `Choose one of ${SETTINGS.join(', ')}.`),
    });
  if (settings.sandbox)
    throw new SvcError('usage', 'the profile sandbox is built in and has no settings to change', {
      hint: 'Name a stored profile with --profile.',
      next: ['profile', 'list'],
    });
  if ((value === undefined) !== unset)
    throw new SvcError('usage', 'give either a value or --unset', {
      hint: 'For example:',
      next: ['profile', 'set', name, example],
    });
}

const ACTION = 'action.';

/** Returns the result code of `action.<code>`; undefined for another setting. */
function codeOf(setting: string): string | undefined {
  return setting.startsWith(ACTION) ? setting.slice(ACTION.length) : undefined;
}

const TYPED = { kind: 'flag', name: '<value>' } as const;

/**
 * Returns the text to store for a typed value, and checks what it names on this machine: authorities and certificate files. Warns
 * of an unknown result code.
 * @throws SvcError `usage` for an invalid value
 */
async function textToStore({ system, notices }: Context, name: string, value: string): Promise<string> {
  const code = codeOf(name);
  if (code !== undefined) {
    const { wordsOf } = await import('../../every-meaning.ts');
    const doubt = doubtfulCode(
      code,
      wordsOf('result code').map(([known]) => known),
    );
    if (doubt !== undefined) notices.warn(doubt);
    if (RESULT_STEPS.some((known) => known === value)) return value;
    throw noChoice('usage', name, RESULT_STEPS, value);
  }
  if (name === 'certificates' && value === 'system')
    (await import('../../../client/http/tls-options.ts')).requireSystemStore();
  const setting = name as SettingName;
  // The other messages name what the value is for.
  const origin = 'choices' in PROFILE_SETTINGS[setting] ? { ...TYPED, name } : TYPED;
  const text = storedText(setting, value, origin, system.cwd);
  if (name.startsWith('client_')) {
    const { readCertificate, readCertificateKey } = await import('../../../cli/config/client-certificate.ts');
    (name === 'client_cert' ? readCertificate : readCertificateKey)({ value: text, origin: TYPED });
  }
  return text;
}

/**
 * Refuses a new profile whose name resembles a stored one: the setting, such as the ledger, would apply to the wrong profile.
 * @returns whether the command creates the profile
 */
function refuseMistypedProfile(
  { system, settings }: Context,
  { setting, value, create }: { setting: string; value?: string | undefined; create: boolean },
): boolean {
  const { value: name, origin } = settings.profile;
  if (settings.stored !== undefined || name === DEFAULT_PROFILE) return false;
  const { config } = readConfig(system);
  if (value === undefined) throw unknownProfile(name, config, origin.name);
  const meant = create ? undefined : nearest(name, [...Object.keys(config.profiles), DEFAULT_PROFILE], 2);
  if (meant === undefined) return true;
  throw new SvcError('usage', `there is no profile ${typedWord(name, [meant])}. Did you mean '${meant}'?`, {
    hint: 'To create a profile of that name, add --create. To set it in the other one:',
    next: ['profile', 'set', setting, isShowable(value) ? value : '<value>', '--profile', meant],
  });
}

/** Tells whether the profile has a key for another base URL than its current one. */
function hasKeyOfAnother({ system, settings }: Context): boolean {
  const { base_url: baseUrl, keys = {} } = storedProfile(readConfig(system).config, settings.profile.value) ?? {};
  return Object.values(keys).some((key) => key.base_url !== baseUrl);
}

/** Stores the text of a setting, or removes the setting. */
async function store({ system, settings, notices }: Context, name: string, text: string | undefined): Promise<void> {
  const profileName = settings.profile.value;
  let isChanged = true;
  await updateConfig(system, (config) => {
    const profile = { ...storedProfile(config, profileName) };
    const changed = changedProfile(profile, name, text);
    isChanged = text !== undefined || !isDeepStrictEqual(changed, profile);
    if (isChanged) config.profiles[profileName] = changed;
  });
  if (!isChanged) return notices.note(`nothing to remove: ${name} is not set in profile ${profileName}`);
  notices.success(`${text === undefined ? 'removed' : 'set'} ${name} of profile ${profileName}`);
}

function changedProfile(profile: Profile, name: string, text: string | undefined): Profile {
  const code = codeOf(name);
  if (code === undefined) return withMember(profile, name, text);
  const { actions = {}, ...others } = profile;
  const left = withMember(actions, code, text);
  return Object.keys(left).length === 0 ? others : { ...others, actions: left };
}

/** Returns a copy of an object with this text as a member, or without the member. */
function withMember<T extends object>(holder: T, name: string, text: string | undefined): T {
  const others = Object.entries(holder).filter(([member]) => text !== undefined || member !== name);
  return { ...Object.fromEntries(others), ...(text !== undefined && { [name]: text }) } as T;
}
