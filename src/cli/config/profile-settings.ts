import { SvcError } from '../../base/errors.ts';
import { didYouMean, typedWord } from '../../base/security/typed-word.ts';
import {
  baseUrlText,
  CERTIFICATES,
  ledgerLocation,
  NO_LEDGER,
  OUTPUT_FORMATS,
  parseBaseUrl,
  pemPath,
  TIME_STYLES,
} from './values.ts';
import type { Origin } from './origin.ts';

/** How to read a setting that a profile stores as text. */
export interface ProfileSetting<T> {
  /** The environment variable that overrides the profile. */
  readonly variable: string;
  /** An example value for help. */
  readonly example: string;
  /** The allowed values, if they are few. */
  readonly choices?: readonly string[];
  /** Parses a text from an origin. @throws SvcError `usage` for an option's text, else `config` */
  readonly read: (text: string, origin: Origin, cwd: string) => T;
}

/** The settings of a profile, by their names in the config file. */
export const PROFILE_SETTINGS = {
  base_url: { variable: 'SVC_BASE_URL', example: 'https://api.example.com', read: parseBaseUrl },
  output: oneOf('SVC_OUTPUT', OUTPUT_FORMATS, 'json'),
  time: oneOf('SVC_TIME', TIME_STYLES, 'utc'),
  certificates: oneOf('SVC_CERTIFICATES', CERTIFICATES, 'system'),
  client_cert: { variable: 'SVC_CLIENT_CERT', example: '/etc/svc/client.pem', read: pemPath },
  client_key: { variable: 'SVC_CLIENT_KEY', example: '/etc/svc/client.key', read: pemPath },
  ledger: { variable: 'SVC_LEDGER', example: 's3://bucket/prefix', read: sharedLedger },
} as const satisfies Readonly<Record<string, ProfileSetting<unknown>>>;

export type SettingName = keyof typeof PROFILE_SETTINGS;

export const SETTING_NAMES = Object.keys(PROFILE_SETTINGS) as SettingName[];

/** Returns the text that a profile stores for a typed value. @throws SvcError `usage` */
export function storedText(name: SettingName, typed: string, origin: Origin, cwd: string): string {
  const value = PROFILE_SETTINGS[name].read(typed, origin, cwd);
  return value instanceof URL ? baseUrlText(value) : (value ?? typed);
}

function oneOf<T extends string>(variable: string, choices: readonly T[], example: T): ProfileSetting<T> {
  return {
    variable,
    example,
    choices,
    read: (text, origin) => {
      const value = choices.find((choice) => choice === text);
      if (value !== undefined) return value;
      const code = origin.kind === 'flag' ? 'usage' : 'config';
      throw noChoice(code, origin.name, choices, text);
    },
  };
}

/** Returns the error for a text that is none of the choices. */
export function noChoice(code: 'usage' | 'config', name: string, choices: readonly string[], text: string): SvcError {
  const message = `${name} must be one of ${choices.join(', ')}, not ${typedWord(text, choices)}`;
  return new SvcError(code, message, { hint: didYouMean(text, choices) });
}

function sharedLedger(text: string, origin: Origin): string | undefined {
  return origin.kind === 'environment' && text.trim() === NO_LEDGER ? undefined : ledgerLocation(text, origin);
}
