import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../../base/errors.ts';
import { didYouMean, isShowable, nearest, sentences, typedWord } from '../../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../../cli/app/command.ts';
import { noteNext } from '../../../cli/app/hint.ts';
import { argument, flag, optionalArgument, suggesting, type Suggestion } from '../../../cli/app/parameter.ts';
import { readConfig, updateConfig } from '../../../cli/config/config-file.ts';
import { type Profile, storedProfile } from '../../../cli/config/config-format.ts';
import {
  PROFILE_SETTINGS,
  type ProfileSetting,
  SETTING_NAMES,
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
    const setting = requireSetting(context, input);
    const isNew = refuseMistypedProfile(context, input);
    if (value !== undefined) await checkValue(context, name, value);
    await change(context, { name, value, setting });
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

/** Returns the typed setting. @throws SvcError `usage` for an unknown one, for the sandbox, and unless a value or --unset was typed */
function requireSetting({ settings, system }: Context, { setting: name, value, unset }: TypedSetting): Change {
  const setting = settingNamed(name, system);
  if (setting === undefined)
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
      next: ['profile', 'set', name, setting.example],
    });
  return setting;
}

/** Checks what a value names on this machine: authorities and certificate files. Warns of an unknown result code. */
async function checkValue({ system, notices }: Context, name: string, value: string): Promise<void> {
  if (name === 'certificates' && value === 'system')
    (await import('../../../client/http/tls-options.ts')).requireSystemStore();
  if (name.startsWith('client_')) {
    const { readCertificate, readCertificateKey } = await import('../../../cli/config/client-certificate.ts');
    const file = { value: PROFILE_SETTINGS.client_cert.read(value, TYPED, system.cwd), origin: TYPED };
    (name === 'client_cert' ? readCertificate : readCertificateKey)(file);
  }
  if (!name.startsWith(ACTION)) return;
  const { wordsOf } = await import('../../every-meaning.ts');
  const known = wordsOf('result code').map(([code]) => code);
  const doubt = doubtfulCode(name.slice(ACTION.length), known);
  if (doubt !== undefined) notices.warn(doubt);
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

/** A typed change of a setting; an undefined value removes it. */
interface TypedChange {
  readonly name: string;
  readonly value: string | undefined;
  readonly setting: Change;
}

async function change({ system, settings, notices }: Context, { name, value, setting }: TypedChange): Promise<void> {
  const profileName = settings.profile.value;
  let isChanged = true;
  await updateConfig(system, (config) => {
    const profile = { ...storedProfile(config, profileName) };
    const changed = value === undefined ? setting.remove(profile) : setting.put(value, profile);
    isChanged = value !== undefined || !isDeepStrictEqual(changed, profile);
    if (isChanged) config.profiles[profileName] = changed;
  });
  if (!isChanged) return notices.note(`nothing to remove: ${name} is not set in profile ${profileName}`);
  notices.success(`${value === undefined ? 'removed' : 'set'} ${name} of profile ${profileName}`);
}

/** The functions that set and remove a setting in a profile. */
interface Change {
  readonly example: string;
  /** @throws SvcError `usage` for an invalid value */
  put(value: string, profile: Profile): Profile;
  remove(profile: Profile): Profile;
}

const ACTION = 'action.';
const TYPED = { kind: 'flag', name: '<value>' } as const;

function settingNamed(typed: string, { cwd }: Pick<Context['system'], 'cwd'>): Change | undefined {
  if (typed.startsWith(ACTION)) return actionSetting(typed.slice(ACTION.length));
  const name = SETTING_NAMES.find((known) => known === typed);
  return (
    name && {
      example: PROFILE_SETTINGS[name].example,
      put: (value, profile) => ({ ...profile, [name]: storedText(name, value, TYPED, cwd) }),
      remove: (profile) => Object.fromEntries(Object.entries(profile).filter(([member]) => member !== name)),
    }
  );
}

function actionSetting(code: string): Change {
  const problem = resultCodeProblem(code);
  if (problem !== undefined) throw new SvcError('usage', `the code after ${ACTION} ${problem}`);
  return {
    example: 'exclude',
    put: (value, { actions, ...others }) => {
      const step = RESULT_STEPS.find((known) => known === value);
      if (step === undefined) throw new SvcError('usage', `${TYPED.name} must be one of ${RESULT_STEPS.join(', ')}`);
      return { ...others, actions: { ...actions, [code]: step } };
    },
    remove: ({ actions = {}, ...others }) => {
      const left = Object.entries(actions).filter(([known]) => known !== code);
      return left.length === 0 ? others : { ...others, actions: Object.fromEntries(left) };
    },
  };
}
